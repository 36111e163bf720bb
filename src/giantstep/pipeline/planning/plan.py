"""From the configuration to a plan: the curves of each figure, and tasks by the keys of results."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import giantstep
from giantstep.pipeline.planning.blocks import Simulation, split
from giantstep.pipeline.planning.config import ConfigFault, InvalidConfigError
from giantstep.pipeline.planning.config_models import NAME_PATTERN, Config
from giantstep.pipeline.planning.config_schema import check_config
from giantstep.pipeline.planning.drawing import drawing_of
from giantstep.pipeline.planning.figure_config import read_figure
from giantstep.pipeline.planning.figure_plan import FigurePlan
from giantstep.pipeline.planning.figure_spec import (
    CurveSpec,
    FigureSpec,
    MapSpec,
    RecoverySpec,
    Targets,
)
from giantstep.pipeline.planning.keys import result_keys
from giantstep.pipeline.planning.layout import TASK_STAGES
from giantstep.pipeline.planning.limits import limit_faults
from giantstep.pipeline.planning.own_package import check_own_package, code_folder
from giantstep.pipeline.planning.shard_task import ShardTask
from giantstep.pipeline.planning.tasks import (
    Curve,
    DimensionsTask,
    EigenvaluesTask,
    LearningRatesTask,
    ParametersTask,
    RecoveryTask,
    SpectrumTask,
    Task,
    TheoryTask,
)
from giantstep.pipeline.planning.versions import library_versions
from giantstep.problems.bulk_kind import ISOTROPIC, bulk_of_networks
from giantstep.problems.grid import Grid
from giantstep.problems.losses import SQUARE
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol, theory_faults
from giantstep.problems.recovery import check_dimension
from giantstep.problems.sizes import Sizes, check_sizes
from giantstep.theory.features.conditional_features import check_resolution
from giantstep.theory.features.equivalent_features import equivalent_features
from giantstep.validation import InvalidParametersError, shown

CONFIG = "config/config.yaml (with its overlays)"
# Characters that no path of a project may contain, and why.
_UNUSABLE = {":": "separates paths in PYTHONPATH", "\\": "is in no path that netCDF can open"}
# Gradient steps that a plan follows to check a problem.
_PLANNED_STEPS = 3


@dataclass(frozen=True)
class Plan:
    """All that the workflow can make; `tasks` are by stage, then by key.

    `root` is the folder that holds workflow/: the project, or the installed package.
    """

    root: Path
    figures: dict[str, FigurePlan]
    tasks: dict[str, dict[str, Task]]


def make_plan(root: Path, config: dict[str, Any]) -> Plan:
    """Check the whole configuration, and plan every figure that it names.

    Parameters
    ----------
    root : Path
        The project's folder, which holds config/.
    config : dict
        The content of config/config.yaml and its overlays.

    Raises
    ------
    InvalidConfigError
        With every fault of every file.
    UntraceableCodeError
        If code uses what no key can cover.
    ForeignPackageError
        If the code that is loaded is not the project's.
    """
    check_own_package(root)
    checked, faults = check_config(Config, config, CONFIG)
    faults += _folder_faults(root)
    specs = [read_figure(root, name) for name in _figure_names(config)]
    if not faults:
        sizes = _sizes(config["simulation"])
        for spec in specs:
            _check_sizes(spec, sizes)
    faults += [fault for spec in specs for fault in spec.faults]
    if checked and not faults:
        faults = limit_faults(checked.limits, specs, checked.simulation, CONFIG)
    if faults:
        raise InvalidConfigError(faults)
    simulation = {k: v for k, v in config["simulation"].items() if k != "networks_per_job"}
    tasks: dict[str, dict[str, Task]] = {stage.name: {} for stage in TASK_STAGES}
    versions = library_versions() if config.get("strict_versions") else ""
    plan = Plan(code_folder(root), {}, tasks)
    builder = _Builder(plan, sizes, config["simulation"], config["seed"], versions)
    for spec in specs:
        curves = tuple(builder.curve(curve) for curve in spec.curves)
        plan.figures[spec.name] = FigurePlan(
            spec.name,
            spec.config,
            drawing_of(root, spec.name),
            curves,
            simulation,
            config["seed"],
            versions,
            giantstep.__version__,
        )
    return plan


def _folder_faults(root: Path) -> list[ConfigFault]:
    """Refuse a project in a folder in which its jobs could not run."""
    folder = str(root.absolute())
    return [
        ConfigFault(folder, "name of the folder", f"{character} {why}: choose another name")
        for character, why in _UNUSABLE.items()
        if character in folder
    ]


def _figure_names(config: dict[str, Any]) -> list[str]:
    """List the figures that can be checked, in a config that may be faulty."""
    names = config.get("figures") if isinstance(config, dict) else None
    if not isinstance(names, list):
        return []
    return [n for n in names if isinstance(n, str) and re.fullmatch(NAME_PATTERN, n)]


def _sizes(simulation: dict[str, Any]) -> Sizes:
    return Sizes(simulation["dimension"], simulation["trainings"], simulation["test_samples"])


def _check_sizes(spec: FigureSpec, sizes: Sizes) -> None:
    """Refuse curves that cannot be simulated at the configured sizes, or solved."""
    for curve in spec.curves:
        if isinstance(curve, MapSpec):
            continue
        if isinstance(curve, RecoverySpec):
            try:
                check_dimension(curve.problem, curve.dimension or sizes.dimension)
            except InvalidParametersError as error:
                spec.add_faults(curve.panel, error)
            continue
        for section, grid in _simulated(curve.targets):
            try:
                check_sizes(curve.problem, grid, curve.sizes(sizes))
            except InvalidParametersError as error:
                _add_fault(spec, curve, error, section)
        if curve.targets.theory or curve.targets.spectrum is not None:
            try:
                dimension = curve.sizes(sizes).dimension
                problem = _with_first_steps(curve.problem)
                check_resolution(problem, equivalent_features(problem, dimension))
            except InvalidParametersError as error:
                spec.add_faults(curve.panel, error)


def _with_first_steps(problem: Problem) -> Problem:
    """Leave out later steps, which take the theory too long for a plan; jobs check those."""
    if not isinstance(problem, Protocol):
        return problem
    return replace(problem, steps=min(problem.steps, _PLANNED_STEPS))


def _simulated(targets: Targets) -> Iterator[tuple[str, Grid]]:
    """Yield the simulated grids of a curve, each with the section of the YAML that sets it."""
    if targets.simulation:
        yield "simulation", targets.simulation
    if targets.spectrum is not None:
        yield "spectrum", Grid((targets.spectrum,), (1.0,))


def _add_fault(
    spec: FigureSpec, curve: CurveSpec, error: InvalidParametersError, section: str
) -> None:
    for fault in error.faults:
        if fault.name not in ("dimension", "test_samples") or getattr(curve, fault.name):
            spec.add_faults(curve.panel, InvalidParametersError([fault]), section)
            continue
        text = f"{shown(fault.value)} must be {fault.allowed}"
        if (found := ConfigFault(CONFIG, f"simulation.{fault.name}", text)) not in spec.faults:
            spec.faults.append(found)


def _theories(spec: CurveSpec, grid: Grid, dimension: int) -> list[Task]:
    """List the theory of a curve as d → ∞, and, if asked for, that of its simulations.

    Smaller steps have no such limit, and always the other.
    """
    limit = TheoryTask(spec.problem, grid, spec.targets.optimal, spec.bulk)
    finite = replace(limit, bulk=bulk_of_networks(spec.problem), dimension=dimension)
    if _takes_smaller_step(spec.problem):
        return [finite]
    return [limit, finite] if spec.targets.finite_size else [limit]


def _takes_smaller_step(problem: Problem) -> bool:
    return isinstance(problem, Protocol) and not problem.is_giant_step


class _Builder:
    """Turns specs of curves into tasks, and registers these under their keys."""

    def __init__(
        self, plan: Plan, sizes: Sizes, simulation: dict[str, Any], root_seed: int, versions: str
    ) -> None:
        self.plan, self.sizes = plan, sizes
        self.root_seed, self.versions = root_seed, versions
        self.networks = simulation["networks"]
        self.per_job = simulation.get("networks_per_job")

    def curve(self, spec: CurveSpec | RecoverySpec | MapSpec) -> Curve:
        """Register the tasks of a curve."""
        if isinstance(spec, MapSpec):
            keys = self._register({"maps": [spec.task]})
            return Curve(spec.name, spec.panel, spec.task.problem, ISOTROPIC, SQUARE, 0, keys)
        networks = tuple(range(spec.networks or self.networks))
        if isinstance(spec, RecoverySpec):
            dimension = spec.dimension or self.sizes.dimension
            task = RecoveryTask(spec.problem, dimension, networks, self.root_seed)
            keys = self._register({"recovery": self._shards(task)})
            return Curve(spec.name, spec.panel, spec.problem, "", "", dimension, keys)
        sizes = spec.sizes(self.sizes)
        keys = self._register(self._tasks(spec, sizes, networks))
        named = spec.name, spec.panel, spec.problem, spec.bulk, spec.loss
        return Curve(*named, sizes.dimension, keys)

    def _tasks(
        self, spec: CurveSpec, sizes: Sizes, networks: tuple[int, ...]
    ) -> dict[str, list[Task]]:
        """List the tasks of a curve by stage."""
        problem, targets, seed = spec.problem, spec.targets, self.root_seed
        tasks: dict[str, list[Task]] = {}
        if not isinstance(problem, Protocol) or not theory_faults(problem):
            dimension = sizes.dimension if _takes_smaller_step(problem) else math.inf
            tasks["parameters"] = [ParametersTask(problem, dimension)]
        if targets.theory:
            tasks["theory"] = _theories(spec, targets.theory, sizes.dimension)
        if targets.at_dimensions:
            task = DimensionsTask(problem, targets.at_dimensions, spec.bulk, targets.dimensions)
            tasks["dimensions"] = [task]
        if targets.at_learning_rates and isinstance(problem, Protocol):
            grid, rates = targets.at_learning_rates, targets.learning_rates
            tasks["learning_rates"] = [LearningRatesTask(problem, grid, spec.bulk, rates)]
        if targets.spectrum is not None:
            dimension = sizes.dimension if targets.finite_size else math.inf
            tasks["spectrum"] = [SpectrumTask(problem, targets.spectrum, spec.bulk, dimension)]
            of_layer = Sizes(sizes.dimension)
            eigenvalues = EigenvaluesTask(problem, targets.spectrum, of_layer, networks, seed)
            tasks["eigenvalues"] = self._shards(eigenvalues)
        if targets.simulation:
            simulation = ShardTask(problem, targets.simulation, sizes, networks, seed)
            tasks["montecarlo"] = self._shards(simulation)
        return tasks

    def _shards(self, task: Simulation) -> list[Task]:
        return list(split(task, self.per_job))

    def _register(self, tasks: Mapping[str, Sequence[Task]]) -> dict[str, tuple[str, ...]]:
        """Add tasks to the plan, and return their keys by stage, in the order of the stages."""
        found = {}
        for stage in TASK_STAGES:
            if stage.name in tasks:
                keys = result_keys(self.plan.root, stage, tasks[stage.name], self.versions)
                self.plan.tasks[stage.name].update(zip(keys, tasks[stage.name], strict=True))
                found[stage.name] = keys
        return found
