"""Simulations of many networks: too large to be held, they wait on the disk until they are used."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from xarray.backends import BackendArray
from xarray.core.indexing import IndexingSupport, LazilyIndexedArray, explicit_indexing_adapter

from giantstep.pipeline.planning.versions import join_versions

# Bytes: a larger variable is handled in blocks of this size.
LARGE = 2**20


def scratch_file(folder: Path) -> IO[bytes]:
    """Open a file without a name, in a folder: nothing is left of it once it is closed."""
    return TemporaryFile(dir=folder)


def join_on_disk(parts: Iterable[xr.Dataset], dim: str, size: int, file: IO[bytes]) -> xr.Dataset:
    """Put datasets together along the first dimension of all their variables.

    Parts are asked for one by one, and not kept. A variable is read again each time it is used. Of
    attributes, only the versions of libraries are kept.

    Parameters
    ----------
    parts : iterable of xarray.Dataset
        Alike but for `dim`.
    dim : str
    size : int
        Along `dim`, of all parts together.
    file : binary file
        For the values.

    Raises
    ------
    ValueError
        If the parts are not alike, not in ascending order of `dim`, or not of this size.
    """
    rowless, arrays = None, {}
    places, libraries, start = [], [], 0
    for part in parts:
        if rowless is None:
            rowless = _without_rows(part, dim)
            for name, variable in part.data_vars.items():
                arrays[name] = DiskArray(file, (size, *variable.shape[1:]), variable.dtype)
        elif not rowless.equals(_without_rows(part, dim)):
            raise ValueError(f"parts have other variables or coordinates than {dim} alone")
        libraries.append(part.attrs["libraries"])
        places.append(part[dim].values)
        for name, array in arrays.items():
            array.fill(start, part[name].values)
        start += part.sizes[dim]
    if rowless is None or start != size:
        raise ValueError(f"{start} of {size} along {dim} were found")
    along = np.concatenate(places)
    if (np.diff(along) <= 0).any():
        raise ValueError(f"parts are not in ascending order of {dim}")
    values = {name: (rowless[name].dims, LazilyIndexedArray(x)) for name, x in arrays.items()}
    coords = rowless.drop_vars(dim).coords
    whole = xr.Dataset(values, coords, {"libraries": join_versions(libraries)})
    return whole.assign_coords({dim: along})


def _without_rows(part: xr.Dataset, dim: str) -> xr.Dataset:
    """Return what is alike in all parts: the shapes of variables, and the other coordinates."""
    return part.isel({dim: slice(0)}).copy(deep=True)  # a view would keep all rows in memory


class DiskArray(BackendArray):
    """An array at the end of a file, which is read when it is indexed.

    Parameters
    ----------
    file : binary file
    shape : tuple of int
    dtype : numpy.dtype
    """

    def __init__(self, file: IO[bytes], shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.shape, self.dtype = shape, dtype
        self._file, self._start = file, file.seek(0, 2)
        self._row = dtype.itemsize * int(np.prod(shape[1:]))
        file.truncate(self._start + shape[0] * self._row)

    def fill(self, first: int, rows: NDArray[Any]) -> None:
        """Write some rows."""
        self._file.seek(self._start + first * self._row)
        self._file.write(np.ascontiguousarray(rows).data)

    def __getitem__(self, key: Any) -> Any:
        """Read a part."""
        return explicit_indexing_adapter(key, self.shape, IndexingSupport.BASIC, self._read)

    def _read(self, key: tuple[Any, ...]) -> Any:
        rows, *within = key
        one = not isinstance(rows, slice)
        start, stop, step = (rows, rows + 1, 1) if one else rows.indices(self.shape[0])
        self._file.seek(self._start + start * self._row)
        count = max(stop - start, 0) * self._row // self.dtype.itemsize
        found = np.fromfile(self._file, self.dtype, count).reshape(-1, *self.shape[1:])
        return found[(0 if one else slice(None, None, step), *within)]


def row_blocks(variable: xr.Variable, dim: Hashable) -> Iterator[dict[Any, slice]]:
    """Split a variable along a dimension into blocks that are small enough to copy."""
    rows = variable.sizes[dim]
    step = max(1, LARGE * rows // max(variable.nbytes, 1))
    return ({dim: slice(start, start + step)} for start in range(0, rows, step))
