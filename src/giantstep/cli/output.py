"""Writing answers: as CSV, a table, JSON or LaTeX, to standard output or a file, or as netCDF."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from giantstep.figures.labels import latex_number
from giantstep.files import beside
from giantstep.problems.overlaps import OVERLAP_DIMENSIONS
from giantstep.theory.readout.status import Status
from giantstep.validation import Fault, RefusalError, raise_all
from giantstep.vocabulary import MEANINGS, Meaning

if TYPE_CHECKING:
    import xarray as xr

# Columns of equal length, by name.
Table = dict[str, NDArray[Any]]
# Dimensions whose entries are columns instead of rows.
_ACROSS = {"group", "other_group", "theory", "rank", "interval"}
# Coordinates that have a column even if they do not vary.
_ALWAYS = ("alpha", "ridge", "stop_at")
# Characters of a line of a table.
_LINE = 100
# A column of texts is so wide; longer cells shift those after them.
_WIDTH = 30


def table_of(data: xr.Dataset) -> Table:
    """Arrange an answer as columns: what varies, then the values, a row for each point.

    The points are those of the first variable; variables along anything else are left out. Groups
    of neurons, pairs of them, outliers and intervals have columns of their own, counted from 1; so
    have theories.
    """
    import xarray  # only here: it takes a while

    points = [str(dim) for dim in next(iter(data.data_vars.values())).dims if dim not in _ACROSS]
    inside = [str(name) for name in data.coords if set(data[name].dims) <= set(points)]
    order = [*points, *_ALWAYS, *(name for name in inside if data[name].ndim)]
    columns = {name: data[name] for name in order if name in inside}
    for variable in data.data_vars.values():
        if set(variable.dims) - _ACROSS <= set(points):  # the same for several, if not along all
            columns |= _columns(variable)
    alike = zip(columns, xarray.broadcast(*columns.values()), strict=True)
    table: Table = {name: one.transpose(*points).values.ravel() for name, one in alike}
    for name in [name for name in table if name.startswith("status")]:  # it comes last
        codes = table.pop(name)
        table[name] = np.array([Status(int(code)).label for code in codes])
    return table


def _columns(variable: xr.DataArray) -> dict[str, xr.DataArray]:
    """Make one column, or one for each group of neurons, pair of groups, or theory."""
    name, across = str(variable.name), [dim for dim in variable.dims if dim in _ACROSS]
    if "theory" not in across and all(variable.sizes[dim] == 1 for dim in across):
        return {name: variable.squeeze(across, drop=True)}
    columns = {}
    for index in np.ndindex(*(variable.sizes[dim] for dim in across)):
        if list(index) == sorted(index) or name not in OVERLAP_DIMENSIONS:
            place = dict(zip(across, index, strict=True))
            labels = [variable[d].item(k) if d == "theory" else k + 1 for d, k in place.items()]
            columns["_".join(map(str, [name, *labels]))] = variable.isel(place, drop=True)
    return columns


def _rows(table: Table, digits: int = 12) -> list[list[str]]:
    """Write all cells, after a header."""
    entries = zip(*table.values(), strict=True)
    return [list(table), *([_cell(value, digits) for value in entry] for entry in entries)]


def _cell(value: Any, digits: int) -> str:
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    return value if isinstance(value, str) else f"{value:.{digits}g}"


def as_csv(data: xr.Dataset) -> str:
    """Write an answer as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(_rows(table_of(data)))
    return text.getvalue()


def as_table(data: xr.Dataset) -> str:
    """Write an answer as columns to be read, with six digits.

    If they do not fit a line, each has a line of its own; or, if there are too many points for
    that, those that do not fit follow below, beside what varies.
    """
    rows = _rows(table_of(data), digits=6)
    columns = [*zip(*rows, strict=True)]
    for lines in _aligned(rows), _aligned(columns):
        if len(lines[0]) <= _LINE:
            return "\n".join([*lines, ""])
    varying = [column for column in columns if column[0] in data.coords]
    blocks = [varying]
    for column in columns[len(varying) :]:
        if len(_aligned([*zip(*blocks[-1], column, strict=True)])[0]) > _LINE:
            blocks.append(varying)
        blocks[-1] = [*blocks[-1], column]
    return "\n".join("\n".join([*_aligned([*zip(*x, strict=True)]), ""]) for x in blocks)


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Write rows as lines of aligned columns."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    return ["  ".join(map(str.rjust, row, widths)) for row in rows]


