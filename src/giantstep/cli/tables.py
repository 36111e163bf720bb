"""Printing: answers on standard output, remarks and progress on standard error."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

# Columns of equal length, by name.
Table = dict[str, NDArray[Any]]
# A column of texts is no wider; longer cells shift those after them.
_WIDEST = 42


def group_columns(name: str, values: NDArray[Any], grid_dimensions: int) -> Table:
    """Make one column, or one for each group of neurons, or pair of groups, counted from 1.

    Parameters
    ----------
    name : str
    values : array
        Its first dimensions are those of the grid, the others are groups of neurons.
    grid_dimensions : int
    """
    groups = values.shape[grid_dimensions:]
    if all(size == 1 for size in groups):
        return {name: values.ravel()}
    flat = values.reshape(-1, *groups)
    return {
        name + "".join(f"_{i + 1}" for i in index): flat[:, *index]
        for index in np.ndindex(groups)
        if list(index) == sorted(index)
    }


def print_table(table: Table, form: Literal["csv", "table"]) -> None:
    """Print a header and a line for each row, on standard output."""
    rows = [list(table)]
    for entry in zip(*table.values(), strict=True):
        rows.append([x if isinstance(x, str) else f"{x:.12g}" for x in entry])
    if form == "csv":
        csv.writer(sys.stdout, lineterminator="\n").writerows(rows)
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(x.rjust(w) for x, w in zip(row, widths, strict=True)))


def contents(data: xr.Dataset) -> list[str]:
    """List the variables of a dataset: name, symbol, equation, meaning and dimensions."""
    rows = [["name", "symbol", "equation", "meaning", "along"]]
    for name, variable in data.variables.items():
        about = [variable.attrs.get(key, "") for key in ("symbol", "equation", "long_name")]
        rows.append([str(name), *about, ", ".join(map(str, variable.dims))])
    widths = [min(_WIDEST, max(map(len, column))) for column in zip(*rows, strict=True)]
    sizes = ", ".join(f"{name} {size}" for name, size in data.sizes.items())
    return [f"{data.attrs.get('title', '')} ({sizes})", ""] + [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def print_progress() -> Callable[[float], None]:
    """Return a function that prints the share done on standard error, at each new percent."""
    printed = 0

    def report(share: float) -> None:
        nonlocal printed
        percent = int(100 * share + 1e-9)
        if percent > printed:
            printed = percent
            print(f"\r{percent} %", end="" if percent < 100 else "\n", file=sys.stderr, flush=True)

    return report
