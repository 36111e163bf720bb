"""Figure S13: maps of what one step gains, and where theories part."""

from giantstep.figures.maps import map_figure as draw

__all__ = ["draw"]
