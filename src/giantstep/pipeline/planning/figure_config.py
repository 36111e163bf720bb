"""From a figure's YAML to the problems and grids of its curves, with every fault on the way."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from inspect import signature
from itertools import product
from pathlib import Path
from typing import Any

from giantstep.pipeline.planning.config import FIGURES, InvalidConfigError, load_yaml
from giantstep.pipeline.planning.config_models import (
    Figure,
    LearningPanel,
    MapPanel,
    RecoveryPanel,
    StepsPanel,
    TheoryGrid,
)
from giantstep.pipeline.planning.config_schema import check_config
from giantstep.pipeline.planning.drawing import has_draw
from giantstep.pipeline.planning.figure_spec import CurveSpec, FigureSpec, RecoverySpec, Targets
from giantstep.pipeline.planning.map_config import read_map
from giantstep.problems.bulk_kind import ISOTROPIC, validate_bulk
from giantstep.problems.domains import ALPHA, LEARNING_RATE, THEORY_DIMENSION
from giantstep.problems.formatting import format_number, format_vocabulary
from giantstep.problems.grid import Grid, merged_axis, spaced_axis
from giantstep.problems.losses import SQUARE, Loss, lookup_loss
from giantstep.problems.problem import Problem, check_loss, check_theory_of_loss
from giantstep.problems.protocol import Protocol, theory_faults
from giantstep.problems.recovery import Recovery
from giantstep.problems.spiked_features import one_spike
from giantstep.validation import InvalidParametersError, plain_number, shown

# How a curve's problem is solved and simulated; the other fields of a panel say what it is.
_RUN_OPTIONS = ("bulk", "loss", "dimension", "networks", "test_samples")
# Of a figure; those of a panel are the product of its lists.
MOST_CURVES = 1000
_ALIGNED = "an alignment of 1 or -1, or alpha0 = .inf"
_WITHOUT_THEORY = (
    "which needs fresh batches and, after several steps, one readout; give other curves a panel of"
    " their own"
)
_GIANT_STEP = "needs the giant step (step_exponent 0.5)"
# Instead of faulty parts of a figure, so that the rest can be checked too.
_STAND_INS: dict[str, Any] = {
    "title": "",
    "caption": "",
    "theory": {"alpha": {"start": 1.0, "stop": 2.0, "points": 2}},
    "simulation": {"alpha": [1.0]},
    "spectrum": {"alpha": 1.0},
    "style": {},
}
_TWICE = "a curve appears twice: two entries of a list mean the same"


def read_figure(root: Path, name: str) -> FigureSpec:
    """Read one figure's YAML, check all of it, and list its curves.

    Parameters
    ----------
    root : Path
        The folder that holds config/.
    name : str
    """
    spec = FigureSpec(name)
    try:
        spec.config = load_yaml(root / spec.file, spec.file)
    except InvalidConfigError as error:
        spec.faults += error.faults
        return spec
    _check_drawing(root, spec)
    figure, faults = check_config(Figure, spec.config, spec.file)
    spec.faults += faults
    if (figure := figure or _valid_part(spec)) and not _too_many_curves(spec, figure):
        for panel_name, panel in figure.panels.items():
            if isinstance(panel, RecoveryPanel):
                _read_recovery(spec, panel_name, panel)
            elif isinstance(panel, MapPanel):
                read_map(spec, panel_name, panel)
            else:
                _read_learning(spec, panel_name, panel, _targets(spec, panel_name, panel, figure))
    return spec


def _too_many_curves(spec: FigureSpec, figure: Figure) -> bool:
    """Refuse more curves than a figure can have, before any is made."""
    counts = {name: _count_curves(spec.config["panels"][name]) for name in figure.panels}
    if (curves := sum(counts.values())) <= MOST_CURVES:
        return False
    largest = max(counts, key=counts.__getitem__)
    few = f"must have {MOST_CURVES} at most"
    spec.add_fault(f"panels.{largest}", f"has {counts[largest]} of {curves} curves; a figure {few}")
    return True


def _count_curves(panel: dict[str, Any]) -> int:
    """Count the curves that a panel's lists span; that of ridges makes none."""
    return math.prod(
        len(value) for name, value in panel.items() if isinstance(value, list) and name != "ridge"
    )


