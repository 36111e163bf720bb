"""Seals: hashes by which a file of data shows that it is as it was written.

A file ends with the hash of all bytes before, which readers of netCDF ignore. By hand:

    head -c -72 results/theory/KEY.nc | sha256sum; tail -c 72 results/theory/KEY.nc
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

_NAME = b"sha256:"
_LENGTH = len(_NAME) + 64 + 1
_BLOCK = 2**20


class DamagedFileError(RuntimeError):
    """A result file that is not what was written."""


def seal(path: Path) -> None:
    """Append the hash of a file to it, and sync it to the disk."""
    hashed = _hash(path, path.stat().st_size)
    with path.open("ab") as file:
        file.write(_NAME + hashed.encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def check_seal(path: Path) -> None:
    """Check a sealed file.

    Raises
    ------
    DamagedFileError
        If any byte of it has changed.
    OSError
        If it is missing, or cannot be read.
    """
    length = path.stat().st_size - _LENGTH
    if length >= 0:
        with path.open("rb") as file:
            file.seek(length)
            given = file.read()
        if given == _NAME + _hash(path, length).encode() + b"\n":
            return
    raise DamagedFileError(f"{path} is not as it was written (its checksum differs)")


def _hash(path: Path, length: int) -> str:
    """Hash the first bytes of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while length > 0 and (block := file.read(min(length, _BLOCK))):
            digest.update(block)
            length -= len(block)
    return digest.hexdigest()


def aside(path: Path) -> Path:
    """Give the path to which a damaged file is moved."""
    return path.with_name(path.name + ".damaged")


def set_aside(path: Path) -> Path:
    """Rename a damaged file, so that it counts as missing, and give its new path."""
    return path.replace(aside(path))
