"""Drawings of the answers to questions, in the style of the figures."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import error_bars, finite_size_line, markers
from giantstep.figures.labels import format_parameter
from giantstep.figures.maps import level_lines, spacing
from giantstep.figures.selection import in_limit
from giantstep.validation import Fault, InvalidParametersError

# What is drawn of an answer unless something else is asked for, if it is there.
_DRAWN = (
    "density", "learned_function", "test_error", "lower_bound", "alignment", "spike_strength"
)  # fmt: skip
# What is drawn beside a variable, on curves of its own.
_BESIDE = {"lower_bound": ("upper_bound", "best_linear_error")}
# Along what, if it varies.
_ALONG = ("eigenvalue", "point", "s", "alpha")
# Two parameters with more values each than this are drawn as a map.
_CURVES = 8
_MOST_CURVES = 24
# Characters of a line along the axes.
_WIDTH, _HEIGHT = 56, 40


def draw_answer(data: xr.Dataset, path: Path, show: str | None = None) -> None:
    """Draw an answer into a file: curves along one parameter, or level lines over two.

    Parameters
    ----------
    data : xarray.Dataset
        From a question, or `sweep`.
    path : Path
        Its suffix is .pdf, .svg or .png.
    show : str, optional
        The variable to draw.

    Raises
    ------
    InvalidParametersError
        If there is no such variable, or nothing varies.
    """
    name = _shown(data, show)
    data = _of_logarithm(data) if name == "density" else data
    with style.settings():
        figure = Figure(figsize=style.size(columns=1))
        axes = figure.subplots()
        limit = in_limit(data)[name]
        varying = [str(dim) for dim in limit.dims if data.sizes[dim] > 1]
        wide = [dim for dim in varying if data.sizes[dim] > _CURVES and _is_number(data, dim)]
        if len(varying) == 2 == len(wide):
            _draw_map(axes, limit.squeeze(drop=True))
        else:
            _draw_curves(axes, data, name, varying)
        style.save(figure, path)


def _shown(data: xr.Dataset, show: str | None) -> str:
    data = in_limit(data)
    names = [str(name) for name in data.data_vars if np.issubdtype(data[name].dtype, np.number)]
    if show is not None and show not in names:
        raise InvalidParametersError([Fault("show", show, f"one of {', '.join(names)}")])
    optima = [name for name in names if name.startswith("optimal_") and data[name].size > 1]
    # The first is the test error at the optimum, which says less than the optimum itself.
    drawn = [*optima[1:2], *(name for name in _DRAWN if name in names), names[0]]
    name = show or next((name for name in drawn if np.ptp(data[name].values) > 0), drawn[0])
    if data[name].size == 1:
        text = "of an answer that varies: give several values of a parameter, such as alpha"
        raise InvalidParametersError([Fault("plot", name, text)])
    return name


def _is_number(data: xr.Dataset, dim: str) -> bool:
    return bool(np.issubdtype(data[dim].dtype, np.number))


def _draw_map(axes: Axes, values: xr.DataArray) -> None:
    """Draw level lines; the first dimension is that of the vertical axis."""
    y, x = (str(dim) for dim in values.dims)
    gain = str(values.name).startswith(("gain_", "isotropic_"))
    level_lines(axes, values[x].values, values[y].values, values.values, percent=gain)
    axes.set(xlabel=_axis_label(values[x]), ylabel=_axis_label(values[y], _HEIGHT))
    axes.set_title(_axis_label(values), loc="left")


def _draw_curves(axes: Axes, data: xr.Dataset, name: str, varying: list[str]) -> None:
    """Draw a curve for all values of the other parameters; means of networks as markers."""
    numbers = [dim for dim in varying if _is_number(data, dim)] or varying
    along = next((dim for dim in _ALONG if dim in varying), None)
    along = along or max(numbers, key=lambda dim: data.sizes[dim])
    x = "eigenvalue" if along == "point" else along
    others = [dim for dim in varying if dim != along]
    curves = list(product(*(range(data.sizes[dim]) for dim in others)))
    if len(curves) > _MOST_CURVES:
        text = f"in {_MOST_CURVES} curves at most; there are {len(curves)}"
        raise InvalidParametersError([Fault("plot", name, text)])
    beside = [] if others else [other for other in _BESIDE.get(name, ()) if other in data]
    for choice, look in style.looks(curves).items():
        curve = data.isel(dict(zip(others, choice, strict=True))).squeeze()
        label = _symbol(data, name) if beside else ", ".join(_setting(curve, d) for d in others)
        _draw_curve(axes, curve, x, name, look, label)
    for other, look in list(style.looks([name, *beside]).items())[1:]:
        _draw_curve(axes, data.squeeze(), x, other, look, _symbol(data, other))
    _space(axes, in_limit(data), x, [name, *beside])
    axes.set_xlabel(_axis_label(data[x]))
    axes.set_ylabel(data.attrs["title"] if beside else _axis_label(data[name], _HEIGHT))
    if others or beside:
        axes.legend()


def _space(axes: Axes, data: xr.Dataset, x: str, names: list[str]) -> None:
    """Show both axes in equal ratios where their values need it."""
    if _is_number(data, x):
        spacing(axes, "x", data[x].values[np.isfinite(data[x].values)])
    if "density" in names:
        axes.set_ylim(bottom=0)
        return
    drawn = np.concatenate([data[name].values.ravel() for name in names])
    spacing(axes, "y", drawn[np.isfinite(drawn)])


def _of_logarithm(data: xr.Dataset) -> xr.Dataset:
    """Turn a density of eigenvalues into that of their logarithms, as figures show it."""
    about = {"long_name": "density of ln x", "symbol": r"x\,\rho(x)"}
    return data.assign(density=(data["density"] * data["eigenvalue"]).assign_attrs(about))


def _draw_curve(
    axes: Axes, curve: xr.Dataset, x: str, name: str, look: dict[str, Any], label: str
) -> None:
    at = curve[x].values
    at = at.astype(str) if at.dtype.kind in "OU" else at
    if f"{name}_stderr" in curve:
        stderr = curve[f"{name}_stderr"].values
        error_bars(axes, at, curve[name].values, stderr, look, label=label)
        return
    if at.dtype.kind == "U":  # names are in no order
        axes.plot(at, in_limit(curve)[name].values, linestyle="none", label=label, **look)
        return
    axes.plot(at, in_limit(curve)[name].values, color=look["color"], label=label)
    finite_size_line(axes, at, curve, name, look["color"])
    if f"simulated_{name}_mean" in curve:
        markers(axes, at, curve, name, look)
    if name == "learned_function" and "target_function" in curve:
        axes.plot(at, curve["target_function"].values, **style.TARGET)


def _symbol(data: xr.Dataset, name: str) -> str:
    return f"${data[name].attrs['symbol']}$"


def _setting(curve: xr.Dataset, dim: str) -> str:
    """Write the value of a parameter that differs between curves."""
    value = curve[dim].item()
    if dim == "curve":
        return str(value)
    try:
        return f"${format_parameter(dim, value)}$"
    except KeyError:
        return f"{dim} {value}"


def _axis_label(values: xr.DataArray, longest: int = _WIDTH) -> str:
    """Write what a variable is, and its symbol."""
    about = values.attrs
    meaning = str(about.get("long_name", values.name))
    symbol = about.get("symbol", "")
    lines = "\n".join(wrap(meaning, longest))
    return f"{lines} ${symbol}$" if symbol else lines
