"""From the YAML files of figures to their curves, with every fault on the way."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path
from typing import Any

from giantstep.problems.bulk_kind import bulk_of_networks, validate_bulk
from giantstep.problems.covariance import names_file
from giantstep.problems.grid import Grid, spaced_axis
from giantstep.problems.losses import SQUARE
from giantstep.problems.protocol import Protocol
from giantstep.questions.choices import GAINS, RIDGE, STOP_AT
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
    MAP_AXES,
    MAP_PARAMETERS,
    NAME_PATTERN,
    Config,
    FigureConfig,
    kind_of,
)
from giantstep.workflow.curves import Curve, Figure
from giantstep.workflow.keys import one_number
from giantstep.workflow.learning_config import learning_curves
from giantstep.workflow.limits import check_limits
from giantstep.workflow.panels import Panel, read_vocabularies

# In place of sizes and limits that are faulty, so that figures are checked, too.
_SOUND: Mapping[str, Any] = {
    "figures": ["fig1"],
    "seed": 0,
    "simulation": {"dimension": 1000, "networks": 1, "trainings": 1, "test_samples": 1},
}


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
    faults, figures = Faults(CONFIG), []
    add_faults(faults, Config, config)
    sound = _SOUND if faults.faults else config
    names = config.get("figures") if isinstance(config, Mapping) else None
    for name in map(str, names if isinstance(names, list) else ()):
        try:
            if _is_name(name):
                figures.append(read_figure(root, name, sound))
        except InvalidConfigError as error:
            faults.faults |= dict.fromkeys(error.faults)
    if not faults.faults:
        check_limits(faults, Config.model_validate(config), figures)
    faults.refuse()
    return figures


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
        With every fault.
    """
    faults = Faults(f"{FIGURES}/{name}.yaml")
    if not (root / faults.file).exists() and name not in (known := figure_names(root)):
        text = f"there is no such figure; those of the project are {', '.join(known)}"
        faults.add("", text + did_you_mean(name, known))
    faults.refuse()
    given = load_yaml(root / faults.file, faults.file)
    checked = Config.model_validate(config)
    curves: list[Curve] = []
    with chdir(root):  # where the files are that the YAML names
        add_faults(faults, FigureConfig, given)
        if isinstance(given, dict) and given.get("panels") == {} and "reads" not in given:
            faults.add("panels", "{} must have at least 1 item, unless the drawing reads files")
        for path in files_of(given) if not faults.faults else ():
            outside = Path(path).is_absolute() or ".." in Path(path).parts
            if outside or not Path(path).is_file():
                field = "reads" if path in given.get("reads", ()) else "panels"
                faults.add(field, f"{path!r} must be a file of the project")
        for title, of_panel in _sound_panels(given, faults).items():
            panel = Panel(title, of_panel, given, checked, faults)
            read = _map_curves if kind_of(of_panel) is MAP else learning_curves
            curves += read(panel)
    faults.refuse()
    return Figure(name, one_number(given), tuple(curves))


def files_of(given: Mapping[str, Any]) -> list[str]:
    """List the files of the project that a figure's YAML names, but for its own code."""
    named = [panel.get("covariance") for panel in given["panels"].values()]
    named = [one for value in named for one in (value if isinstance(value, list) else [value])]
    return [*given.get("reads", ()), *filter(names_file, named)]


def _sound_panels(given: Any, faults: Faults) -> dict[str, Any]:
    """Return the panels without faults, which can be read; none if what they share has some."""
    faulty = {tuple(fault.path.split(".")[:2]) for fault in faults.faults}
    if any(path[0] != "panels" or len(path) < 2 for path in faulty):
        return {}
    return {
        name: one
        for name, one in given["panels"].items()
        if _is_name(str(name)) and ("panels", name) not in faulty
    }


def _is_name(text: str) -> bool:
    """Check that a text is a name; others are faults of what lists them."""
    return re.fullmatch(NAME_PATTERN, text) is not None


def _map_curves(panel: Panel) -> list[Curve]:
    """Return the curve of a panel that is a map, if its corners, and so all points, are allowed."""
    given = {name: panel.given[name] for name in panel.given if name in MAP_PARAMETERS}
    axes = {name: spaced_axis(**axis) for k in "yx" for name, axis in panel.given[k].items()}
    if not _check_axes(panel, given, axes):
        return []
    with panel.faults.collect(panel.name, {}):
        for end in (-1, 0):
            corner = read_vocabularies(given | {name: axis[end] for name, axis in axes.items()})
            point = {name: corner.pop(name) for name in ("alpha", RIDGE, STOP_AT) if name in corner}
            problem = Protocol(**corner)
            Grid((point["alpha"],), (point.get(RIDGE, 1.0),))
        raise_all(layer_of(problem).faults())
        problem.with_giant_step(math.inf)
        bulk = panel.given.get("bulk") or bulk_of_networks(problem)
        validate_bulk(problem, bulk)
        fixed = {name: value for name, value in point.items() if name not in axes}
        arguments = {**fixed, **axes, "bulk": bulk, "gains": GAINS}  # the vertical axis first
        task = Task("sweep", problem, {**arguments, "classification_error": False})
        return [Curve(panel.name, panel.name, problem, bulk, SQUARE, 0, {"map": task}, {})]
    return []


def _check_axes(panel: Panel, given: Mapping[str, Any], axes: Mapping[str, Any]) -> bool:
    """Check that a map says what it needs, once; tell whether it does."""
    before = len(panel.faults.faults)
    for name in axes:
        if name not in MAP_AXES:
            panel.add_fault(name, f"an axis of a map must be one of {', '.join(MAP_AXES)}")
        if name in given:
            panel.add_fault(name, "must be left out: it is an axis of the map")
    if len(axes) < 2:
        panel.add_fault("y", "must be another parameter than x")
    stopped = STOP_AT in (*given, *axes)
    if stopped and RIDGE in (*given, *axes):
        panel.add_fault(RIDGE, f"must be left out with {STOP_AT}")
    for name, parameter in MAP_PARAMETERS.items():
        if parameter.required and name not in (*given, *axes) and not (stopped and name == RIDGE):
            panel.add_fault(name, "this key is missing")
    return len(panel.faults.faults) == before
