"""Figure S3: square and Huber loss, where a tenth of the labels are outliers."""

from __future__ import annotations

from typing import Any

import xarray as xr
from matplotlib.figure import Figure

from giantstep.figures.losses import draw_losses

# Near the best ridge of the Huber losses.
SHOWN_RIDGE, SHOWN_ALPHA = 0.25, 2.0


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset, by its YAML."""
    label = r"test error $\epsilon_g$"
    figure = draw_losses(data, config, "test_error", label, SHOWN_RIDGE, SHOWN_ALPHA)
    for axes in figure.axes:
        axes.set_yscale("log")
    return figure
