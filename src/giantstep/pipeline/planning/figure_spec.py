"""The curves that a figure's YAML describes, and the faults found in it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from giantstep.pipeline.planning.config import FIGURES, ConfigFault
from giantstep.pipeline.planning.tasks import MapTask
from giantstep.problems.bulk_kind import ISOTROPIC
from giantstep.problems.grid import Grid
from giantstep.problems.losses import SQUARE
from giantstep.problems.problem import Problem
from giantstep.problems.recovery import Recovery
from giantstep.problems.sizes import Sizes
from giantstep.validation import InvalidParametersError, shown


@dataclass(frozen=True)
class Targets:
    """What is computed of a curve; None where nothing of a kind is.

    Attributes
    ----------
    theory, simulation : Grid or None
        The theory's grid includes the simulated points.
    optimal : bool
        Whether theory is also solved at the best ridge of each sample complexity.
    spectrum : float or None
        The sample complexity at which the features' spectrum is computed.
    at_dimensions : Grid or None
    dimensions : tuple of float
        The grid on which theory is solved at each of some dimensions, and these.
    at_learning_rates : Grid or None
    learning_rates : tuple of float
        The grid on which theory is solved after each step at each of some rates, and these.
    finite_size : bool
        Whether theory is also solved for the networks that are simulated: at their dimension, and
        with the bulk that a step leaves.
    """

    theory: Grid | None = None
    simulation: Grid | None = None
    optimal: bool = False
    spectrum: float | None = None
    at_dimensions: Grid | None = None
    dimensions: tuple[float, ...] = ()
    at_learning_rates: Grid | None = None
    learning_rates: tuple[float, ...] = ()
    finite_size: bool = False

    def with_loss(self, loss: str) -> Targets:
        """Return the same targets for readouts that minimise a loss."""
        names = "theory", "simulation", "at_dimensions", "at_learning_rates"
        grids = {n: replace(grid, loss=loss) for n in names if (grid := getattr(self, n))}
        return replace(self, **grids)


@dataclass(frozen=True)
class CurveSpec:
    """One curve as its figure's YAML describes it.

    Attributes
    ----------
    name, panel : str
    problem : Protocol or SpikedFeatures
    targets : Targets
    bulk : str
        The bulk that the theory assumes, one of `bulk_kind.BULKS`.
    loss : str
        What the readout minimises.
    dimension, networks, test_samples : optional
        Sizes of its simulations, by default the config's.
    """

    name: str
    panel: str
    problem: Problem
    targets: Targets
    bulk: str = ISOTROPIC
    loss: str = SQUARE
    dimension: int | None = None
    networks: int | None = None
    test_samples: int | Literal["exact"] | None = None

    def sizes(self, default: Sizes) -> Sizes:
        """Return the sizes of its simulations: its panel's own, or else the config's."""
        own: dict[str, Any] = {"dimension": self.dimension, "test_samples": self.test_samples}
        return replace(default, **{name: size for name, size in own.items() if size is not None})


@dataclass(frozen=True)
class RecoverySpec:
    """One curve of a recovery panel; dimension and networks are by default the config's."""

    name: str
    panel: str
    problem: Recovery
    dimension: int | None = None
    networks: int | None = None


@dataclass(frozen=True)
class MapSpec:
    """One map: the theory over two parameters."""

    name: str
    panel: str
    task: MapTask


@dataclass
class FigureSpec:
    """One figure's YAML, the curves that it describes, and its faults."""

    name: str
    config: dict[str, Any] = field(default_factory=dict)
    curves: list[CurveSpec | RecoverySpec | MapSpec] = field(default_factory=list)
    faults: list[ConfigFault] = field(default_factory=list)

    @property
    def file(self) -> str:
        """The YAML's name, for messages."""
        return f"{FIGURES}/{self.name}.yaml"

    def add_fault(self, path: str, problem: str) -> None:
        """Record a fault, once."""
        fault = ConfigFault(self.file, path, problem)
        if fault not in self.faults:
            self.faults.append(fault)

    def add_faults(
        self, panel: str, error: InvalidParametersError, section: str = "simulation"
    ) -> None:
        """Record the faults of a panel's parameters; those of alpha belong to `section`."""
        for fault in error.faults:
            place = section if fault.name == "alpha" else f"panels.{panel}"
            self.add_fault(f"{place}.{fault.name}", f"{shown(fault.value)} must be {fault.allowed}")
