"""Figures without code of their own: learning curves or maps, one panel beside the other."""

from __future__ import annotations

from typing import Any

import xarray as xr
from matplotlib.figure import Figure

from giantstep.figures.learning_curves import learning_figure
from giantstep.figures.maps import map_figure


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw maps if the figure's panels are maps, and learning curves otherwise.

    Raises
    ------
    ValueError
        If only some panels are maps, or the data hold no test errors.
    """
    maps = [name for name, panel in config["panels"].items() if "x" in panel]
    if not maps:
        return learning_figure(data, config)
    if len(maps) < len(config["panels"]):
        raise ValueError(
            f"only the panels {', '.join(maps)} are maps: move them to a figure of their own, or"
            " write draw(data, config) into NAME.py beside the figure's YAML"
        )
    return map_figure(data, config)