def _valid_part(spec: FigureSpec) -> Figure | None:
    """Return the figure without its faulty panels, and with stand-ins for other faulty parts."""
    if not isinstance(spec.config, dict) or not isinstance(spec.config.get("panels"), dict):
        return None
    faulty = {".".join(fault.path.split(".")[:depth]) for fault in spec.faults for depth in (1, 2)}
    given = {k: v for k, v in spec.config.items() if k in _STAND_INS and k not in faulty}
    stand_ins = {
        k: v for k, v in _STAND_INS.items() if k in spec.config or k in ("title", "caption")
    }
    panels = {k: v for k, v in spec.config["panels"].items() if f"panels.{k}" not in faulty}
    return check_config(Figure, stand_ins | given | {"panels": panels}, spec.file)[0]


def _check_drawing(root: Path, spec: FigureSpec) -> None:
    """Check that code beside the figure's YAML has a drawing function, without running it."""
    own = root / FIGURES / f"{spec.name}.py"
    try:
        drawn = not own.is_file() or has_draw(own.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError) as error:
        spec.add_fault("", f"{FIGURES / own.name} must be Python code: {error}")
        return
    if not drawn:
        spec.add_fault("", f"there is no function draw(data, config) in {FIGURES / own.name}")


def _targets(spec: FigureSpec, name: str, panel: LearningPanel, figure: Figure) -> Targets | None:
    """Return what is computed of a panel's curves, None where that cannot be."""
    alphas = figure.simulation.alpha if figure.simulation else []
    along = figure.theory or TheoryGrid()
    spaced = spaced_axis(**along.alpha.model_dump()) if along.alpha else ()
    dimensions = spaced_axis(**along.dimension.model_dump()) if along.dimension else ()
    if dimensions and not _check_dimensions(spec, dimensions, alphas):
        return None
    rates = _learning_rates(panel)
    if rates and not _check_learning_rates(spec, name, rates, alphas):
        return None
    spectrum = figure.spectrum.alpha if figure.spectrum else None
    if spectrum is not None and spectrum not in ALPHA:
        spec.add_fault("spectrum.alpha", f"{shown(spectrum)} must be {ALPHA}")
        return None
    if not (spaced or alphas):
        for field in _asked(panel):
            if spectrum is None or field != "finite_size_theory":
                spec.add_fault(f"panels.{name}.{field}", "needs theory.alpha, or simulation.alpha")
        return Targets(spectrum=spectrum, finite_size=panel.finite_size_theory)
    if panel.ridge is None:
        message = "missing key 'ridge', which theory and simulation need"
        spec.add_fault(f"panels.{name}", message)
        return None
    ridge = tuple(panel.ridge) if isinstance(panel.ridge, list) else (panel.ridge,)
    try:
        theory = Grid(merged_axis(spaced, alphas), ridge)
        simulation = Grid(merged_axis(alphas), ridge) if alphas and panel.simulated else None
    except InvalidParametersError as error:
        spec.add_faults(name, error)
        return None
    return Targets(
        theory,
        simulation,
        panel.optimal,
        spectrum,
        at_dimensions=Grid(merged_axis(alphas), ridge) if dimensions else None,
        dimensions=dimensions,
        at_learning_rates=Grid(merged_axis(alphas), ridge) if rates else None,
        learning_rates=rates,
        finite_size=panel.finite_size_theory,
    )


