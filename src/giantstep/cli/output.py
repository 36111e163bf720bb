"""Writing answers: as CSV, a table, JSON or LaTeX, to standard output or a file, or as netCDF."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from textwrap import wrap
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
# Characters of a line of a table; a name with more than the second is broken at the third.
_LINE, _LONG_NAME, _HEADING = 100, 20, 12
# The errors on new inputs.
_MAIN = ("test_error", "classification_error", "linear_test_error", "linear_classification_error")
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

    If a line is too long, names of columns have several.
    """
    names, *rows = _rows(table_of(data), digits=6)
    lines = _aligned([names, *rows])
    if max(map(len, lines)) > _LINE:
        headings = [_broken(name, name in data.variables) for name in names]
        height = max(map(len, headings))
        stacked = zip(*([""] * (height - len(one)) + one for one in headings), strict=True)
        lines = _aligned([*map(list, stacked), *rows])
    return "".join(f"{line}\n" for line in lines)


def _broken(name: str, whole: bool) -> list[str]:
    """Break the name of a column after underscores, if it is long, or that of one of several."""
    width = _HEADING if len(name) > whole * _LONG_NAME else _LINE
    lines = wrap(name.replace("_", "_ "), width, break_long_words=False)
    return [line.replace("_ ", "_") for line in lines]


def _aligned(rows: list[list[str]]) -> list[str]:
    """Write rows as lines, in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
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


def fitting(data: xr.Dataset, asked: Sequence[str]) -> xr.Dataset:
    """Select the variables whose table fits a line: what was asked for, then errors first."""
    names = [str(name) for name in data.variables if name not in {*data.dims, *_ALWAYS}]
    names.sort(key=lambda name: _rank(name, data, asked))
    shown: list[str] = []
    for one in names:
        part = data.drop_vars([name for name in names if name not in (*shown, one)])
        if max(map(len, as_table(part).splitlines())) <= _LINE:
            shown.append(one)
    return data.drop_vars([name for name in names if name not in shown])


def _rank(name: str, data: xr.Dataset, asked: Sequence[str]) -> int:
    """Rank a variable: failures and what was asked for, test errors, others, the status, the rest.

    Those of networks are asked for if those of the theory are.
    """
    if name == "status":
        return 0 if data[name].values.any() else 3
    if any(one in name for one in asked) and not name.startswith("z_score"):
        return 0
    return 1 if name in _MAIN else 2 if "error" in name else 4


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
# How files of answers begin.
_BEGINNINGS = {".json": r'\{\n "title": ', ".tex": r"\\begin\{tabular\}\{r+\}\n"}


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
        pass
    raise RefusalError(f"{path}: is no answer that giantstep has written as netCDF")


def is_answer(path: Path) -> bool:
    """Tell whether a file reads as an answer that was written before."""
    try:
        if path.suffix == ".nc":
            return bool(read(path))
        text = path.read_text(encoding="utf-8")
    except (ValueError, RefusalError):
        return False
    if path.suffix == ".csv":
        return all(map(_meaning_of, text.partition("\n")[0].split(",")))
    return re.match(_BEGINNINGS[path.suffix], text) is not None


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
