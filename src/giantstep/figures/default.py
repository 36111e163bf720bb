"""Figures without code of their own: learning curves and maps, one panel beside the other."""

from __future__ import annotations

from typing import Any

import xarray as xr
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import legends_under, shared_legend
from giantstep.figures.learning_curves import learning_panel
from giantstep.figures.maps import titled_map


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw each panel of the figure's YAML: a map if it has axes, and else learning curves."""
    maps = ["x" in panel for panel in config["panels"].values()]
    figure, places = style.panels(len(maps))
    for index, name in enumerate(config["panels"]):
        draw_panel = titled_map if maps[index] else learning_panel
        draw_panel(places[index], data, config, name, index)
    (shared_legend if all(maps) else legends_under)(places)
    return figure
