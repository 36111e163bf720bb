"""Figure 4: learning curves of spiked random features, by spike strength and alignment."""

from __future__ import annotations

from typing import Any

import xarray as xr
from matplotlib.figure import Figure

from giantstep.figures import default
from giantstep.figures.selection import in_limit


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML.

    The lines of the theory at the dimension of the simulations are left out: those of the limit
    would cover them.
    """
    return default.draw(in_limit(data), config)
