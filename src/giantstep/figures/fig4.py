"""Figure 4: learning curves of spiked random features, by spike strength and alignment."""

from __future__ import annotations

from typing import Any

import xarray as xr
from matplotlib.figure import Figure

from giantstep.figures.learning_curves import learning_figure
from giantstep.pipeline.stages.finite_size import finite_size_name


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML.

    The lines of the theory at the dimension of the simulations are left out: those of the limit
    would cover them.
    """
    covered = finite_size_name("test_error")
    return learning_figure(data.drop_vars(covered, errors="ignore"), config)
