"""Figure 4: learning curves of spiked random features, by spike strength and alignment."""

from giantstep.figures.learning_curves import learning_figure as draw

__all__ = ["draw"]
