"""From configs to what is to be computed: curves, the stages' tasks, and the keys of results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from giantstep.pipeline.planning.config import ConfigFault, InvalidConfigError
from giantstep.pipeline.planning.config_models import NAME_PATTERN, Config
from giantstep.pipeline.planning.config_schema import check_config
from giantstep.pipeline.planning.figure_config import (
    CurveSpec,
    FigureSpec,
    RecoverySpec,
    Targets,
    read_figure,
)
from giantstep.pipeline.planning.fingerprint import fingerprint, key
from giantstep.problems.canonical import digest
from giantstep.problems.formatting import format_number
from giantstep.problems.grid import Grid
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.recovery import Recovery, check_dimension
from giantstep.problems.sizes import Sizes, check_sizes
from giantstep.validation import InvalidParametersError, shown

CONFIG = "config/config.yaml (with its overlays)"


@dataclass(frozen=True)
class TheoryTask:
    """One curve's saddle points: its sRF's key, the grid, and whether at the best ridge too.

    An isotropic bulk needs the sRF alone; another one `problem`, the protocol that trained it.
    """

    parameters: str
    grid: Grid
    optimal: bool
    bulk: str
    problem: Problem


@dataclass(frozen=True)
class SpectrumTask:
    """One curve's density of eigenvalues: the key of its sRF, and the sample complexity."""

    parameters: str
    alpha: float


@dataclass(frozen=True)
class EigenvaluesTask:
    """The eigenvalues of one curve's simulated features."""

    problem: Problem
    alpha: float
    sizes: Sizes
    networks: tuple[int, ...]
    root_seed: int


@dataclass(frozen=True)
class ShardTask:
    """One curve's simulation over one block of network replicates."""

    problem: Problem
    grid: Grid
    sizes: Sizes
    networks: tuple[int, ...]
    root_seed: int


@dataclass(frozen=True)
class RecoveryTask:
    """What networks of one dimension see of a multi-index teacher."""

    problem: Recovery
    dimension: int
    networks: tuple[int, ...]
    root_seed: int


@dataclass(frozen=True)
class Curve:
    """One curve of a figure, and the keys of its results; empty where none is asked for.

    `loss` is what its readouts minimise, `dimension` that of its simulations, and `simulation` the
    key of all its replicates together, whatever the shards: the folder of these, whose keys begin
    with it.
    """

    name: str
    panel: str
    problem: Problem | Recovery
    bulk: str
    loss: str
    dimension: int
    parameters: str = ""
    theory: str = ""
    simulation: str = ""
    shards: tuple[str, ...] = ()
    spectrum: str = ""
    eigenvalues: str = ""
    recovery: str = ""

    @property
    def files(self) -> dict[str, tuple[str, ...]]:
        """The keys of its files, by the folders that they lie in."""
        single = {
            "srf": self.parameters,
            "theory": self.theory,
            "spectrum": self.spectrum,
            "eigenvalues": self.eigenvalues,
            "recovery": self.recovery,
        }
        return {folder: (key,) for folder, key in single.items() if key} | {
            "montecarlo": self.shards
        }

    @property
    def made_from(self) -> tuple[str, ...]:
        """The keys of what the curve is made of."""
        keys = (self.parameters, self.theory, self.simulation, self.spectrum, self.eigenvalues)
        return tuple(key for key in (*keys, self.recovery) if key)


@dataclass(frozen=True)
class FigurePlan:
    """One figure: its config, and its curves."""

    name: str
    config: dict[str, Any]
    curves: tuple[Curve, ...]

    @property
    def science(self) -> dict[str, Any]:
        """The config without what only the drawing and the captions see."""
        return {k: v for k, v in self.config.items() if k not in ("style", "caption")}

    @property
    def files(self) -> list[str]:
        """The paths of all files of all curves, from the folder of results."""
        return [
            f"{folder}/{key}.nc"
            for curve in self.curves
            for folder, keys in curve.files.items()
            for key in keys
        ]


@dataclass(frozen=True)
class Plan:
    """Everything that the workflow may be asked for; tasks by their keys."""

    figures: dict[str, FigurePlan]
    parameters: dict[str, Problem]
    theory: dict[str, TheoryTask]
    montecarlo: dict[str, ShardTask]
    spectrum: dict[str, SpectrumTask]
    eigenvalues: dict[str, EigenvaluesTask]
    recovery: dict[str, RecoveryTask]
    sizes: dict[str, Any]
    root_seed: int


