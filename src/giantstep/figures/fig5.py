"""Figure 5: the effect of the width on the test error after one step."""

from giantstep.figures.curves import learning_figure as draw

__all__ = ["draw"]
