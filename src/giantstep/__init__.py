"""Feature learning in two-layer networks after one gradient step: theory and simulation."""

__version__ = "0.1.0"

from giantstep.learning import Solution, Status, solve
from giantstep.protocol import Grid, Protocol, SpikedFeatures

__all__ = ["Grid", "Protocol", "Solution", "SpikedFeatures", "Status", "solve"]
