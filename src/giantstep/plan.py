"""From configs to what is to be computed: curves, the stages' tasks, and the keys of results."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
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
    one_spike,
    written,
    written_readout,
)

_COMMON = ("activation", "target", "beta", "noise")
# A readout in YAML maps values to fractions; for an sRF it spreads bulk and spike over groups.
_READOUT = "readout"
_KINDS: dict[type[Protocol | SpikedFeatures], tuple[str, ...]] = {
    Protocol: ("learning_rate", "alpha0"),
    SpikedFeatures: ("bulk_variance", "spike_strength", "alignment"),
}

# Where in a figure's YAML a fault of this name belongs, if not to a panel.
_SECTIONS = {"alpha": "simulation", "alpha.stop": "theory"}


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

    @property
    def science(self) -> dict[str, Any]:
        """The config without what only the drawing and the captions see."""
        return {k: v for k, v in self.config.items() if k not in ("style", "caption")}

    @property
    def shards(self) -> list[str]:
        """The keys of all shards of all curves."""
        return [key for curve in self.curves for key in curve.shards]


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
                    self._blame(panel, error)
                    continue
                yield self._curve(name, panel, problem, *grids)

    def _blame(self, panel: str, error: InvalidParametersError) -> None:
        """Record a panel's faults, each at its place in the YAML."""
        for fault in error.faults:
            section = _SECTIONS.get(fault.name, f"panels.{panel}")
            text = f"{fault.value!r} must be {fault.allowed}"
            self.faults.append(ConfigFault(self.file, f"{section}.{fault.name}", text))

    def _problems(self, panel: str, spec: dict[str, Any]) -> Iterator[tuple[str, Problem]]:
        """Give name and problem of each curve of a panel: the product of its lists."""
        given = {name for names in _KINDS.values() for name in names} & set(spec)
        kind = next((k for k, names in _KINDS.items() if set(names) == given), None)
        if kind is None:
            choices = " or ".join(f"({', '.join(names)})" for names in _KINDS.values())
            text = f"has {', '.join(sorted(given)) or 'neither'}, must have all of {choices}"
            self.faults.append(ConfigFault(self.file, f"panels.{panel}", text))
            return
        fields = {k: spec[k] for k in (*_COMMON, *_KINDS[kind], _READOUT) if k in spec}
        varied = [k for k in spec if k in fields and isinstance(fields[k], list)]
        for values in product(*(fields[k] for k in varied)):
            chosen = dict(zip(varied, values, strict=True))
            label = ",".join(f"{k}={_label(v)}" for k, v in chosen.items())
            try:
                problem = _problem(kind, fields | chosen)
            except InvalidParametersError as error:
                self._blame(panel, error)
            else:
                yield f"{panel}:{label}" if label else panel, problem

    def _grids(self, panel: str, spec: dict[str, Any]) -> tuple[Grid, Grid] | None:
        """Give the theory's grid, which includes the simulated points, and the simulation's."""
        even, simulated = self.figure["theory"]["alpha"], self.figure["simulation"]["alpha"]
        ridge = spec["ridge"] if isinstance(spec["ridge"], list) else [spec["ridge"]]
        try:
            if not 0 < even["start"] < even["stop"] < math.inf:
                fault = Fault("alpha.stop", even["stop"], f"greater than start, {even['start']}")
                raise InvalidParametersError([fault])
            simulation = Grid(merged_axis(simulated), tuple(ridge))
            return Grid(merged_axis(even_axis(**even), simulated), simulation.ridge), simulation
        except InvalidParametersError as error:
            self._blame(panel, error)
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


def _problem(kind: type[Protocol | SpikedFeatures], fields: dict[str, Any]) -> Problem:
    """Make a problem from fields of a panel."""
    vocabulary = fields.pop(_READOUT, {1.0: 1.0})
    readout = tuple(vocabulary.items())
    make: Callable[..., Problem] = Protocol if kind is Protocol else one_spike
    return make(**fields, readout=readout)


def _label(value: str | float | dict[float, float]) -> str:
    if isinstance(value, dict):
        return written_readout(tuple((float(k), float(v)) for k, v in value.items()))
    return value if isinstance(value, str) else written(float(value))


def _slug(problem: Problem) -> str:
    """Write the gist of a problem for people who list the results folder."""
    if isinstance(problem, Protocol):
        gist = f"eta{written(problem.learning_rate)}-alpha0_{written(problem.alpha0)}"
    else:
        strengths = "_".join(f"{strength:.4g}" for strength in problem.groups.u[:4])
        gist = f"r{strengths}-gamma{written(problem.alignment)}"
    functions = f"{problem.activation}-{problem.target}"
    return re.sub(r"[^\w.+-]", "_", f"{functions}-{gist}")[:80]


def drawing_identity(figure: str, script: str) -> str:
    """Hash the code that draws a figure: its module, and the stage's script."""
    return digest(fingerprint(f"giantstep.figures.{figure}"), fingerprint(script))
