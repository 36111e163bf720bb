"""What a job of each stage is to compute, and the results of each curve.

The fields of a task are the arguments of `compute` in the stage's module. With the code, they are
all that the result depends on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from giantstep.pipeline.planning.shard_task import ShardTask
from giantstep.problems.grid import Grid
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.recovery import Recovery
from giantstep.problems.sizes import Sizes


@dataclass(frozen=True)
class ParametersTask:
    """The equivalent spiked random features of one curve.

    The dimension is infinite for the giant step, whose features do not depend on it.
    """

    problem: Problem
    dimension: float = field(default=math.inf, metadata={"later": True})


@dataclass(frozen=True)
class TheoryTask:
    """The theory of one curve on its grid; with `optimal`, at the best ridge too.

    A finite dimension is that of the networks which are simulated.
    """

    problem: Problem
    grid: Grid
    optimal: bool
    bulk: str
    dimension: float = math.inf


@dataclass(frozen=True)
class DimensionsTask:
    """The theory's test error of one curve at several dimensions."""

    problem: Problem
    grid: Grid
    bulk: str
    dimensions: tuple[float, ...]


@dataclass(frozen=True)
class LearningRatesTask:
    """The theory's test error of one curve after each step, at several learning rates."""

    problem: Protocol
    grid: Grid
    bulk: str
    learning_rates: tuple[float, ...]


@dataclass(frozen=True)
class SpectrumTask:
    """The theoretical spectrum of one curve's features, at one sample complexity.

    With a finite dimension, outliers at that dimension, too.
    """

    problem: Problem
    alpha: float
    bulk: str
    dimension: float = math.inf


@dataclass(frozen=True)
class EigenvaluesTask:
    """The eigenvalues of one curve's simulated features."""

    problem: Problem
    alpha: float
    sizes: Sizes
    networks: tuple[int, ...]
    root_seed: int


@dataclass(frozen=True)
class RecoveryTask:
    """The overlaps of trained networks of one dimension with a multi-index teacher."""

    problem: Recovery
    dimension: int
    networks: tuple[int, ...]
    root_seed: int


@dataclass(frozen=True)
class MapTask:
    """The theory over two parameters of a protocol, whose own values of these mean nothing."""

    problem: Protocol
    x_parameter: str
    x_values: tuple[float, ...]
    y_parameter: str
    y_values: tuple[float, ...]
    alpha: float
    ridge: float


Task = (
    ParametersTask
    | TheoryTask
    | DimensionsTask
    | LearningRatesTask
    | SpectrumTask
    | ShardTask
    | EigenvaluesTask
    | RecoveryTask
    | MapTask
)


@dataclass(frozen=True)
class Curve:
    """One curve of a figure.

    Attributes
    ----------
    name, panel : str
    problem : Protocol, SpikedFeatures or Recovery
    bulk, loss : str
        Of the theory, and of the readouts; empty for a panel of recovery.
    dimension : int
        Of its simulations.
    keys : mapping of str to tuple of str
        The keys of its results by stage, in the order of the stages.
    """

    name: str
    panel: str
    problem: Problem | Recovery
    bulk: str
    loss: str
    dimension: int
    keys: Mapping[str, tuple[str, ...]]

    @property
    def made_from(self) -> tuple[str, ...]:
        """The keys of its results, without how replicates are split over shards."""
        keys = (key.partition("/")[0] for keys in self.keys.values() for key in keys)
        return tuple(dict.fromkeys(keys))
