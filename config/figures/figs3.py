"""Figure S3: test errors of readouts with square and Huber loss, with a tenth of outliers."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path
from typing import Any

import xarray as xr
from matplotlib.figure import Figure

from giantstep.figures.elements import ticks
from giantstep.figures.labels import TEST_ERROR

draw_losses = run_path(str(Path(__file__).with_name("figs2.py")))["draw_losses"]
# Near the best ridge of the Huber losses.
_RIDGE, _ALPHA = 0.25, 2.0


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    figure = draw_losses(data, config, "test_error", TEST_ERROR, _RIDGE, _ALPHA)
    for axes in figure.axes:
        axes.set_yscale("log")
        ticks(axes, "y", (0.2, 0.3, 0.5, 1, 2))
    return figure
