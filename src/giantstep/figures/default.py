"""Figures without code of their own: learning curves, one panel beside the other."""

from giantstep.figures.learning_curves import learning_figure as draw

__all__ = ["draw"]
