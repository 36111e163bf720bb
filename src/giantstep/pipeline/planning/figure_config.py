"""From a figure's YAML to the problems and grids of its curves, with every fault on the way."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from itertools import product
from pathlib import Path
from typing import Any, Literal

from giantstep.pipeline.planning.config import (
    FIGURES,
    ConfigFault,
    InvalidConfigError,
    load_schema,
    load_yaml,
    schema_faults,
)
from giantstep.pipeline.planning.fingerprint import module_path
from giantstep.problems.bulk_kind import ISOTROPIC, validate_bulk
from giantstep.problems.formatting import format_number, format_vocabulary
from giantstep.problems.grid import Grid, merged_axis, spaced_axis
from giantstep.problems.losses import SQUARE, Loss, lookup_loss
from giantstep.problems.problem import Problem, check_loss
from giantstep.problems.protocol import STEP_FIELDS, Protocol
from giantstep.problems.recovery import Recovery
from giantstep.problems.spiked_features import SPIKED_FIELDS, one_spike
from giantstep.validation import POSITIVE, Fault, InvalidParametersError, shown

_COMMON = ("activation", "target", "beta", "noise", "inputs")
_OUTLIERS = ("outlier_fraction", "outlier_variance")
# What only an sRF has, and need not say.
_OF_SRF = ("model", "bias")
# What only gradient steps have, and need not say.
_OF_STEPS = ("steps", "reuse_batch")
# What only theory has an answer to, and theory is that of one step.
_OF_THEORY = ("bulk", "optimal")
# What tells a panel of recovery, and its fields.
RECOVERS = "teacher"
_RECOVERY = tuple(field.name for field in fields(Recovery))
# What is no part of the problem: the theory's bulk, the readout's loss, and sizes of simulations.
_APART = ("bulk", "loss", "dimension", "networks", "test_samples")
# A vocabulary in YAML maps values to fractions; for an sRF it spreads neurons over groups.
_VOCABULARIES = ("readout", "bias")
_KINDS: tuple[tuple[Callable[..., Problem], tuple[str, ...]], ...] = (
    (Protocol, STEP_FIELDS),
    (one_spike, SPIKED_FIELDS),
)
ALIGNED = "an alignment of 1 or -1, or alpha0 = .inf"
# Where in a figure's YAML a fault of this name belongs, if not to a panel.
_SECTIONS = {"alpha": "simulation", "alpha.stop": "theory"}


@dataclass(frozen=True)
class Asked:
    """What a figure asks to be computed of a curve; None is nothing of a kind.

    Attributes
    ----------
    theory, simulation : Grid or None
        The theory's grid includes the simulated points.
    optimal : bool
        Whether theory is also solved at the best ridge of each sample complexity.
    spectrum : float or None
        The sample complexity at which the features' spectrum is taken.
    """

    theory: Grid | None = None
    simulation: Grid | None = None
    optimal: bool = False
    spectrum: float | None = None

    def minimising(self, loss: str) -> Asked:
        """Ask the same of readouts that minimise a loss."""
        theory, simulation = (
            grid and replace(grid, loss=loss) for grid in (self.theory, self.simulation)
        )
        return replace(self, theory=theory, simulation=simulation)


# Of a panel; the product of its lists.
_MOST_CURVES = 1000


@dataclass(frozen=True)
class CurveDraft:
    """One curve as its figure's YAML asks for it.

    Attributes
    ----------
    name, panel : str
    problem : Protocol or SpikedFeatures
    asked : Asked
    bulk : str
        That the theory takes, one of `bulk.BULKS`.
    loss : str
        That the readout minimises.
    dimension, networks, test_samples : optional
        Those of simulations, as in the config, whose they are by default.
    """

    name: str
    panel: str
    problem: Problem
    asked: Asked
    bulk: str = ISOTROPIC
    loss: str = SQUARE
    dimension: int | None = None
    networks: int | None = None
    test_samples: int | Literal["exact"] | None = None


@dataclass(frozen=True)
class RecoveryDraft:
    """One curve of a panel of recovery; dimension and networks are the config's by default."""

    name: str
    panel: str
    problem: Recovery
    dimension: int | None = None
    networks: int | None = None


@dataclass
class FigureDraft:
    """One figure's YAML, the curves it asks for, and what is wrong with it."""

    name: str
    config: dict[str, Any] = field(default_factory=dict)
    curves: list[CurveDraft | RecoveryDraft] = field(default_factory=list)
    faults: list[ConfigFault] = field(default_factory=list)

    @property
    def file(self) -> str:
        """The YAML's name, for messages."""
        return f"{FIGURES}/{self.name}.yaml"

    def blame(self, path: str, problem: str) -> None:
        """Record a fault, once."""
        fault = ConfigFault(self.file, path, problem)
        if fault not in self.faults:
            self.faults.append(fault)

    def blame_all(
        self, panel: str, error: InvalidParametersError, section: str | None = None
    ) -> None:
        """Record the faults of a panel's parameters, each at its place in the YAML."""
        sections = _SECTIONS | ({"alpha": section} if section else {})
        for fault in error.faults:
            place = sections.get(fault.name, f"panels.{panel}")
            self.blame(f"{place}.{fault.name}", f"{shown(fault.value)} must be {fault.allowed}")


