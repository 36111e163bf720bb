"""From configs to what is to be computed: curves, the stages' tasks, and the keys of results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from giantstep.config import (
    FIGURES,
    ConfigFault,
    InvalidConfigError,
    load_schema,
    load_yaml,
    schema_faults,
)
from giantstep.faults import Fault, InvalidParametersError
from giantstep.identity import digest, fingerprint, key, module_path
from giantstep.montecarlo import Sizes, check_sizes
from giantstep.protocol import (
    Grid,
    Problem,
    Protocol,
    SpikedFeatures,
    even_axis,
    merged_axis,
    written,
)

_COMMON = ("activation", "target", "beta", "noise")
_KINDS: dict[type[Protocol | SpikedFeatures], tuple[str, ...]] = {
    Protocol: ("learning_rate", "alpha0"),
    SpikedFeatures: ("bulk_variance", "spike_strength", "alignment"),
}


@dataclass(frozen=True)
class TheoryTask:
    """One curve's saddle points: the key of its sRF, and the grid."""

    parameters: str
    grid: Grid


@dataclass(frozen=True)
class ShardTask:
    """One curve's simulation over one block of network replicates."""

    problem: Problem
    grid: Grid
    sizes: Sizes
    networks: tuple[int, ...]
    root_seed: int


@dataclass(frozen=True)
class Curve:
    """One curve of a figure, and the keys of its results.

    `simulation` is the key of all shards together, whatever their sizes.
    """

    name: str
    panel: str
    problem: Problem
    parameters: str
    theory: str
    simulation: str
    shards: tuple[str, ...]

    @property
    def made_from(self) -> tuple[str, str, str]:
        """The keys of what the curve is made of."""
        return (self.parameters, self.theory, self.simulation)


@dataclass(frozen=True)
class FigurePlan:
    """One figure: its config, and its curves."""

    name: str
    config: dict[str, Any]
    curves: tuple[Curve, ...]


@dataclass(frozen=True)
class Plan:
    """Everything that the workflow may be asked for; tasks by their keys."""

    figures: dict[str, FigurePlan]
    parameters: dict[str, Problem]
    theory: dict[str, TheoryTask]
    montecarlo: dict[str, ShardTask]
    sizes: dict[str, int]
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
    source = "config/config.yaml (with its overlays)"
    if faults := schema_faults(config, load_schema(root, "config"), source):
        raise InvalidConfigError(faults)
    sizes = {k: v for k, v in config["simulation"].items() if k != "networks_per_job"}
    plan = Plan({}, {}, {}, {}, sizes, config["seed"])
    found: list[ConfigFault] = []
    for name in config["figures"]:
        try:
            _plan_figure(root, name, config, plan)
        except InvalidConfigError as error:
            found += error.faults
    if found:
        raise InvalidConfigError(found)
    return plan


def _plan_figure(root: Path, name: str, config: dict[str, Any], plan: Plan) -> None:
    """Add one figure, and the tasks it needs, to the plan."""
    file = f"{FIGURES}/{name}.yaml"
    figure = load_yaml(root / file, file)
    if module_path(f"giantstep.figures.{name}") is None:
        text = f"has no drawing module, src/giantstep/figures/{name}.py"
        raise InvalidConfigError([ConfigFault(file, "", text)])
    if faults := schema_faults(figure, load_schema(root, "figure"), file):
        raise InvalidConfigError(faults)
    builder = _Builder(file, figure, config, plan)
    curves = tuple(builder.curves())
    if builder.faults:
        raise InvalidConfigError(list(dict.fromkeys(builder.faults)))
    plan.figures[name] = FigurePlan(name, figure, curves)