def chosen(data: xr.Dataset, names: Sequence[str]) -> xr.Dataset:
    """Select variables of an answer by name.

    Raises
    ------
    InvalidParametersError
    """
    known = [str(name) for name in data.data_vars]
    allowed = f"one of {', '.join(known)}"
    # Coordinates, such as the samples of all steps, are written in any case.
    wanted = [name for name in names if name not in data.coords]
    raise_all([Fault("columns", name, allowed) for name in wanted or names if name not in known])
    return data[wanted]


def as_json(data: xr.Dataset) -> str:
    """Write an answer as JSON: its attributes, and an object for each row.

    What is not a number is null, and infinity the text "inf".
    """
    table = table_of(data)
    names, columns = list(table), [column.tolist() for column in table.values()]
    rows = [dict(zip(names, map(_plain, row), strict=True)) for row in zip(*columns, strict=True)]
    about = {str(name): _plain(np.asarray(value).tolist()) for name, value in data.attrs.items()}
    return json.dumps(about | {"rows": rows}, indent=1, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def as_tex(data: xr.Dataset) -> str:
    """Write an answer as a LaTeX tabular, with symbols as headings."""
    header, *rows = _rows(table_of(data))
    cells = [[*map(_heading, header)], *(map(_tex_cell, row) for row in rows)]
    first, *others = (f"  {' & '.join(row)} \\\\\n" for row in cells)
    columns = "r" * len(header)
    body = f"{first}  \\hline\n{''.join(others)}"
    return f"\\begin{{tabular}}{{{columns}}}\n{body}\\end{{tabular}}\n"


def _heading(column: str) -> str:
    """Write the symbol of a column, with the groups or the theory that it is of as an index."""
    meaning, index = _meaning_of(column) or (Meaning(column, column), "")
    if index:
        return f"${{{meaning.symbol}}}_{{{index}}}$"
    is_word = meaning.symbol in (column, "status") and len(column) > 1
    return column.replace("_", " ") if is_word else f"${meaning.symbol}$"


def _tex_cell(text: str) -> str:
    try:
        return f"${latex_number(f'{float(text):.6g}')}$"
    except ValueError:
        return text.replace("_", r"\_")


FORMATS: dict[str, Callable[[xr.Dataset], str]] = {
    "csv": as_csv,
    "table": as_table,
    "json": as_json,
    "tex": as_tex,
}


def write(data: xr.Dataset, path: Path) -> None:
    """Write an answer to a file, as its suffix says.

    Raises
    ------
    OSError
    """
    with beside(path) as place:
        if path.suffix == ".nc":
            data.to_netcdf(place)
        else:
            place.write_text(FORMATS[path.suffix[1:]](data), encoding="utf-8")


def read(path: Path) -> xr.Dataset:
    """Read an answer that was written as netCDF.

    Raises
    ------
    RefusalError
        If it is none.
    """
    import xarray  # only here: it takes a while

    try:
        with xarray.open_dataset(path) as data:
            if all(_meaning_of(str(name)) for name in data.variables):
                return data.load()
    except (OSError, ValueError):  # it is no netCDF, or damaged
        path.open("rb").close()  # or it is not there
    raise RefusalError(f"{path}: is no answer that giantstep has written as netCDF")


def _meaning_of(column: str) -> tuple[Meaning, str] | None:
    """Return the meaning of a column's variable, and of which group or theory the column is."""
    parts = column.split("_")
    for end in range(len(parts), 0, -1):
        with suppress(KeyError):
            return MEANINGS["_".join(parts[:end])], ",".join(parts[end:])
    return None


def contents(data: xr.Dataset) -> list[str]:
    """List the variables of a dataset: name, symbol, equation, dimensions and meaning."""
    rows = [["name", "symbol", "equation", "along", "meaning"]]
    for name, variable in data.variables.items():
        about = [variable.attrs.get(key, "") for key in ("symbol", "equation", "long_name")]
        rows.append([str(name), *about[:2], ", ".join(map(str, variable.dims)), about[2]])
    sizes = ", ".join(f"{name} {size}" for name, size in data.sizes.items())
    lines = ("  ".join(cell.ljust(_WIDTH) for cell in row).rstrip() for row in rows)
    return [f"{data.attrs.get('title', '')} ({sizes})", "", *lines]
