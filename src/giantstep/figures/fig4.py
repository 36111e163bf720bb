"""Figure 4: learning curves of spiked random features, over spike strength and alignment."""

from giantstep.figures.curves import learning_figure as draw

__all__ = ["draw"]
