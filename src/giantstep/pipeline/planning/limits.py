"""Plans that could never run are refused before anything is listed, with what they would take."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

from giantstep.pipeline.planning.blocks import networks_per_shard
from giantstep.pipeline.planning.config import ConfigFault
from giantstep.pipeline.planning.config_models import Limits, SimulationSizes
from giantstep.pipeline.planning.figure_spec import (
    CurveSpec,
    FigureSpec,
    MapSpec,
    RecoverySpec,
)
from giantstep.pipeline.planning.simulation_work import (
    eigenvalues_memory,
    eigenvalues_work,
    network_memory,
    network_work,
    recovery_memory,
    recovery_work,
)
from giantstep.pipeline.planning.theory_work import (
    map_seconds,
    rates_seconds,
    theory_memory,
    theory_points,
    theory_seconds,
)
from giantstep.problems.bulk_kind import bulk_of_networks
from giantstep.problems.protocol import Protocol
from giantstep.problems.sizes import Sizes

_UNITS = {
    "core_hours": "core-hours",
    "memory": "GiB of memory in one job",
    "jobs": "jobs",
    "networks": "simulated networks",
    "points": "points of the theory",
}


@dataclass(frozen=True)
class Demand:
    """What a plan takes; memory is that of its largest job, in GiB."""

    core_hours: float = 0.0
    memory: float = 0.0
    jobs: int = 0
    networks: int = 0
    points: int = 0

    def __add__(self, other: Demand) -> Demand:
        return Demand(
            self.core_hours + other.core_hours,
            max(self.memory, other.memory),
            self.jobs + other.jobs,
            self.networks + other.networks,
            self.points + other.points,
        )


def limit_faults(
    limits: Limits, specs: Sequence[FigureSpec], simulation: SimulationSizes, file: str
) -> list[ConfigFault]:
    """List what of a plan is beyond the limits, counting without listing any network or job."""
    total = Demand()
    for spec in specs:
        for curve in spec.curves:
            for demand in _demands(curve, simulation):
                total += demand
    return [
        ConfigFault(
            file,
            f"limits.{field.name}",
            f"this configuration takes {_shown(needed)} {_UNITS[field.name]}, and must take at most"
            f" {_shown(allowed)}: make it smaller, or raise this limit",
        )
        for field in fields(Demand)
        if (needed := getattr(total, field.name)) > (allowed := getattr(limits, field.name))
    ]


def _shown(number: float) -> str:
    return f"{math.ceil(number):,}" if number < 1e15 else f"{number:.3g}"


def _demands(
    curve: CurveSpec | RecoverySpec | MapSpec, simulation: SimulationSizes
) -> Iterator[Demand]:
    """Yield the demand of each kind of result of a curve."""
    if isinstance(curve, MapSpec):
        points = len(curve.task.x_values) * len(curve.task.y_values)
        yield _demand(map_seconds(points), 0.0, jobs=1, points=points)
        return
    networks = curve.networks or simulation.networks
    if isinstance(curve, RecoverySpec):
        dimension = curve.dimension or simulation.dimension
        seconds = recovery_work(curve.problem, dimension).seconds
        memory = recovery_memory(curve.problem, dimension)
        yield _simulated(networks, seconds, memory, simulation)
        return
    problem, targets = curve.problem, curve.targets
    sizes = curve.sizes(Sizes(simulation.dimension, simulation.trainings, simulation.test_samples))
    if targets.theory:
        grid = targets.theory
        points = theory_points(grid, targets.optimal)
        yield _demand(0.0, 0.0, jobs=1)  # of the parameters
        for bulk in _bulks(curve):
            seconds = theory_seconds(problem, points, grid.loss, bulk)
            memory = theory_memory(points, grid.loss, bulk)
            yield _demand(seconds, memory, jobs=1, points=points)
    if targets.at_dimensions:
        grid = targets.at_dimensions
        points = theory_points(grid, optimal=False)
        solved = len(targets.dimensions) * points
        seconds = theory_seconds(problem, solved, grid.loss, curve.bulk)
        memory = theory_memory(points, grid.loss, curve.bulk)
        yield _demand(seconds, memory, jobs=1, points=solved)
    if targets.at_learning_rates and isinstance(problem, Protocol):
        grid, rates = targets.at_learning_rates, len(targets.learning_rates)
        points = theory_points(grid, optimal=False)
        seconds = rates_seconds(problem, rates, points, grid.loss, curve.bulk)
        memory = theory_memory(points, grid.loss, curve.bulk)
        yield _demand(seconds, memory, jobs=1, points=rates * problem.steps * points)
    if targets.spectrum is not None:
        seconds = eigenvalues_work(problem, targets.spectrum, sizes).seconds
        memory = eigenvalues_memory(problem, targets.spectrum, sizes)
        yield _demand(0.0, 0.0, jobs=1)  # of the density
        yield _simulated(networks, seconds, memory, simulation)
    if targets.simulation:
        seconds = network_work(problem, targets.simulation, sizes).seconds
        memory = network_memory(problem, targets.simulation, sizes)
        yield _simulated(networks, seconds, memory, simulation)


def _simulated(networks: int, seconds: float, memory: float, simulation: SimulationSizes) -> Demand:
    """Count what replicates take, in shards, from what one does."""
    size = simulation.networks_per_job or networks_per_shard(networks, seconds)
    return _demand(networks * seconds, memory, -(-networks // size), networks)


def _bulks(curve: CurveSpec) -> list[str]:
    """List the bulks of the theories of a curve."""
    return [curve.bulk, *([bulk_of_networks(curve.problem)] if curve.targets.finite_size else [])]


def _demand(seconds: float, memory: float, jobs: int, networks: int = 0, points: int = 0) -> Demand:
    """Make a demand from seconds and MiB."""
    return Demand(seconds / 3600, memory / 1024, jobs, networks, points)
