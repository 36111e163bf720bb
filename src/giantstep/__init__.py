"""Feature learning in two-layer networks after one gradient step: theory and simulation."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from giantstep.pipeline.storage.open_figure import open_figure
    from giantstep.problems.grid import Grid
    from giantstep.problems.protocol import Protocol
    from giantstep.problems.spiked_features import SpikedFeatures
    from giantstep.theory.solution import Solution
    from giantstep.theory.solve import solve
    from giantstep.theory.status import Status

__all__ = ["Grid", "Protocol", "Solution", "SpikedFeatures", "Status", "open_figure", "solve"]


def __getattr__(name: str) -> Any:
    """Import what is asked for: importing any module of the package runs this one first."""
    from importlib import import_module

    homes = {
        "Grid": "problems.grid",
        "Protocol": "problems.protocol",
        "Solution": "theory.solution",
        "SpikedFeatures": "problems.spiked_features",
        "Status": "theory.status",
        "open_figure": "pipeline.storage.open_figure",
        "solve": "theory.solve",
    }
    if name not in homes:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{homes[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
