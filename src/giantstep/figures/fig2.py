"""Figure 2: test error against sample complexity, one curve for each size of the first batch."""

from giantstep.figures.learning_curves import learning_figure as draw

__all__ = ["draw"]
