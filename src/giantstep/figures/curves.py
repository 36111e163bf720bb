"""Learning curves: theory as lines, simulation as markers with their standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.numerics.scalar_functions import lookup
from giantstep.pipeline.storage.netcdf import MEANINGS
from giantstep.problems.bulk_kind import ISOTROPIC, TRAINED, TRAINED_NORMS


def panel_data(data: xr.Dataset, panel: str) -> xr.Dataset:
    """Select the curves of one panel."""
    return data.isel(curve=np.flatnonzero(data["panel"].values == panel))


def only(data: xr.Dataset, **values: Any) -> xr.Dataset:
    """Select the curves that have some values."""
    wanted = [data[name].values == value for name, value in values.items()]
    return data.isel(curve=np.flatnonzero(np.all(wanted, axis=0)))


BULK_LABELS = {
    ISOTROPIC: "isotropic bulk",
    TRAINED: "trained bulk",
    TRAINED_NORMS: "trained bulk and norms",
}
# A label of so many characters of LaTeX takes a row of its own.
WIDE = 60
# What a panel's title says beside the functions, where its curves share it: of a step, of an sRF.
TITLED = (("learning_rate", "ridge"), ("spike_strength", "alignment", "ridge"))


def written(name: str, value: str) -> str:
    """Write a parameter in LaTeX, by its symbol."""
    symbol = MEANINGS[name].symbol
    if name in ("readout", "bias"):
        pairs = value.split()
        letters, shares = zip(*(pair.split(":") for pair in pairs), strict=True)
        alike = len({f"{float(share):.4f}" for share in shares}) == 1
        values = ",".join(letters if alike else pairs)
        return rf"{symbol} \in \{{{values}\}}"
    if name == "reuse_batch":
        return r"\mathrm{one\ batch}" if value == "true" else r"\mathrm{fresh\ batches}"
    try:
        float(value)
    except ValueError:  # a name
        return r"\mathrm{" + value.replace("_", r"\ ") + "}"
    value = value.replace("inf", r"\infty")
    return f"{symbol} = {value}"


def varied(data: xr.Dataset, curve: int) -> dict[str, str]:
    """Give the parameters that set a curve apart, and their values, as its name spells them out."""
    _, _, parts = str(data["curve"].values[curve]).partition(":")
    pairs = (part.partition("=") for part in parts.split(",") if "=" in part)
    return {name: value for name, _, value in pairs}


def label(data: xr.Dataset, curve: int, besides: Sequence[str] = ()) -> str:
    """Name a curve by what sets it apart from the others, `besides` some parameters."""
    values = varied(data, curve).items()
    parts = [written(name, value) for name, value in values if name not in besides]
    return ", ".join(f"${part}$" for part in parts) or str(data["curve"].values[curve])


def learning_curves(axes: Axes, data: xr.Dataset, colours: Sequence[str] | None = None) -> None:
    """Draw the test error of every curve of `data` against the sample complexity.

    Curves that only their bulk sets apart share colour and markers, for they share simulations.
    Points where the theory failed are gaps in the line, marked by crosses on the axis.
    """
    labels = [label(data, i, besides=("bulk",)) for i in range(data.sizes["curve"])]
    looks = dict(zip(dict.fromkeys(labels), style.cycle(len(set(labels)), colours), strict=True))
    lines = dict(zip(dict.fromkeys(data["bulk"].values), style.LINES, strict=False))
    new = set(labels)
    for i, text in enumerate(labels):
        curve, look = data.isel(curve=i), looks[text]
        line = lines[curve["bulk"].item()]
        if "alpha" in curve.dims:  # several steps have no theory
            axes.plot(curve["alpha"], curve["test_error"], color=look["color"], linestyle=line)
            mark_failures(axes, "alpha", curve, look["color"])
        if text in new and "alpha_simulated" in curve:
            markers(axes, curve["alpha_simulated"], curve, "test_error", look)
        if text in new:  # one entry stands for both: the line, and the marker on it
            axes.plot([], [], label=text, **look)
            new.remove(text)
    if len(lines) > 1:
        for name, line in lines.items():
            axes.plot([], [], color="black", linestyle=line, label=BULK_LABELS[name])
    axes.set_xlabel(r"sample complexity $\alpha = n/d$")
    axes.set_ylabel(r"test error $\epsilon_g$")
    axes.set_xlim(left=0)


def mark_failures(axes: Axes, along: str, curve: xr.Dataset, colour: str) -> None:
    """Mark by crosses on the axis, along some coordinate, where the theory failed."""
    failed = curve[along].values[curve["status"].values > 0]
    if failed.size:  # an empty scatter would upset the layout
        on_axis = axes.get_xaxis_transform()
        axes.scatter(failed, 0 * failed, marker="x", color=colour, transform=on_axis, clip_on=False)


def markers(axes: Axes, x: Any, curve: xr.Dataset, name: str, look: dict[str, Any]) -> None:
    """Draw simulated means of what is called `name`, with their standard errors."""
    mean, stderr = (curve[f"simulated_{name}_{part}"] for part in ("mean", "stderr"))
    axes.errorbar(x, mean, stderr, linestyle="none", zorder=3, **look)


def limits(axes: Axes, data: xr.Dataset, panel: dict[str, Any]) -> None:
    """Draw, dashed, the limits on the test error that a panel asks for."""
    dashed: dict[str, Any] = {"linestyle": style.DASHED, "linewidth": 0.9}
    if panel.get("best_linear"):
        for bound in np.unique(data["best_linear_error"].values):
            axes.axhline(bound, color="black", **dashed)
        axes.plot([], [], color="black", label="best linear", **dashed)
    if panel.get("lower_bound"):
        for look, bound in zip(
            style.cycle(data.sizes["curve"]), data["lower_bound"].values, strict=True
        ):
            axes.axhline(bound, color=look["color"], **dashed)
        axes.plot([], [], color="black", label="lower bound (27)", **dashed)


def learning_panel(
    axes: Axes, data: xr.Dataset, config: dict[str, Any], name: str, index: int
) -> None:
    """Draw one panel of a figure's YAML as learning curves."""
    shown = panel_data(data, name)
    learning_curves(axes, shown, config.get("style", {}).get("colours"))
    limits(axes, shown, config["panels"][name])
    heading(axes, index, setting(shown))
    entries = axes.get_legend_handles_labels()[1]
    legend_above(axes, columns=2 if max(map(len, entries)) < WIDE else 1)