def draft_figure(root: Path, name: str) -> FigureDraft:
    """Read one figure's YAML, check it whole, and list its curves.

    Parameters
    ----------
    root : Path
        The folder that holds config/ and workflow/.
    name : str
    """
    draft = FigureDraft(name)
    try:
        draft.config = load_yaml(root / draft.file, draft.file)
    except InvalidConfigError as error:
        draft.faults += error.faults
        return draft
    _check_drawing(draft)
    faults = schema_faults(draft.config, load_schema(root, "figure"), draft.file)
    draft.faults += faults
    if not faults:
        _check_colours(draft)
        for panel, spec in draft.config["panels"].items():
            (_draft_recovery if RECOVERS in spec else _draft_panel)(draft, panel, spec)
    return draft


def _check_drawing(draft: FigureDraft) -> None:
    """Ask for the figure's module, and the function in it, without importing them."""
    path = module_path(f"giantstep.figures.{draft.name}")
    tree = ast.parse(path.read_text(encoding="utf-8")) if path else ast.Module([], [])
    if not any(_names_draw(node) for node in tree.body):
        where = f"src/giantstep/figures/{draft.name}.py"
        draft.blame("", f"there is no {where} with a function draw(data, config)")


def _names_draw(node: ast.stmt) -> bool:
    """Tell whether a statement defines `draw`, or imports a function under that name."""
    if isinstance(node, ast.ImportFrom):
        return any(alias.asname == "draw" for alias in node.names)
    return isinstance(node, ast.FunctionDef) and node.name == "draw"


def _check_colours(draft: FigureDraft) -> None:
    colours = draft.config.get("style", {}).get("colours", [])
    if colours:
        from matplotlib.colors import is_color_like  # only here: it takes a while to import

        for i, colour in enumerate(colours):
            if not is_color_like(colour):
                draft.blame(
                    f"style.colours.{i}", f"{shown(colour)} must be a colour, such as '#0072b2'"
                )


_TWICE = "a curve stands twice: two entries of a list are the same"
_ONE_STEP = "which is that of one step: steps must be 1, in a panel of its own"


def _draft_panel(draft: FigureDraft, panel: str, spec: dict[str, Any]) -> None:
    asked = _asked(draft, panel, spec)
    seen: list[tuple[Any, ...]] = []
    for name, problem, apart in _problems(draft, panel, spec):
        told = (problem, apart | {"loss": _same(apart.get("loss", SQUARE))})
        if told in seen:
            draft.blame(f"panels.{panel}", _TWICE)
        if spec.get("lower_bound") and not _aligned(problem):
            draft.blame(f"panels.{panel}.lower_bound", f"needs a spike along the target: {ALIGNED}")
        seen.append(told)
        if asked and _several(problem):
            _check_several(draft, panel, spec, asked)
        if asked:
            of_curve = Asked(simulation=asked.simulation) if _several(problem) else asked
            _draft_curve(draft, CurveDraft(name, panel, problem, of_curve, **apart))


def _same(loss: str) -> Loss | str:
    """Give what is the same for all names of a loss."""
    try:
        return lookup_loss(loss)
    except KeyError:  # refused with the grid
        return loss


def _draft_curve(draft: FigureDraft, curve: CurveDraft) -> None:
    """Add a curve, whose readouts minimise its loss."""
    if curve.asked.optimal and curve.loss != SQUARE:
        draft.blame(f"panels.{curve.panel}.optimal", f"needs the loss {SQUARE}")
        return
    try:
        asked = curve.asked.minimising(curve.loss)  # which refuses unknown ones
        check_loss(curve.problem, curve.loss)
    except InvalidParametersError as error:
        draft.blame_all(curve.panel, error)
        return
    draft.curves.append(replace(curve, asked=asked))


def _draft_recovery(draft: FigureDraft, panel: str, spec: dict[str, Any]) -> None:
    varying = {k: spec[k] for k in (*_RECOVERY, "dimension") if k in spec}
    curves: list[RecoveryDraft] = []
    for chosen in _choices(draft, panel, varying):
        arguments = varying | chosen
        dimension = arguments.pop("dimension", None)
        try:
            problem = Recovery(**arguments)
        except InvalidParametersError as error:
            draft.blame_all(panel, error)
            continue
        found = RecoveryDraft(_name(panel, chosen), panel, problem, dimension, spec.get("networks"))
        if any((problem, dimension) == (one.problem, one.dimension) for one in curves):
            draft.blame(f"panels.{panel}", _TWICE)
        curves.append(found)
    draft.curves += curves


def _several(problem: Problem) -> bool:
    """Tell whether a problem takes several steps, of which there is no theory."""
    return isinstance(problem, Protocol) and problem.steps > 1


