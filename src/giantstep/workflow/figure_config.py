"""From the YAML files of figures to their curves, with every fault on the way."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any

from giantstep.problems.bulk_kind import bulk_of_networks, validate_bulk
from giantstep.problems.covariance import names_file
from giantstep.problems.grid import Grid, spaced_axis
from giantstep.problems.losses import SQUARE
from giantstep.problems.protocol import Protocol
from giantstep.questions.choices import GAINS, RIDGE, STOP_AT
from giantstep.questions.costs import cost_of, total_cost
from giantstep.questions.task import Task
from giantstep.suggestions import did_you_mean
from giantstep.theory.first_layer.layer import layer_of
from giantstep.validation import raise_all
from giantstep.workflow.config import (
    CONFIG,
    FIGURES,
    Faults,
    InvalidConfigError,
    figure_names,
    load_yaml,
)
from giantstep.workflow.config_checks import add_faults
from giantstep.workflow.config_models import (
    MAP,
    MAP_PARAMETERS,
    Config,
    FigureConfig,
    kind_of,
)
from giantstep.workflow.curves import Curve, Figure
from giantstep.workflow.learning_config import learning_curves
from giantstep.workflow.panels import Panel

# Of the parameters of a map.
_ONCE = "must be given once: as an axis or beside the axes, as ridge or as stop_at"


def read_figures(root: Path, config: Mapping[str, Any]) -> list[Figure]:
    """Check a configuration with all the figures that it lists, and return these.

    Parameters
    ----------
    root : Path
        The folder that holds config/.
    config : mapping
        The content of config/config.yaml with its overlays.

    Raises
    ------
    InvalidConfigError
        With every fault of every file.
    """
    faults, figures = Faults(CONFIG), list[Figure]()
    add_faults(faults, Config, config)
    is_sound = not faults.faults
    unknown = tuple(f"{CONFIG}: {place}" for place in ("top level", "figures"))
    for name in () if any(x.startswith(unknown) for x in faults.faults) else config["figures"]:
        try:
            if is_sound:
                figures.append(read_figure(root, name, config))
            else:  # sizes are not known
                load_figure(root, name)
        except InvalidConfigError as error:
            faults.faults |= dict.fromkeys(error.faults)
    if not faults.faults:
        _check_limits(faults, Config.model_validate(config), figures)
    faults.refuse()
    return figures


def _check_limits(faults: Faults, config: Config, figures: Sequence[Figure]) -> None:
    """Refuse what takes more than the configuration allows."""
    curves = (curve for figure in figures for curve in figure.curves)
    tasks = (task for one in curves for task in (*one.theory.values(), *one.networks.values()))
    taken = total_cost([*map(cost_of, tasks)])
    for name, needed, unit in (
        ("core_hours", taken.seconds / 3600, "core-hours"),
        ("memory", taken.memory / 1024, "GiB of memory in one job"),
    ):
        if needed > (allowed := getattr(config.limits, name)):
            text = f"the figures take {needed:,.4g} {unit}, and must take at most {allowed:,.4g}"
            faults.add(f"limits.{name}", f"{text}: make them smaller, or raise this limit")


def read_figure(root: Path, name: str, config: Mapping[str, Any]) -> Figure:
    """Read one figure's YAML, check all of it, and list its curves.

    Parameters
    ----------
    root : Path
        The folder that holds config/.
    name : str
    config : mapping
        The content of config/config.yaml with its overlays, checked.

    Raises
    ------
    InvalidConfigError
        With every fault of what it says, or else of what that means.
    """
    given, checked = load_figure(root, name), Config.model_validate(config)
    faults, curves = Faults(f"{FIGURES}/{name}.yaml"), list[Curve]()
    with chdir(root):
        for title, panel in given["panels"].items():
            read = _map_curves if kind_of(panel) is MAP else learning_curves
            curves += read(Panel(title, panel, given, checked, faults))
    maps = [kind_of(panel) is MAP for panel in given["panels"].values()]
    shown = maps and (all(maps) or "simulation" in given or "alpha" in given.get("theory", ()))
    if not shown and not (root / FIGURES / f"{name}.py").is_file():
        text = "or learning curves with theory.alpha or simulation.alpha"
        faults.add("panels", f"must be maps, {text}, as the figure has no drawing of its own")
    faults.refuse()
    return Figure(name, given, tuple(curves))


def load_figure(root: Path, name: str) -> dict[str, Any]:
    """Read one figure's YAML, and check what it says.

    Raises
    ------
    InvalidConfigError
    """
    faults = Faults(f"{FIGURES}/{name}.yaml")
    if not (root / faults.file).exists() and name not in (known := figure_names(root)):
        text = f"there is no such figure; those of the project are {', '.join(known)}"
        faults.add("", text + did_you_mean(name, known))
        faults.refuse()
    given: dict[str, Any] = load_yaml(root / faults.file, faults.file)
    with chdir(root):  # where the files are that the YAML names
        add_faults(faults, FigureConfig, given)
    faults.refuse()
    for path in files_of(given):
        outside = Path(path).is_absolute() or ".." in Path(path).parts
        if outside or not (root / path).is_file():
            field = "reads" if path in given.get("reads", ()) else "panels"
            faults.add(field, f"{path!r} must be a file of the project")
    faults.refuse()
    return given


def files_of(given: Mapping[str, Any]) -> list[str]:
    """List the files of the project that a figure's YAML names, but for its own code."""
    named = [panel.get("covariance") for panel in given["panels"].values()]
    named = [one for value in named for one in (value if isinstance(value, list) else [value])]
    return [*given.get("reads", ()), *filter(names_file, named)]


def _map_curves(panel: Panel) -> list[Curve]:
    """Return the curve of a panel that is a map, if its corners, and so all points, are allowed."""
    given = {name: panel.given[name] for name in panel.given if name in MAP_PARAMETERS}
    axes = {name: spaced_axis(**axis) for k in "yx" for name, axis in panel.given[k].items()}
    names = *given, *panel.given["y"], *panel.given["x"]
    said = Counter(RIDGE if name == STOP_AT else name for name in names)
    faults = {x: _ONCE for x, count in said.items() if count > 1}
    missing = (x for x, one in MAP_PARAMETERS.items() if said[x] < one.required)
    faults |= dict.fromkeys(missing, "this key is missing")
    for field, why in faults.items():
        panel.add_fault(field, why)
    if faults:
        return []
    with panel.collect():
        for end in (-1, 0):
            corner = given | {name: axis[end] for name, axis in axes.items()}
            point = {name: corner.pop(name) for name in ("alpha", RIDGE, STOP_AT) if name in corner}
            problem = Protocol(**corner)
            Grid((point["alpha"],), (point.get(RIDGE, 1.0),))
            problem.with_giant_step(math.inf)
        raise_all(layer_of(problem).faults())
        bulk = panel.given.get("bulk") or bulk_of_networks(problem)
        validate_bulk(problem, bulk)
        fixed = {name: value for name, value in point.items() if name not in axes}
        arguments = {**fixed, **axes, "bulk": bulk, "gains": GAINS}  # the vertical axis first
        task = Task("sweep", problem, {**arguments, "classification_error": False})
        return [Curve(panel.name, panel.name, problem, bulk, SQUARE, 0, {"map": task}, {})]
    return []
