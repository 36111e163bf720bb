"""Drawings of the answers to questions, in the style of the figures."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import (
    error_bars,
    finite_size_entry,
    has_networks,
    legend_entry,
    shared_legend,
    title_panel,
)
from giantstep.figures.labels import (
    BEST_LINEAR,
    SAMPLE_COMPLEXITY,
    TEST_ERROR,
    axis_label,
    fixed_setting,
    format_parameter,
    function_label,
    is_parameter,
)
from giantstep.figures.learning_curves import draw_networks, draw_theory
from giantstep.figures.maps import level_lines, spacing
from giantstep.figures.selection import in_limit
from giantstep.figures.transition import draw_outliers
from giantstep.files import beside
from giantstep.problems.combinations import combinations
from giantstep.problems.formatting import stated_parameters
from giantstep.problems.inputs import GAUSSIAN
from giantstep.problems.targets import is_known_target
from giantstep.theory.bounds import best_linear_error
from giantstep.validation import refusal

# What is drawn of an answer unless something else is asked for, if it is there.
_DRAWN = "density", "learned_function", "test_error", "lower_bound", "alignment", "spike_strength"
# Errors that the best linear predictor has, too.
_ERRORS = ("test_error", "optimal_test_error", "upper_bound", "lower_bound")
_AXES = {"alpha": SAMPLE_COMPLEXITY, "test_error": TEST_ERROR}
# Along what, if it varies.
_ALONG = ("eigenvalue", "point", "s", "alpha")
# Two parameters with more values each than this are drawn as a map.
_CURVES = 8
_MOST_CURVES = 24
# Characters of a line along the axes.
_WIDTH, _HEIGHT = 44, 36


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
    with style.settings(), beside(path) as place:
        style.save(answer_figure(data, _shown(data, show)), place)


def answer_figure(data: xr.Dataset, name: str) -> Figure:
    """Draw a variable of an answer: curves along one parameter, or level lines over two."""
    if name == "density":  # that of logarithms of eigenvalues, as figures show it
        about = {"long_name": "density of ln x", "symbol": r"x\,\rho(x)"}
        data = data.assign(density=(data["density"] * data["eigenvalue"]).assign_attrs(about))
    figure, (axes,) = style.panels(1)
    limit = in_limit(data)[name]
    varying = [str(dim) for dim in limit.dims if data.sizes[dim] > 1]
    wide = [dim for dim in varying if data.sizes[dim] > _CURVES and _is_number(data, dim)]
    if len(varying) == 2 == len(wide):
        _draw_map(axes, limit.squeeze(drop=True), fixed_setting(data, varying))
    else:
        _draw_curves(axes, data, name, varying)
    return figure


def _shown(data: xr.Dataset, show: str | None) -> str:
    data = in_limit(data)
    names = [str(name) for name in data.data_vars if np.issubdtype(data[name].dtype, np.number)]
    if show is not None and show not in names:
        raise refusal("show", show, f"one of {', '.join(names)}")
    optima = [name for name in names if name.startswith("optimal_") and data[name].size > 1]
    # The first is the test error at the optimum, which says less than the optimum itself.
    drawn = [*optima[1:2], *(name for name in _DRAWN if name in names), *names]
    most = _MOST_CURVES * data.sizes.get("point", math.inf)
    if "density" in names and data["density"].size > most:
        drawn = ["outlier"]  # so many densities do not fit a picture
    name = show or max(drawn, key=lambda x: (np.unique(data[x]).size > 1, data[x].size > 1))
    if data[name].size == 1:
        text = "of an answer that varies: give several values of a parameter, such as alpha"
        raise refusal("plot", name, text)
    return name


def _is_number(data: xr.Dataset, dim: str) -> bool:
    return bool(np.issubdtype(data[dim].dtype, np.number))


def _draw_map(axes: Axes, values: xr.DataArray, setting: str) -> None:
    """Draw level lines; the first dimension is that of the vertical axis."""
    y, x = (str(dim) for dim in values.dims)
    gain = str(values.name).startswith(("gain_", "isotropic_"))
    level_lines(axes, values[x].values, values[y].values, values.values, percent=gain)
    axes.set(xlabel=_axis_label(values[x]), ylabel=_axis_label(values[y], _HEIGHT))
    title_panel(axes, 0, setting, _axis_label(values))


def _draw_curves(axes: Axes, data: xr.Dataset, name: str, varying: list[str]) -> None:
    """Draw a curve for all values of the other parameters; means of networks as markers."""
    numbers = [dim for dim in varying if _is_number(data, dim) and dim != "rank"] or varying
    along = next((dim for dim in _ALONG if dim in varying), None)
    along = along or max(numbers, key=lambda dim: data.sizes[dim])
    x = "eigenvalue" if along == "point" else along
    others = [dim for dim in varying if dim != along]
    count = int(np.prod([data.sizes[dim] for dim in others]))
    if count > _MOST_CURVES:
        text = f"in {_MOST_CURVES} curves at most; there are {count}"
        raise refusal("plot", name, text)
    if name == "outlier" and {*others} <= {"rank"} and _is_number(data, x):
        draw_outliers(axes, data, x)
    else:
        _draw_each(axes, data, x, name, others)
        _add_references(axes, data, x, name)
        _space(axes, data[x], in_limit(data)[name])
        axes.set_ylabel(_axis_label(data[name], _HEIGHT))
    axes.set_xlabel(_axis_label(data[x]))
    title_panel(axes, 0, fixed_setting(data, varying))
    shared_legend((axes,))


def _draw_each(axes: Axes, data: xr.Dataset, x: str, name: str, others: list[str]) -> None:
    """Draw the curves; those that differ in the bulk alone share a colour."""
    bulks = data["bulk"].values.tolist() if "bulk" in others else []
    lines = style.bulk_lines(bulks)
    coloured = [dim for dim in others if dim != "bulk"]
    chosen = list(combinations({dim: range(data.sizes[dim]) for dim in others}))
    keys = [tuple(data[dim].values[one[dim]].item() for dim in coloured) for one in chosen]
    looks = style.looks(keys)
    for one, key in zip(chosen, keys, strict=True):
        curve, look = data.isel(one).squeeze(), looks[key]
        label = ", ".join(_setting(curve, dim) for dim in others)
        line = lines[curve["bulk"].item()] if bulks else {}
        _draw_curve(axes, curve, x, name, look, label, **line)
    if len(chosen) > 1 and "theory" in data.dims:
        legend_entry(axes, r"theory, $d \to \infty$", color="black")
        finite_size_entry(axes, data, name)
        legend_entry(axes, "networks", linestyle="none", **style.look("black"))


def _add_references(axes: Axes, data: xr.Dataset, x: str, name: str) -> None:
    """Draw linear predictors beside errors, and the target beside what is learned."""
    if (linear := f"linear_{name}") in data:  # of given samples
        _draw_rows(axes, data[linear], x, "ridge regression on the inputs", style.REFERENCE)
    stated: dict[str, Any] = {"target": None, "inputs": GAUSSIAN}
    stated |= stated_parameters(data.attrs.get("problem", "Unknown()"))
    targets, inputs = (np.unique(data.get(name, stated[name])) for name in ("target", "inputs"))
    if name in _ERRORS and all(target and is_known_target(str(target)) for target in targets):
        for target, of in product(targets, inputs):
            axes.axhline(best_linear_error(str(target), str(of)), **style.REFERENCE)
        legend_entry(axes, BEST_LINEAR, **style.REFERENCE)
    if name == "learned_function" and "target_function" in data:
        known = len(targets) == 1 and targets[0] is not None
        label = rf"target $\sigma_\star = {function_label(str(targets[0]))}$" if known else "target"
        _draw_rows(axes, data["target_function"], x, label, style.TARGET)


def _draw_rows(axes: Axes, values: xr.DataArray, x: str, label: str, look: style.Look) -> None:
    """Draw all different rows of values along x, with one entry in the legend."""
    rows = values.transpose(..., x).values.reshape(-1, values.sizes[x])
    axes.plot(values[x], np.unique(rows, axis=0).T, **look)
    legend_entry(axes, label, **look)


def _space(axes: Axes, x: xr.DataArray, y: xr.DataArray) -> None:
    """Show both axes in equal ratios where their values need it."""
    for axis, values in (("x", x), ("y", y)):
        if values.name != "density" and np.issubdtype(values.dtype, np.number):
            spacing(axes, axis, values.values[np.isfinite(values.values)])
    if y.name == "density":
        axes.set_ylim(bottom=0)


def _draw_curve(
    axes: Axes, curve: xr.Dataset, x: str, name: str, look: style.Look, label: str, **line: Any
) -> None:
    at = curve[x].values
    at = at.astype(str) if at.dtype.kind in "OU" else at
    if f"{name}_stderr" in curve:
        stderr, label = curve[f"{name}_stderr"].values, label or "networks"
        error_bars(axes, at, curve[name].values, stderr, look, label=label)
        return
    if at.dtype.kind == "U":  # names are in no order
        axes.plot(at, in_limit(curve)[name].values, linestyle="none", label=label, **look)
        return
    theory = r"theory, $d \to \infty$" if "theory" in curve.dims else "theory"
    text = (label or theory) + (_outliers(curve) if name == "density" else "")
    draw_theory(axes, curve, name, look, x, label=text, **line)
    draw_networks(axes, curve, name, look, x)
    if not label:
        finite_size_entry(axes, curve, name, look["color"])
        legend_entry(axes, "networks" * has_networks(curve, name), linestyle="none", **look)


def _outliers(curve: xr.Dataset) -> str:
    """Write what of a spectrum is outside of the axes: outliers, and the share at zero."""
    values = np.atleast_1d(curve["outlier"].values) if "outlier" in curve else np.array([])
    shown = ", ".join(rf"${value:.3g}\,d$" for value in values[np.isfinite(values)])
    text = f", outlier at {shown}" if shown else ""
    zeros = curve["mass_at_zero"].item() if "mass_at_zero" in curve else 0.0
    return text + (rf", share ${zeros:.3g}$ at $x = 0$" if zeros > 0 else "")


def _setting(curve: xr.Dataset, dim: str) -> str:
    """Write the value of a parameter that differs between curves."""
    value = curve[dim].item()
    return f"${format_parameter(dim, value)}$" if is_parameter(dim) else f"{dim} {value}"


def _axis_label(values: xr.DataArray, longest: int = _WIDTH) -> str:
    """Write what a variable is, and its symbol."""
    if values.name in _AXES:
        return _AXES[values.name]
    if is_parameter(str(values.name)):
        return axis_label(str(values.name))
    about = values.attrs
    meaning = str(about.get("long_name", values.name))
    symbol = about.get("symbol", "")
    lines = "\n".join(wrap(meaning, longest))
    return f"{lines} ${symbol}$" if symbol else lines
