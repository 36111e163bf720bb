"""Figure S2: 0-1 errors of square, hinge and logistic loss on a sign target."""

from __future__ import annotations

from typing import Any

import xarray as xr
from matplotlib.figure import Figure

from giantstep.figures.losses import draw_losses

# A ridge that is small for all losses, and the sample complexity at which n = p.
SHOWN_RIDGE, SHOWN_ALPHA = 0.01, 1.0


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset, by its YAML."""
    label = r"0-1 error $P(y\,\hat y < 0)$"
    return draw_losses(data, config, "classification_error", label, SHOWN_RIDGE, SHOWN_ALPHA)
