"""Result files of many networks: as those of `netcdf`, but variable by variable.

The key of every result covers `netcdf`, but not this: an edit of `netcdf` would have all results
computed again. So what both need is imported from there, though private, or repeated here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import BackendArray
from xarray.core.indexing import IndexingSupport, LazilyIndexedArray, explicit_indexing_adapter

from giantstep.pipeline.runtime.checksums import (
    DamagedFileError,
    check_seal,
    remedied,
    seal,
    set_aside,
)
from giantstep.pipeline.runtime.signals import uninterrupted
from giantstep.pipeline.storage.netcdf import _write_beside
from giantstep.pipeline.storage.on_disk import LARGE, row_blocks


def write(dataset: xr.Dataset, path: Path, name: str) -> None:
    """Write a dataset whole or not at all, as `netcdf.write` does, in little memory.

    Parameters
    ----------
    dataset : xarray.Dataset
        Its largest variables may be lazy.
    path : Path
    name : str
        What `read` expects to find.

    Raises
    ------
    DamagedFileError
        If what was written does not read back as the same dataset.
    OSError
        If it cannot be written.
    """
    dataset = dataset.drop_encoding()
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.part")
    with uninterrupted():
        try:
            _write_beside(dataset.assign(_placeholders(dataset)), beside)
            if not (_fill(beside, dataset) and _reads_back(beside, dataset)):
                raise DamagedFileError(f"{path} does not read back as it was written")
            seal(beside, name)
            beside.replace(path)
        except OSError as error:
            text = f"cannot be written ({error.strerror})"
            raise OSError(error.errno, text, str(path)) from error
        finally:
            beside.unlink(missing_ok=True)


def _placeholders(dataset: xr.Dataset) -> dict[Any, xr.Variable]:
    """Replace large variables by one number: xarray would hold all of them until it is done."""
    return {
        name: xr.Variable(x.dims, np.broadcast_to(x.dtype.type(), x.shape), x.attrs)
        for name, x in dataset.data_vars.items()
        if x.nbytes > LARGE and x.dtype.kind == "f"
    }


def _fill(path: Path, dataset: xr.Dataset) -> bool:
    """Put large variables in their places, unless the file is broken."""
    import netCDF4  # an extra, which importing this module does not require

    try:
        with netCDF4.Dataset(path, "r+") as file:
            for name in _placeholders(dataset):
                file[name][...] = dataset[name].values
    except (OSError, RuntimeError) as error:
        if isinstance(error, OSError) and (error.errno or 0) > 0:
            raise  # the system's; those of netCDF4 are negative
        return False
    return True


def _reads_back(path: Path, dataset: xr.Dataset) -> bool:
    try:
        with xr.open_dataset(path, engine="netcdf4", cache=False) as found:
            variables = found.variables
            return (
                found.coords.keys() == dataset.coords.keys()
                and variables.keys() == dataset.variables.keys()
                and found[[]].identical(dataset[[]])
                and all(_is_alike(variables[name], x) for name, x in dataset.variables.items())
            )
    except MemoryError:
        raise
    except Exception:  # netCDF4 raises all kinds of exceptions on broken files
        return False


def _is_alike(found: xr.Variable, written: xr.Variable) -> bool:
    held = xr.Variable(written.dims, written.values, written.attrs)
    longest = max(held.dims, key=held.sizes.__getitem__, default=None)
    blocks = row_blocks(held, longest) if longest else [{}]
    return all(
        found.isel(rows).identical(held.isel(rows))  # type: ignore[no-untyped-call]
        for rows in blocks
    )


def read(path: Path, name: str | None) -> xr.Dataset:
    """Open a file, checked as by `netcdf.read`; large variables are read when they are used.

    Parameters
    ----------
    path : Path
    name : str, optional
        Under which it must have been written; None for any.

    Raises
    ------
    DamagedFileError
        If the file is damaged, or another one; it is set aside.
    """
    try:
        with remedied():
            check_seal(path, name)
    except DamagedFileError as error:
        raise DamagedFileError(
            f"{error}; it was set aside as {set_aside(path)}: run the same command again to"
            " make a new one"
        ) from error
    # No file stays open: netCDF4 fails when one is closed by chance while it opens another.
    with uninterrupted(), xr.open_dataset(path, engine="netcdf4", cache=False) as found:
        large = {
            name: xr.Variable(x.dims, LazilyIndexedArray(_InFile(path, name, x)), x.attrs)
            for name, x in found.data_vars.items()
            if x.nbytes > LARGE and x.dtype.kind == "f"
        }
        for small in found.variables.keys() - large.keys():
            found.variables[small].load()
        return found.assign(large)


class _InFile(BackendArray):
    """A variable in a file, which is opened each time that the variable is read."""

    def __init__(self, path: Path, name: Any, variable: xr.DataArray) -> None:
        self.shape, self.dtype = variable.shape, variable.dtype
        self._path, self._name = path, name

    def __getitem__(self, key: Any) -> Any:
        """Read a part."""
        return explicit_indexing_adapter(key, self.shape, IndexingSupport.BASIC, self._read)

    def _read(self, key: tuple[Any, ...]) -> Any:
        import netCDF4  # an extra, which importing this module does not require

        with uninterrupted(), netCDF4.Dataset(self._path) as file:
            file.set_auto_maskandscale(False)
            return file[self._name][key]
