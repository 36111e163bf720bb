"""Seals of data files: each file holds the name that it was written under, and a checksum.

A file ends with two lines that readers of netCDF ignore: the name under which it was written, such
as `theory/KEY`, and the hash of all bytes before the second line. So a file that was renamed, or
copied over another one, is recognised just like a damaged one. By hand:

    tail -n 2 results/theory/KEY.nc; head -c -72 results/theory/KEY.nc | sha256sum
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_NAME = b"\nname:"
_SHA = b"sha256:"
_LENGTH = len(_SHA) + 64 + 1
# No name is longer.
_LONGEST = 1000
_BLOCK = 2**20


class DamagedFileError(RuntimeError):
    """A result file that is not what was written, or not under this name."""


def seal(path: Path, name: str) -> None:
    """Append a name and the hash of everything to a file, and sync it to the disk."""
    with path.open("ab") as file:
        file.write(_NAME + name.encode() + b"\n")
    hashed = _hash(path, path.stat().st_size)
    with path.open("ab") as file:
        file.write(_SHA + hashed.encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def check_seal(path: Path, name: str | None) -> None:
    """Check that a file is the one that was sealed under a name.

    Parameters
    ----------
    path : Path
    name : str, optional
        None to accept any name.

    Raises
    ------
    DamagedFileError
        If any byte of it has changed, or if it is another file.
    OSError
        If it is missing, or cannot be read.
    """
    found = sealed_name(path)
    if name is not None and found != name:
        raise DamagedFileError(f"{path} is another file, {found or 'of no name'}")


def sealed_name(path: Path) -> str:
    """Read the name under which a file was sealed, after a check of all its bytes.

    Raises
    ------
    DamagedFileError
        If any byte of it has changed.
    OSError
        If it is missing, or cannot be read.
    """
    try:
        found_there = path.stat()
    except OSError as error:
        if path.is_symlink():
            text = f"{path} is a link to nothing ({error.strerror})"
            raise DamagedFileError(text) from None
        raise
    if not stat.S_ISREG(found_there.st_mode):
        raise DamagedFileError(f"{path} is no regular file")
    length = found_there.st_size - _LENGTH
    if length >= 0:
        with path.open("rb") as file:
            file.seek(max(length - _LONGEST, 0))
            end = file.read()
        before, given = end[:-_LENGTH], end[-_LENGTH:]
        if given == _SHA + _hash(path, length).encode() + b"\n":
            _, found, name = before.rpartition(_NAME)
            return name.decode(errors="replace").strip() if found else ""
    raise DamagedFileError(f"{path} is damaged")


def checksum_line(path: Path, name: str) -> str:
    """Return the checksum of a file and its name, in a line that `sha256sum --check` reads."""
    return f"{_hash(path, path.stat().st_size)}  {name}\n"


def _hash(path: Path, length: int) -> str:
    """Hash the first bytes of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while length > 0 and (block := file.read(min(length, _BLOCK))):
            digest.update(block)
            length -= len(block)
    return digest.hexdigest()


@contextmanager
def remedied() -> Iterator[None]:
    """Add to an error of the system what to do about the file or folder that it names."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        if not error.filename or error.strerror != os.strerror(error.errno or 0):
            raise  # it says what to do, or is of no file
        text = f"cannot be used ({error.strerror}): make it readable and writable, or remove it"
        raise OSError(error.errno, text, error.filename) from error


def aside(path: Path) -> Path:
    """Return the path to which a damaged file is moved."""
    return path.with_name(path.name + ".damaged")


def set_aside(path: Path) -> Path:
    """Rename a damaged file, so that it counts as missing, and return its new path.

    Raises
    ------
    OSError
        If it cannot be renamed.
    """
    try:
        return path.replace(aside(path))
    except OSError as error:
        text = (
            f"is damaged, and cannot be set aside as {aside(path)} ({error.strerror}): remove both,"
            " then run the same command again to make a new one"
        )
        raise OSError(error.errno, text, str(path)) from error
