"""Feature learning in two-layer networks after one gradient step: theory and simulation."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.solution import Solution
from giantstep.theory.solve import solve
from giantstep.theory.status import Status

if TYPE_CHECKING:
    from giantstep.pipeline.storage.open_figure import open_figure

__all__ = ["Grid", "Protocol", "Solution", "SpikedFeatures", "Status", "open_figure", "solve"]


def __getattr__(name: str) -> Any:
    """Import what needs xarray on demand only: it takes as long as everything else."""
    if name == "open_figure":
        from giantstep.pipeline.storage.open_figure import open_figure

        return open_figure
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
