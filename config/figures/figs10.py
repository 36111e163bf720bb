"""Figure S10: the effect of label noise, at a fixed ridge and at the best."""

from __future__ import annotations

from typing import Any

import xarray as xr
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import legends_under, title_panel
from giantstep.figures.labels import format_parameter
from giantstep.figures.learning_curves import learning_curves
from giantstep.figures.selection import in_limit, smallest_ridge


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    noisy = smallest_ridge(in_limit(data))
    figure, (left, right) = style.panels(2, sharey=True)
    learning_curves(left, noisy)
    title_panel(left, 0, f"${format_parameter('ridge', noisy['ridge'].values[0])}$")
    learning_curves(right, noisy, name="optimal_test_error")
    title_panel(right, 1, "best ridge")
    right.set_ylabel("")
    legends_under((left, right))
    return figure
