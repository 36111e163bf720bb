"""Figure S2: 0-1 errors of readouts with square, hinge and logistic loss on a sign target."""

from __future__ import annotations

from typing import Any

import xarray as xr
from matplotlib.figure import Figure

from giantstep.figures.loss_panels import draw_losses

# A ridge that is small for all losses, and the sample complexity at which n = p.
_RIDGE, _ALPHA = 0.01, 1.0


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    label = r"0-1 error $P(y\,\hat y < 0)$"
    return draw_losses(data, config, "classification_error", label, _RIDGE, _ALPHA)