def _check_several(draft: FigureDraft, panel: str, spec: dict[str, Any], asked: Asked) -> None:
    """Refuse what the theory alone answers, asked of several steps."""
    for name in _OF_THEORY:
        if spec.get(name, ISOTROPIC) not in (False, ISOTROPIC):
            draft.blame(f"panels.{panel}.{name}", f"needs a theory, {_ONE_STEP}")
    if asked.spectrum is not None:
        draft.blame("spectrum", f"needs a theory of {panel}, {_ONE_STEP}")
    if asked.simulation is None:
        draft.blame(f"panels.{panel}", f"needs simulation: there is no theory, {_ONE_STEP}")


def _aligned(problem: Problem) -> bool:
    """Tell whether the spike is along the target, as bounds need it."""
    if isinstance(problem, Protocol):
        return problem.alpha0 == math.inf
    return abs(problem.alignment) == 1


def _problems(
    draft: FigureDraft, panel: str, spec: dict[str, Any]
) -> Iterator[tuple[str, Problem, dict[str, Any]]]:
    """Give each curve of a panel, the product of its lists: name, problem, and what else it has."""
    given = {name for _, names in _KINDS for name in names} & set(spec)
    kind = next(((make, names) for make, names in _KINDS if set(names) == given), None)
    if kind is None:
        choices = " or ".join(f"({', '.join(names)})" for _, names in _KINDS)
        has = ", ".join(sorted(given)) or "neither"
        draft.blame(f"panels.{panel}", f"has {has}, must have all of {choices}")
        return
    make, names = kind
    further, others = (_OF_SRF, _OF_STEPS) if make is one_spike else (_OF_STEPS, _OF_SRF)
    for name in others:
        if name in spec:
            kinds = "gradient steps; this is an sRF", "an sRF; a step trains a network"
            draft.blame(f"panels.{panel}.{name}", f"is for {kinds[name in _OF_SRF]}")
    known = (*_COMMON, *_OUTLIERS, *names, "readout", *further, *_APART)
    asked_for = {k: spec[k] for k in known if k in spec}
    for chosen in _choices(draft, panel, {k: asked_for[k] for k in spec if k in asked_for}):
        arguments = asked_for | chosen
        for name in _VOCABULARIES:
            if name in arguments:
                arguments[name] = tuple(arguments[name].items())
        try:
            apart = {k: arguments.pop(k) for k in _APART if k in arguments}
            problem = make(**arguments)
            validate_bulk(problem, apart.get("bulk", ISOTROPIC))
            yield _name(panel, chosen), problem, apart
        except InvalidParametersError as error:
            draft.blame_all(panel, error)


def _choices(draft: FigureDraft, panel: str, given: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Give each choice of one entry of every list that a panel's fields are."""
    varied = [k for k in given if isinstance(given[k], list)]
    if (curves := math.prod(len(given[k]) for k in varied)) > _MOST_CURVES:
        draft.blame(f"panels.{panel}", f"has {curves} curves, must have {_MOST_CURVES} at most")
        return
    for values in product(*(given[k] for k in varied)):
        yield dict(zip(varied, values, strict=True))


def _name(panel: str, chosen: dict[str, Any]) -> str:
    """Name a curve by its panel, and by what sets it apart there."""
    label = ",".join(f"{k}={_label(v)}" for k, v in chosen.items())
    return f"{panel}:{label}" if label else panel


def _label(value: str | float | dict[float, float]) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return format_vocabulary(tuple((float(k), float(v)) for k, v in value.items()))
    return value if isinstance(value, str) else format_number(float(value))


def _asked(draft: FigureDraft, panel: str, spec: dict[str, Any]) -> Asked | None:
    """Give the grids that a panel's curves are asked about; None where they cannot be."""
    axis = draft.config.get("theory", {}).get("alpha")
    simulated = draft.config.get("simulation", {}).get("alpha", ())
    both = spec.get("simulated", True)
    spectrum = draft.config.get("spectrum", {}).get("alpha")
    ridges = spec.get("ridge")
    if (axis or simulated) and ridges is None:
        draft.blame(f"panels.{panel}", "missing key 'ridge', which theory and simulation need")
        return None
    ridge = tuple(ridges) if isinstance(ridges, list) else (ridges,)
    if spec.get("optimal") and not (axis or simulated):
        draft.blame(f"panels.{panel}.optimal", "needs theory.alpha, or simulation.alpha")
    if spectrum is not None and spectrum not in POSITIVE:
        draft.blame("spectrum.alpha", f"{spectrum!r} must be {POSITIVE}")
        return None
    try:
        spaced = _spaced(axis) if axis else ()
        simulation = Grid(merged_axis(simulated), ridge) if simulated and both else None
        theory = Grid(merged_axis(spaced, simulated), ridge) if spaced or simulated else None
    except InvalidParametersError as error:
        draft.blame_all(panel, error)
        return None
    return Asked(theory, simulation, spec.get("optimal", False), spectrum)


def _spaced(axis: dict[str, Any]) -> tuple[float, ...]:
    """Give the spaced points of the theory's grid."""
    if not 0 < axis["start"] < axis["stop"] < math.inf:
        allowed = f"finite, and greater than start, {axis['start']}"
        raise InvalidParametersError([Fault("alpha.stop", axis["stop"], allowed)])
    return spaced_axis(**axis)
