"""Curves of several panels in one plot: test error by sample complexity, or by what a panel lists.

A panel that lists values of one parameter is one curve along it. A further panel with the same
title adds its networks to that curve, as markers.
"""

from __future__ import annotations

from typing import Any

import xarray as xr
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import (
    best_linear,
    legend_entry,
    legends_under,
    theory_entries,
)
from giantstep.figures.labels import SAMPLE_COMPLEXITY, TEST_ERROR, axis_label
from giantstep.figures.learning_curves import draw_networks, draw_theory
from giantstep.figures.maps import spacing
from giantstep.figures.selection import distinct, panel_data, select


def compared_panels(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    figure, (axes,) = style.panels(1)
    panels = config["panels"]
    along = varied_parameter(next(iter(panels.values())))
    titles = {name: panel.get("title", name) for name, panel in panels.items()}
    looks = style.looks(titles.values())
    lines = style.bulk_lines(distinct(data, "bulk"))
    drawn: set[str] = set()
    for name, panel in panels.items():
        look = looks[titles[name]]
        quantity = "optimal_test_error" if panel.get("optimal") else "test_error"
        for bulk in distinct(panel_data(data, name), "bulk"):
            curve = select(data, panel=name, bulk=bulk)
            at = {"alpha": 0, "alpha_simulated": 0} if along else {"curve": 0}
            curve = (curve.sortby(along) if along else curve).isel(at, missing_dims="ignore")
            if titles[name] not in drawn:
                draw_theory(axes, curve, quantity, look, along or "alpha", **lines[bulk])
            draw_networks(axes, curve, quantity, look, along or "alpha_simulated")
        drawn.add(titles[name])
    if any(panel.get("best_linear") for panel in panels.values()):
        best_linear(axes, data)
    for title, look in looks.items():
        legend_entry(axes, title, **look)
    theory_entries(axes, data, "test_error")
    axes.set(xlabel=axis_label(along) if along else SAMPLE_COMPLEXITY, ylabel=TEST_ERROR)
    if along:
        spacing(axes, "x", data[along].values)
    axes.set_ylim(bottom=0)
    legends_under((axes,))
    return figure


def varied_parameter(panel: dict[str, Any]) -> str | None:
    """Return the parameter of which a panel lists numbers; None for sample complexities."""
    lists = (name for name, value in panel.items() if isinstance(value, list))
    return next((name for name in lists if not isinstance(panel[name][0], str | dict)), None)
