"""Seals: hashes by which a file shows that it is as it was written.

A file of data ends with the hash of all bytes before, where readers of netCDF do not look; what a
figure is drawn into, and its table, have theirs in a list beside. Both can be checked by hand:

    head -c -72 results/theory/KEY.nc | sha256sum; tail -c 72 results/theory/KEY.nc
    sha256sum -c results/checksums/figures/fig2.sha256
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

_NAME = b"sha256:"
_LENGTH = len(_NAME) + 64 + 1
_BLOCK = 2**20


class DamagedFileError(RuntimeError):
    """A result file that is not what was written."""


def seal(path: Path) -> None:
    """Append the hash of a file to it, and bring it to the disk."""
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
        If it is not there, or may not be read.
    """
    length = path.stat().st_size - _LENGTH
    if length >= 0:
        with path.open("rb") as file:
            file.seek(length)
            given = file.read()
        if given == _NAME + _hash(path, length).encode() + b"\n":
            return
    raise DamagedFileError(f"{path} is not as it was written (its content hash differs)")


def _hash(path: Path, length: int) -> str:
    """Hash the first bytes of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while length > 0 and (block := file.read(min(length, _BLOCK))):
            digest.update(block)
            length -= len(block)
    return digest.hexdigest()


def _lines(files: Iterable[str | Path], root: Path = Path()) -> list[str]:
    """Write what `sha256sum` does of files; of those that are not there, nothing."""
    paths = [(root / file, Path(file).as_posix()) for file in files]
    return [
        f"{_hash(path, path.stat().st_size)}  {name}\n" for path, name in paths if path.is_file()
    ]


def write_list(files: Iterable[str | Path], path: str | Path) -> None:
    """List files with their hashes, as `sha256sum` does; paths from the present folder."""
    Path(path).write_text("".join(_lines(files)), encoding="utf-8")


def differing(files: Sequence[Path], path: Path, root: Path) -> list[Path]:
    """Give the files that are there and not as a list says; or the list, where it says more.

    Parameters
    ----------
    files : sequence of Path
        What the list is of, from `root`.
    path : Path
        The list.
    root : Path
    """
    listed = path.read_bytes().decode("utf-8", "replace").splitlines(keepends=True)
    found = {root / file: _lines([file], root) for file in files}
    changed = [file for file, lines in found.items() if not set(lines) <= set(listed)]
    return changed if changed or len(listed) == len(files) else [path]


def aside(path: Path) -> Path:
    """Name what a damaged file becomes."""
    return path.with_name(path.name + ".damaged")


def set_aside(path: Path) -> Path:
    """Give a damaged file another name, so that it counts as missing."""
    return path.replace(aside(path))