def learning_figure(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw one panel of learning curves for each panel of a figure's YAML.

    Raises
    ------
    ValueError
        If the data hold no test errors.
    """
    if not {"alpha", "alpha_simulated"} & set(data.dims):
        raise ValueError("learning curves need theory.alpha or simulation.alpha in the YAML")
    names = [name for name, panel in config["panels"].items() if "teacher" not in panel]
    columns = min(len(names), 2)
    rows = -(-len(names) // columns)
    figure = Figure(figsize=style.size(columns, rows))
    places = figure.subplots(rows, columns, squeeze=False).ravel()
    for empty in places[len(names) :]:
        empty.remove()
    for i, name in enumerate(names):
        learning_panel(places[i], data, config, name, i)
    return figure


def legend_above(axes: Axes, columns: int) -> None:
    """Put the legend above the data, making room for it on an axis that starts at zero or below."""
    entries = len(axes.get_legend_handles_labels()[1])
    rows = -(-entries // columns)
    bottom = min(0.0, axes.dataLim.ymin * 1.06)
    top = axes.dataLim.ymax
    axes.set_ylim(bottom, top + (top - bottom) * (0.06 + 0.13 * rows))
    axes.legend(loc="upper right", ncols=columns, columnspacing=1.2)


def legend_beside(axes: Axes) -> None:
    """Put the legend to the right of the panel, off all data."""
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)


def setting(data: xr.Dataset) -> str:
    """Write what all curves of a panel share: functions, and the parameters worth a title."""
    functions = {"activation": r"\sigma", "target": r"\sigma_\star"}
    stepped = "learning_rate" in data and not np.isnan(data["learning_rate"].values[0])
    shared = [name for name in TITLED[0 if stepped else 1] if name not in varied(data, 0)]
    parts = [
        f"{symbol} = {lookup(data[name].values[0]).label}"
        for name, symbol in functions.items()
        if name not in varied(data, 0)
    ]
    parts += [
        written(name, f"{data[name].values[0]:g}")
        for name in shared
        if name in data and data[name].ndim == 1
    ]
    return "$" + r",\ ".join(parts) + "$"


def heading(axes: Axes, index: int, text: str) -> None:
    """Title a panel, its letter in front; a figure's only panel needs none."""
    assert axes.figure is not None
    letter = rf"$\mathbf{{({chr(ord('a') + index)})}}$  " if len(axes.figure.axes) > 1 else ""
    axes.set_title(letter + text, loc="left")
