"""Figure 5: learning curves after one gradient step, one for each width."""

from giantstep.figures.learning_curves import learning_figure as draw

__all__ = ["draw"]
