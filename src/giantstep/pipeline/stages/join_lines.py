"""The lines of a figure in one dataset, which holds what was measured of networks on the disk."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from xarray.backends import BackendArray
from xarray.core.indexing import IndexingSupport, LazilyIndexedArray, explicit_indexing_adapter

from giantstep.pipeline.stages.comparison import STATISTICS
from giantstep.pipeline.stages.dataset_layout import GROUP_PARAMETERS
from giantstep.pipeline.stages.finite_size import finite_size_name
from giantstep.pipeline.storage.on_disk import row_blocks
from giantstep.problems.overlaps import OVERLAP_DIMENSIONS

# Everything that each group of neurons, or pair of groups, has of its own.
_OF_GROUPS = (
    GROUP_PARAMETERS
    | dict.fromkeys(("mu0", "kappa_mu1"), ("group",))
    | {
        name: dims
        for overlap, dims in OVERLAP_DIMENSIONS.items()
        for name in (
            *(overlap, finite_size_name(overlap)),
            f"simulated_{overlap}",
            *(f"simulated_{overlap}_{statistic}" for statistic in STATISTICS),
            *(f"z_score_{overlap}", finite_size_name(f"z_score_{overlap}")),
        )
    }
)


_Part = tuple[xr.Variable, dict[Hashable, NDArray[np.intp]]]


def join_lines(lines: Sequence[xr.Dataset]) -> xr.Dataset:
    """Put the lines of a figure, from `merge_curve` and its like, into one dataset along `curve`.

    Variables of networks are put together when they are used, each time again, and not kept.
    """
    networks = {name for line in lines for name, x in line.items() if "network" in x.dims}
    small = [line.drop_vars(networks, errors="ignore") for line in lines]
    if any("group" in line.dims for line in lines):
        small = [_by_group(line) for line in small]
    # What only some lines have (alpha0 of a step, say) is NaN, or an empty text, for the others.
    missing = {
        str(name): "" if coordinate.dtype.kind in "OU" else np.nan
        for line in small
        for name, coordinate in line.coords.items()
        if name not in line.dims
    }
    names = set(missing)
    filled = [
        line.assign_coords({name: missing[name] for name in names - set(map(str, line.coords))})
        for line in small
    ]
    whole = xr.concat(
        filled,
        "curve",
        data_vars="all",
        coords=sorted(names - {"curve"}),
        compat="equals",
        join="outer",  # of the groups: curves may have different numbers of them
        combine_attrs="drop",
    )
    # In the order of their first line; xarray's order varies for those that some lines lack.
    coords = dict.fromkeys(name for line in filled for name in sorted(line.coords, key=str))
    variables = dict.fromkeys(name for line in lines for name in line.data_vars)
    joined = {
        name: _of_networks(name, lines, filled, whole) if name in networks else whole[name].variable
        for name in variables
    }
    return xr.Dataset(joined, coords={name: whole[name].variable for name in coords})


def _by_group(line: xr.Dataset) -> xr.Dataset:
    """Count a line's groups of neurons from 1, so that lines with fewer or more of them align."""
    for name, dims in _OF_GROUPS.items():
        if name in line and dims[0] not in line[name].dims:
            line = line.assign({name: line[name].expand_dims(dict.fromkeys(dims, 1))})
    counts = {
        d: np.arange(1, line.sizes[d] + 1) for d in ("group", "other_group") if d in line.dims
    }
    # `assign` has turned a single group's parameters, which are coordinates, into variables.
    return line.assign_coords(counts).set_coords(list(GROUP_PARAMETERS))


def _of_networks(
    name: Any, lines: Sequence[xr.Dataset], filled: Sequence[xr.Dataset], whole: xr.Dataset
) -> xr.Variable:
    """Refer to a variable of networks; `whole` and `filled` are without it, but have its places."""
    found = {k: line[name].variable for k, line in enumerate(lines) if name in line}
    of_groups = _OF_GROUPS.get(name, ()) if "group" in whole.dims else ()
    dims = dict.fromkeys(
        dim
        for x in found.values()
        for dim in (*(group for group in of_groups if group not in x.dims), *x.dims)
    )
    parts = {
        k: (x, {dim: whole.get_index(dim).get_indexer(filled[k].get_index(dim)) for dim in dims})
        for k, x in found.items()
    }
    shape = len(lines), *(whole.sizes[dim] for dim in dims)
    return xr.Variable(("curve", *dims), LazilyIndexedArray(_Joined(shape, parts)))


class _Joined(BackendArray):
    """A variable of all lines, which is put together when it is read.

    Parameters
    ----------
    shape : tuple of int
    parts : dict
        By the number of a line: its variable, and by dimension the places of its coordinates.
    """

    dtype = np.dtype(float)

    def __init__(self, shape: tuple[int, ...], parts: dict[int, _Part]) -> None:
        self.shape, self._parts = shape, parts

    def __getitem__(self, key: Any) -> Any:
        """Put it together, and select a part."""
        return explicit_indexing_adapter(key, self.shape, IndexingSupport.BASIC, self._read)

    def _read(self, key: tuple[Any, ...]) -> Any:
        whole = np.full(self.shape, np.nan)
        for k, (variable, places) in self._parts.items():
            # On the disk, rows of the first dimension are beside each other.
            for rows in row_blocks(variable, variable.dims[0]):
                block = variable.isel(rows).load()
                values = block.set_dims(list(places)).values  # type: ignore[no-untyped-call]
                at = [place[rows.get(dim, slice(None))] for dim, place in places.items()]
                whole[k][np.ix_(*at)] = values
        return whole[key]