def make_plan(root: Path, config: dict[str, Any]) -> Plan:
    """Check the configuration whole, and plan every figure that it names.

    Parameters
    ----------
    root : Path
        The folder that holds config/ and workflow/.
    config : dict
        What config/config.yaml and its overlays say.

    Raises
    ------
    InvalidConfigError
        With every fault of every file.
    """
    _, faults = check_config(Config, config, CONFIG)
    drafts = [read_figure(root, name) for name in _figure_names(config)]
    if not faults:
        sizes = _sizes(config["simulation"])
        for draft in drafts:
            _check_draft(draft, sizes)
    faults += [fault for draft in drafts for fault in draft.faults]
    if faults:
        raise InvalidConfigError(faults)
    simulation = {k: v for k, v in config["simulation"].items() if k != "networks_per_job"}
    plan = Plan({}, {}, {}, {}, {}, {}, {}, simulation, config["seed"])
    builder = _Builder(plan, sizes, config["simulation"])
    for draft in drafts:
        curves = tuple(builder.curve(curve) for curve in draft.curves)
        plan.figures[draft.name] = FigurePlan(draft.name, draft.config, curves)
    return plan


def _figure_names(config: dict[str, Any]) -> list[str]:
    """Give the figures that can be looked at, in a config that may be faulty."""
    names = config.get("figures") if isinstance(config, dict) else None
    if not isinstance(names, list):
        return []
    return [n for n in names if isinstance(n, str) and re.fullmatch(NAME_PATTERN, n)]


def block_name(networks: Sequence[int]) -> str:
    """Name the file of a block of network replicates, without its suffix."""
    return f"networks{networks[0]}-{networks[-1]}"


def _sizes(simulation: dict[str, Any]) -> Sizes:
    return Sizes(simulation["dimension"], simulation["trainings"], simulation["test_samples"])


def sized(sizes: Sizes, draft: CurveSpec) -> Sizes:
    """Give the sizes of a curve's simulations: the config's, unless its panel has its own."""
    own: dict[str, Any] = {"dimension": draft.dimension, "test_samples": draft.test_samples}
    return replace(sizes, **{name: size for name, size in own.items() if size is not None})


def _check_draft(draft: FigureSpec, sizes: Sizes) -> None:
    """Refuse curves that cannot be simulated at the configured sizes."""
    for curve in draft.curves:
        if isinstance(curve, RecoverySpec):
            try:
                check_dimension(curve.problem, curve.dimension or sizes.dimension)
            except InvalidParametersError as error:
                draft.add_faults(curve.panel, error)
            continue
        for section, grid in _simulated(curve.targets):
            try:
                check_sizes(curve.problem, grid, sized(sizes, curve))
            except InvalidParametersError as error:
                _add_fault(draft, curve, error, section)


def _simulated(targets: Targets) -> Iterator[tuple[str, Grid]]:
    """Give what is simulated of a curve, and the section of the YAML that asks for it."""
    if targets.simulation:
        yield "simulation", targets.simulation
    if targets.spectrum is not None:
        yield "spectrum", Grid((targets.spectrum,), (1.0,))


def _add_fault(
    draft: FigureSpec, curve: CurveSpec, error: InvalidParametersError, section: str
) -> None:
    for fault in error.faults:
        if fault.name not in ("dimension", "test_samples") or getattr(curve, fault.name):
            draft.add_faults(curve.panel, InvalidParametersError([fault]), section)
            continue
        text = f"{shown(fault.value)} must be {fault.allowed}"
        if (found := ConfigFault(CONFIG, f"simulation.{fault.name}", text)) not in draft.faults:
            draft.faults.append(found)