def _check_dimensions(
    spec: FigureSpec, dimensions: tuple[float, ...], alphas: Sequence[float]
) -> bool:
    """Refuse dimensions that the theory does not cover, and those without a sample complexity."""
    for name, value in (("start", dimensions[0]), ("stop", dimensions[-1])):
        if value not in THEORY_DIMENSION:
            fault = f"{shown(value)} must be {THEORY_DIMENSION}"
            spec.add_fault(f"theory.dimension.{name}", fault)
    if not alphas:
        spec.add_fault("theory.dimension", "needs simulation.alpha, where it is solved")
    return bool(alphas) and all(value in THEORY_DIMENSION for value in dimensions)


def _learning_rates(panel: LearningPanel) -> tuple[float, ...]:
    """List the learning rates at which a panel's theory is solved besides its own."""
    if not isinstance(panel, StepsPanel) or panel.learning_rates is None:
        return ()
    return spaced_axis(**panel.learning_rates.model_dump())


def _check_learning_rates(
    spec: FigureSpec, name: str, rates: tuple[float, ...], alphas: Sequence[float]
) -> bool:
    """Refuse learning rates that are too large, and those without a sample complexity."""
    place = f"panels.{name}.learning_rates"
    if rates[-1] not in LEARNING_RATE:
        spec.add_fault(f"{place}.stop", f"{shown(rates[-1])} must be {LEARNING_RATE}")
    if not alphas:
        spec.add_fault(place, "needs simulation.alpha, where it is solved")
    return bool(alphas) and rates[-1] in LEARNING_RATE


def _asked(panel: LearningPanel) -> list[str]:
    """List the fields of a panel that ask for more theory."""
    fields = "optimal", "finite_size_theory", "learning_rates"
    return [field for field in fields if getattr(panel, field, None)]


def _read_learning(
    spec: FigureSpec, panel_name: str, panel: LearningPanel, targets: Targets | None
) -> None:
    """Add the curves of a panel of learning curves or spectra."""
    place = f"panels.{panel_name}"
    seen: set[tuple[Any, ...]] = set()
    without_theory = Targets(simulation=targets.simulation if targets else None)
    by_loss: dict[tuple[int, str], Targets] = {}
    for name, problem, run_options in _problems(spec, panel_name, panel):
        loss = _loss(run_options.get("loss", SQUARE))
        same = problem, frozenset((run_options | {"loss": loss}).items())
        if same in seen:
            spec.add_fault(place, _TWICE)
        seen.add(same)
        if panel.lower_bound and not _aligned(problem):
            spec.add_fault(f"{place}.lower_bound", f"needs a spike along the target: {_ALIGNED}")
        if targets is None:
            continue
        of_curve = targets
        if isinstance(problem, Protocol) and theory_faults(problem):
            _check_without_theory(spec, panel_name, panel, targets)
            of_curve = without_theory
        elif isinstance(problem, Protocol) and not problem.is_giant_step:
            _check_smaller_step(spec, panel_name, panel, targets)
        _add_curve(spec, CurveSpec(name, panel_name, problem, of_curve, **run_options), by_loss)


def _check_without_theory(
    spec: FigureSpec, name: str, panel: LearningPanel, targets: Targets
) -> None:
    """Refuse what only the theory could answer, for curves that it does not cover."""
    if panel.bulk not in (None, ISOTROPIC):
        spec.add_fault(f"panels.{name}.bulk", f"needs a theory, {_WITHOUT_THEORY}")
    for field in _asked(panel):
        spec.add_fault(f"panels.{name}.{field}", f"needs a theory, {_WITHOUT_THEORY}")
    if targets.spectrum is not None:
        spec.add_fault("spectrum", f"needs a theory of {name}, {_WITHOUT_THEORY}")
    if targets.simulation is None:
        spec.add_fault(f"panels.{name}", f"needs simulation: there is no theory, {_WITHOUT_THEORY}")


def _check_smaller_step(
    spec: FigureSpec, name: str, panel: LearningPanel, targets: Targets
) -> None:
    """Refuse what only the limit of infinite dimension could answer."""
    for field in ("optimal", "lower_bound", "learning_rates"):
        if getattr(panel, field, None):
            spec.add_fault(f"panels.{name}.{field}", _GIANT_STEP)
    if targets.spectrum is not None:
        spec.add_fault("spectrum", f"{_GIANT_STEP}; {name} has smaller ones")