class _Builder:
    """Turns one figure's config into curves and tasks, and collects what is wrong with it."""

    def __init__(
        self, file: str, figure: dict[str, Any], config: dict[str, Any], plan: Plan
    ) -> None:
        self.file, self.figure, self.plan = file, figure, plan
        self.per_job: int = config["simulation"]["networks_per_job"]
        sizes = dict(plan.sizes)
        self.networks = range(sizes.pop("networks"))
        self.sizes = Sizes(**sizes)
        self.faults: list[ConfigFault] = []

    def curves(self) -> Iterator[Curve]:
        """Give the figure's curves, registering their tasks in the plan."""
        for panel, spec in self.figure["panels"].items():
            for name, problem in self._problems(panel, spec):
                grids = self._grids(panel, spec)
                if grids is None:
                    return
                try:
                    check_sizes(problem, grids[1], self.sizes)
                except InvalidParametersError as error:
                    self._blame(f"panels.{panel}", error)
                    continue
                yield self._curve(name, panel, problem, *grids)

    def _blame(self, path: str, error: InvalidParametersError) -> None:
        for fault in error.faults:
            self.faults.append(
                ConfigFault(
                    self.file, f"{path}.{fault.name}", f"{fault.value!r} must be {fault.allowed}"
                )
            )

    def _problems(self, panel: str, spec: dict[str, Any]) -> Iterator[tuple[str, Problem]]:
        """Give name and problem of each curve of a panel: the product of its lists."""
        given = {name for names in _KINDS.values() for name in names} & set(spec)
        kind = next((k for k, names in _KINDS.items() if set(names) == given), None)
        if kind is None:
            choices = " or ".join(f"({', '.join(names)})" for names in _KINDS.values())
            text = f"has {', '.join(sorted(given)) or 'neither'}, must have all of {choices}"
            self.faults.append(ConfigFault(self.file, f"panels.{panel}", text))
            return
        fields = {k: spec[k] for k in (*_COMMON, *_KINDS[kind]) if k in spec}
        varied = [k for k in spec if k in fields and isinstance(fields[k], list)]
        for values in product(*(fields[k] for k in varied)):
            chosen = dict(zip(varied, values, strict=True))
            label = ",".join(f"{k}={_label(v)}" for k, v in chosen.items())
            try:
                problem: Problem = kind(**(fields | chosen))
            except InvalidParametersError as error:
                self._blame(f"panels.{panel}", error)
            else:
                yield f"{panel}:{label}" if label else panel, problem

    def _grids(self, panel: str, spec: dict[str, Any]) -> tuple[Grid, Grid] | None:
        """Give the theory's grid, which includes the simulated points, and the simulation's."""
        even, simulated = self.figure["theory"]["alpha"], self.figure["simulation"]["alpha"]
        ridge = spec["ridge"] if isinstance(spec["ridge"], list) else [spec["ridge"]]
        try:
            if not even["stop"] > even["start"]:
                allowed = f"greater than start, {even['start']}"
                raise InvalidParametersError([Fault("alpha.stop", even["stop"], allowed)])
            fine = merged_axis(even_axis(**even), simulated)
        except InvalidParametersError as error:
            self._blame("theory", error)
            return None
        try:
            simulation_grid = Grid(merged_axis(simulated), tuple(ridge))
            return Grid(fine, simulation_grid.ridge), simulation_grid
        except InvalidParametersError as error:
            for fault in error.faults:
                path = f"panels.{panel}" if fault.name == "ridge" else "simulation"
                self._blame(path, InvalidParametersError([fault]))
            return None

    def _curve(
        self, name: str, panel: str, problem: Problem, theory: Grid, simulation: Grid
    ) -> Curve:
        slug = _slug(problem)
        parameters = key(slug, "giantstep.srf", problem)
        self.plan.parameters[parameters] = problem
        saddle = key(slug, "giantstep.learning", problem, theory)
        self.plan.theory[saddle] = TheoryTask(parameters, theory)
        shards = {}
        for start in range(0, len(self.networks), self.per_job):
            task = self._shard(problem, simulation, self.networks[start : start + self.per_job])
            shards[key(f"{slug}-networks{start}", "giantstep.montecarlo", task)] = task
        self.plan.montecarlo.update(shards)
        whole = self._shard(problem, simulation, self.networks)
        simulated = key(slug, "giantstep.montecarlo", whole)
        return Curve(name, panel, problem, parameters, saddle, simulated, tuple(shards))

    def _shard(self, problem: Problem, grid: Grid, networks: range) -> ShardTask:
        return ShardTask(problem, grid, self.sizes, tuple(networks), self.plan.root_seed)


def _label(value: str | float) -> str:
    return value if isinstance(value, str) else written(float(value))


def _slug(problem: Problem) -> str:
    """Write the gist of a problem for people who list the results folder."""
    if isinstance(problem, Protocol):
        gist = f"eta{written(problem.learning_rate)}-alpha0_{written(problem.alpha0)}"
    else:
        gist = f"r{written(problem.spike_strength)}-gamma{written(problem.alignment)}"
    return f"{problem.activation}-{problem.target}-{gist}"


def merge_identity(figure: FigurePlan, script: str) -> str:
    """Hash what a figure's merged file is made of: its curves' keys, and the merging itself."""
    curves = [(curve.name, curve.panel, curve.made_from) for curve in figure.curves]
    return digest(figure.config["title"], curves, fingerprint(script))


def render_identity(figure: FigurePlan, script: str) -> str:
    """Hash what the drawing of a figure depends on besides its data."""
    drawing = fingerprint(f"giantstep.figures.{figure.name}")
    return digest(figure.config, drawing, fingerprint(script))
