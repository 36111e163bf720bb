"""Writing answers: as CSV, a table, JSON or LaTeX, to standard output or a file, or as netCDF."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
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
from giantstep.vocabulary import MEANINGS

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
# A column of texts is no wider; longer cells shift those after them.
_WIDEST = 42


def table_of(data: xr.Dataset) -> Table:
    """Arrange an answer as columns: what varies, then the values, a row for each point.

    The points are those of the first variable; variables along anything else are left out. Groups
    of neurons, pairs of them, outliers and intervals have columns of their own, counted from 1; so
    have theories.
    """
    import xarray  # only here: it takes a while

    points = [str(dim) for dim in next(iter(data.data_vars.values())).dims if dim not in _ACROSS]
    inside = [str(name) for name in data.coords if set(data[name].dims) <= set(points)]
    order = [*points, *_ALWAYS]
    shown = [name for name in order if name in inside]
    shown += [name for name in inside if data[name].ndim > 0 and name not in shown]
    columns = {name: data[name] for name in shown}
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
    sizes = [variable.sizes[dim] for dim in across]
    if all(size == 1 for size in sizes) and "theory" not in across:
        return {name: variable.squeeze(across, drop=True)}
    columns = {}
    for index in np.ndindex(*sizes):
        if list(index) == sorted(index) or name not in OVERLAP_DIMENSIONS:
            place = dict(zip(across, index, strict=True))
            labels = [variable[d].values[k] if d == "theory" else k + 1 for d, k in place.items()]
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
    rows = _rows(table_of(data), digits=6)
    lines = list(_aligned(rows, str.rjust))
    if max(map(len, lines)) > _LINE:
        headings = [_broken(name, name in data.variables) for name in rows[0]]
        height = max(map(len, headings))
        stacked = zip(*([""] * (height - len(one)) + one for one in headings), strict=True)
        lines = list(_aligned([*map(list, stacked), *rows[1:]], str.rjust))
    return "".join(f"{line}\n" for line in lines)


def _broken(name: str, whole: bool) -> list[str]:
    """Break the name of a column after underscores, if it is long, or that of one of several."""
    lines = [""]
    for part in re.findall(r"[^_]*_|[^_]+", name):
        if lines[-1] and len(lines[-1] + part) > _HEADING and len(name) > whole * _LONG_NAME:
            lines.append("")
        lines[-1] += part
    return lines


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
    needed = {*data.dims, *_ALWAYS}
    others = [str(name) for name in data.coords if data[name].ndim and name not in needed]
    names, shown = [str(name) for name in data.data_vars], list[str]()

    def part() -> xr.Dataset:
        kept = data.drop_vars([name for name in others if name not in shown])
        return kept[[name for name in names if name in shown]]

    for name in sorted([*names, *others], key=lambda name: _rank(name, data, asked)):
        shown.append(name)
        if max(map(len, as_table(part()).splitlines())) > _LINE:
            shown.remove(name)
    return part()


def _rank(name: str, data: xr.Dataset, asked: Sequence[str]) -> int:
    """Rank a variable: failures and what was asked for, test errors, others, the status, the rest.

    Those of networks are asked for if those of the theory are.
    """
    if name == "status":
        return 0 if data[name].values.any() else 3
    if any(one in name for one in asked) and not name.startswith("z_score"):
        return 0
    if name in _MAIN:
        return 1
    return 2 if "error" in name and name != "quadrature_error" else 4


def _aligned(
    rows: list[list[str]], adjust: Callable[[str, int], str], widest: int = sys.maxsize
) -> Iterator[str]:
    """Write rows as lines, in columns."""
    widths = [min(widest, max(map(len, column))) for column in zip(*rows, strict=True)]
    return ("  ".join(map(adjust, row, widths)).rstrip() for row in rows)


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
    lines = [" & ".join(_heading(data, name) for name in header)]
    lines += [" & ".join(map(_tex_cell, row)) for row in rows]
    body = "".join(
        rf"  {line} \\" + ("\n  \\hline\n" if i == 0 else "\n") for i, line in enumerate(lines)
    )
    return f"\\begin{{tabular}}{{{'r' * len(header)}}}\n{body}\\end{{tabular}}\n"


def _heading(data: xr.Dataset, column: str) -> str:
    """Write the symbol of a column, with the groups or the theory that it is of as an index."""
    if column in data.variables:
        symbol = data[column].attrs["symbol"]
        is_word = symbol in (column, "status") and len(symbol) > 1
        return column.replace("_", " ") if is_word else f"${symbol}$"
    name = max((str(name) for name in data.variables if column.startswith(f"{name}_")), key=len)
    index = column.removeprefix(f"{name}_").replace("_", ",")
    return f"${{{data[name].attrs['symbol']}}}_{{{index}}}$"


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
SUFFIXES = (".nc", *(f".{name}" for name in FORMATS if name != "table"))


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
            if all(map(_is_known, data.variables)):
                return data.load()
    except (OSError, ValueError):  # it is no netCDF, or damaged
        pass
    raise RefusalError(f"{path}: is no answer that giantstep has written as netCDF")


def is_answer(path: Path) -> bool:
    """Tell whether a file reads as an answer that was written before."""
    try:
        if path.suffix == ".nc":
            read(path)
            return True
        text = path.read_text(encoding="utf-8")
        first = text.partition("\n")[0]
        if path.suffix == ".tex":
            return re.fullmatch(r"\\begin\{tabular\}\{r+\}", first) is not None
        columns = json.loads(text)["rows"][0] if path.suffix == ".json" else first.split(",")
        return all(map(_is_known, columns))
    except (ValueError, LookupError, TypeError, RefusalError):
        return False


def _is_known(column: object) -> bool:
    """Tell whether a column is a variable, or that of one of its groups or theories."""
    parts = str(column).split("_")
    for end in range(len(parts), 0, -1):
        with suppress(KeyError):
            return bool(MEANINGS["_".join(parts[:end])])
    return False


def contents(data: xr.Dataset) -> list[str]:
    """List the variables of a dataset: name, symbol, equation, dimensions and meaning."""
    rows = [["name", "symbol", "equation", "along", "meaning"]]
    for name, variable in data.variables.items():
        symbol, equation, meaning = (
            variable.attrs.get(key, "") for key in ("symbol", "equation", "long_name")
        )
        rows.append([str(name), symbol, equation, ", ".join(map(str, variable.dims)), meaning])
    sizes = ", ".join(f"{name} {size}" for name, size in data.sizes.items())
    return [f"{data.attrs.get('title', '')} ({sizes})", "", *_aligned(rows, str.ljust, _WIDEST)]