class _Builder:
    """Turns drafts of curves into tasks by their keys."""

    def __init__(self, plan: Plan, sizes: Sizes, simulation: dict[str, Any]) -> None:
        self.plan, self.sizes = plan, sizes
        self.networks = simulation["networks"]
        self.per_job = simulation["networks_per_job"]

    def curve(self, draft: CurveSpec | RecoverySpec) -> Curve:
        """Register the tasks of a curve, and give their keys."""
        if isinstance(draft, RecoverySpec):
            return self._recovery(draft)
        problem, targets, slug = draft.problem, draft.targets, _slug(draft.problem)
        sizes, networks = sized(self.sizes, draft), range(draft.networks or self.networks)
        functions = (problem.activation, problem.target)
        further: dict[str, Any] = {}
        parameters = ""
        if not isinstance(problem, Protocol) or problem.steps == 1:
            parameters = key(slug, "giantstep.theory.equivalent_features", functions, problem)
            self.plan.parameters[parameters] = problem
        if targets.theory:
            saddle = TheoryTask(parameters, targets.theory, targets.optimal, draft.bulk, problem)
            stage = "giantstep.theory.optima" if targets.optimal else "giantstep.theory.solve"
            further["theory"] = key(slug, stage, functions, problem, targets.theory, draft.bulk)
            self.plan.theory[further["theory"]] = saddle
        if targets.simulation:
            further |= self._shards(slug, problem, targets.simulation, sizes, networks)
        if targets.spectrum is not None:
            further |= self._spectra(slug, parameters, problem, targets.spectrum, sizes, networks)
        named = draft.name, draft.panel, problem, draft.bulk, draft.loss, sizes.dimension
        return Curve(*named, parameters, **further)

    def _recovery(self, draft: RecoverySpec) -> Curve:
        problem, dimension = draft.problem, draft.dimension or self.sizes.dimension
        networks = tuple(range(draft.networks or self.networks))
        task = RecoveryTask(problem, dimension, networks, self.plan.root_seed)
        gist = f"{problem.activation}-{problem.teacher}-d{dimension}-n0_{problem.batch(dimension)}"
        found = key(_sound(gist), "giantstep.simulation.recovery", (problem.activation,), task)
        self.plan.recovery[found] = task
        return Curve(draft.name, draft.panel, problem, "", "", dimension, recovery=found)

    def _shards(
        self, slug: str, problem: Problem, grid: Grid, sizes: Sizes, networks: range
    ) -> dict[str, Any]:
        functions = (problem.activation, problem.target)
        of_none = ShardTask(problem, grid, sizes, (), self.plan.root_seed)
        simulated = key(slug, "giantstep.simulation.simulate", functions, of_none)
        shards = {}
        for start in range(0, len(networks), self.per_job):
            task = replace(of_none, networks=tuple(networks[start : start + self.per_job]))
            shards[f"{simulated}/{block_name(task.networks)}"] = task
        self.plan.montecarlo.update(shards)
        return {"simulation": simulated, "shards": tuple(shards)}

    def _spectra(
        self,
        slug: str,
        parameters: str,
        problem: Problem,
        alpha: float,
        sizes: Sizes,
        networks: range,
    ) -> dict[str, Any]:
        functions = (problem.activation, problem.target)
        sizes = Sizes(sizes.dimension)
        task = EigenvaluesTask(problem, alpha, sizes, tuple(networks), self.plan.root_seed)
        density = key(slug, "giantstep.theory.spectrum", functions, problem, alpha)
        simulated = key(slug, "giantstep.simulation.eigenvalues", functions, task)
        self.plan.spectrum[density] = SpectrumTask(parameters, alpha)
        self.plan.eigenvalues[simulated] = task
        return {"spectrum": density, "eigenvalues": simulated}


def _slug(problem: Problem) -> str:
    """Write the gist of a problem for people who list the results folder."""
    if isinstance(problem, Protocol):
        gist = f"eta{format_number(problem.learning_rate)}-alpha0_{format_number(problem.alpha0)}"
    else:
        strengths = "_".join(f"{strength:.4g}" for strength in problem.groups.u[:4])
        gist = f"r{strengths}-gamma{format_number(problem.alignment)}"
    functions = f"{problem.activation}-{problem.target}"
    return _sound(f"{functions}-{gist}")


def _sound(gist: str) -> str:
    """Make a gist the beginning of a file's name."""
    return re.sub(r"[^\w.+-]", "_", gist)[:80]


def merging_identity(plan: Plan, figure: FigurePlan, script: str) -> str:
    """Hash all that a figure's merged file depends on: its curves, and the code that merges."""
    curves = [(curve.name, curve.panel, curve.made_from) for curve in figure.curves]
    return digest(figure.science, curves, plan.sizes, plan.root_seed, fingerprint(script))[:16]


def drawing_identity(figure: FigurePlan, script: str, merging: str) -> str:
    """Hash all that a drawing depends on: its data's identity, config, module and script."""
    code = fingerprint(script, (f"giantstep.figures.{figure.name}",))
    return digest(merging, figure.config, code)[:16]