def _add_curve(spec: FigureSpec, curve: CurveSpec, by_loss: dict[tuple[int, str], Targets]) -> None:
    """Add a curve whose problem allows its loss; those of one loss share their checked grids."""
    try:
        same = id(curve.targets), curve.loss
        if same not in by_loss:
            by_loss[same] = curve.targets.with_loss(curve.loss)  # refuses unknown losses
        targets = by_loss[same]
        check_loss(curve.problem, curve.loss)
        if curve.targets.theory:
            check_theory_of_loss(curve.problem, curve.loss)
    except InvalidParametersError as error:
        spec.add_faults(curve.panel, error)
        return
    spec.curves.append(replace(curve, targets=targets))


def _loss(name: str) -> Loss | str:
    """Return what is the same for all names of a loss."""
    try:
        return lookup_loss(name)
    except KeyError:  # refused with the grid
        return name


def _aligned(problem: Problem) -> bool:
    """Check whether the spike is along the target, as bounds need it."""
    if isinstance(problem, Protocol):
        return problem.alpha0 == math.inf
    return problem.is_aligned


def _read_recovery(spec: FigureSpec, panel_name: str, panel: RecoveryPanel) -> None:
    """Add the curves of a panel of recovery, in the order of the problem's fields."""
    given = spec.config["panels"][panel_name]
    names = (*(field.name for field in fields(Recovery)), "dimension")
    curves: list[RecoverySpec] = []
    seen: set[tuple[Recovery, int | None]] = set()
    for chosen, arguments in _combinations({k: given[k] for k in names if k in given}):
        dimension = arguments.pop("dimension", None)
        try:
            problem = Recovery(**arguments)
        except InvalidParametersError as error:
            spec.add_faults(panel_name, error)
            continue
        if (problem, dimension) in seen:
            spec.add_fault(f"panels.{panel_name}", _TWICE)
        seen.add((problem, dimension))
        curves.append(
            RecoverySpec(_name(panel_name, chosen), panel_name, problem, dimension, panel.networks)
        )
    spec.curves += curves


def _problems(
    spec: FigureSpec, panel_name: str, panel: LearningPanel
) -> Iterator[tuple[str, Problem, dict[str, Any]]]:
    """Yield each curve of a panel: its name, its problem, and its run options."""
    make: Callable[..., Problem] = Protocol if isinstance(panel, StepsPanel) else one_spike
    names = (*signature(make).parameters, *_RUN_OPTIONS)
    given = spec.config["panels"][panel_name]
    for chosen, arguments in _combinations({k: given[k] for k in given if k in names}):
        run_options = {k: arguments.pop(k) for k in _RUN_OPTIONS if k in arguments}
        pairs = {k: tuple(v.items()) for k, v in arguments.items() if isinstance(v, dict)}
        try:
            problem = make(**arguments | pairs)
            validate_bulk(problem, run_options.get("bulk", ISOTROPIC))
        except InvalidParametersError as error:
            spec.add_faults(panel_name, error)
            continue
        yield _name(panel_name, chosen), problem, run_options


def _combinations(
    given: dict[str, Any],
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield, for each curve that a panel's lists span, its entries of them, and all its fields."""
    varied = [k for k in given if isinstance(given[k], list)]
    for values in product(*(given[k] for k in varied)):
        chosen = dict(zip(varied, values, strict=True))
        yield chosen, given | chosen


def _name(panel: str, chosen: dict[str, Any]) -> str:
    """Name a curve by its panel, and by its entries of the panel's lists."""
    label = ",".join(f"{k}={_label(v)}" for k, v in chosen.items())
    return f"{panel}:{label}" if label else panel


def _label(value: str | float | dict[float, float]) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return format_vocabulary(
            tuple((plain_number(k), plain_number(v)) for k, v in value.items())
        )
    return value if isinstance(value, str) else format_number(plain_number(value))
