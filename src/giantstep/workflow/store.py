"""Result files in netCDF: written whole or not at all, and checked when read.

After the bytes of netCDF, a file holds two lines, which other readers ignore: the name under which
it was written, such as `theory/fig2-KEY.nc`, and the hash of all bytes before. So a damaged file is
recognised, and one that was renamed or copied over another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

import netCDF4
import xarray as xr
from xarray.backends import NetCDF4DataStore

from giantstep.files import UNFINISHED, beside
from giantstep.validation import RefusalError

_NAME = b"\nname:"
_HASH = b"\nsha256:"


class DamagedFileError(RefusalError):
    """A result file, `path`, that is not what was written under its name."""

    def __init__(self, path: Path, what: str) -> None:
        self.path = path
        super().__init__(f"{path} {what}")


def write(data: xr.Dataset | Mapping[str, xr.Dataset], path: str | Path) -> None:
    """Write a dataset, or several as groups of one file, whole or not at all.

    The same data make the same bytes.

    Parameters
    ----------
    data : xarray.Dataset, or mapping of str to xarray.Dataset
    path : str or Path

    Raises
    ------
    OSError
        If it cannot be written: no room, or no permission.
    """
    content = _netcdf({"/": data} if isinstance(data, xr.Dataset) else data)
    with beside(Path(path)) as place:
        place.write_bytes(content + _seal(content, _name_of(Path(path))))


def _netcdf(groups: Mapping[str, xr.Dataset]) -> bytes:
    """Return the bytes of netCDF, by way of a temporary file: made in memory, they hold the time.

    The file's folder has a name that every locale can spell, as netCDF requires.
    """
    try:
        with TemporaryDirectory() as folder:
            path = Path(folder, "data.nc")
            for group, dataset in groups.items():
                dataset.drop_encoding().to_netcdf(path, "a", group=group, engine="netcdf4")
            return path.read_bytes()
    except (OSError, RuntimeError) as error:  # which netCDF raises
        text = f"cannot hold temporary files ({error}): make room there, or set TMPDIR"
        raise OSError(f"{gettempdir()} {text}") from error


def remove_leftovers(folder: Path) -> None:
    """Remove what jobs that were killed have written of files; no job may be at work."""
    for path in folder.rglob(f"{UNFINISHED}*"):
        if not path.is_dir():
            path.unlink()


def read(path: str | Path, moved: bool = False) -> xr.Dataset:
    """Read a dataset that `write` made.

    Parameters
    ----------
    path : str or Path
    moved : bool
        Whether the file may have been renamed.

    Raises
    ------
    DamagedFileError
        If the file is damaged, or another one.
    OSError
        If it is missing, or cannot be read.
    """
    return read_groups(path, moved)["/"]


def read_groups(path: str | Path, moved: bool = False) -> dict[str, xr.Dataset]:
    """Read all groups of a file that `write` made, as `read` does."""
    content, path = checked(Path(path), moved), Path(path)
    with netCDF4.Dataset(path.name, memory=content) as file:  # once: many groups take long to open
        return {
            one.path.removeprefix("/") or "/": xr.open_dataset(NetCDF4DataStore(one)).load()  # type: ignore[no-untyped-call]
            for one in _groups(file)
        }


def _groups(group: netCDF4.Dataset) -> list[netCDF4.Dataset]:
    """List the groups of a file that hold data."""
    below = [found for one in group.groups.values() for found in _groups(one)]
    return below if below and not group.variables else [group, *below]


def _name_of(path: Path) -> str:
    """Return the name of a result: its path below the folder `results`."""
    return path.as_posix().rpartition("results/")[2]


def _seal(content: bytes | memoryview, name: str) -> bytes:
    """Return what follows the content of a file: a name, and the hash of everything before."""
    line = _NAME + name.encode()
    hashed = hashlib.sha256(content)
    hashed.update(line)
    return line + _HASH + hashed.hexdigest().encode()


def checked(path: Path, moved: bool = False) -> memoryview:
    """Read the content of a file of which no byte has changed, nor, unless it moved, its name."""
    whole = path.read_bytes()
    end = whole.rfind(_NAME)
    content, line = memoryview(whole)[: max(end, 0)], whole[end:]
    written = line.removeprefix(_NAME).rpartition(_HASH)[0].decode(errors="replace")
    if end < 0 or line != _seal(content, written):
        raise DamagedFileError(path, "is damaged")
    # Release 0.2.0 wrote merged files as `figures/fig2-KEY`.
    names = written, f"{written.rpartition('-')[0]}.nc"
    if not moved and _name_of(path) not in names:
        raise DamagedFileError(path, f"is another file, {written}")
    return content
