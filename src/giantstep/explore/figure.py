"""The figure of a view: its YAML, its data and its drawing, as the pipeline makes them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import xarray as xr
import yaml
from matplotlib.figure import Figure

from giantstep.explore.answers import has_parameter
from giantstep.explore.copying import as_panel, title
from giantstep.explore.networks import TEST_SAMPLES, simulated_values
from giantstep.explore.question import OPTIMAL, Question
from giantstep.explore.tasks import NetworksTask
from giantstep.explore.theory import moved_to
from giantstep.explore.view import LOG, POINTS, View, axis_values
from giantstep.figures.compared_panels import compared_panels
from giantstep.figures.learning_curves import learning_figure
from giantstep.pipeline.planning.config import FIGURES, InvalidConfigError
from giantstep.pipeline.planning.config_models import NAME_PATTERN
from giantstep.pipeline.planning.figure_config import read_figure
from giantstep.pipeline.planning.figure_spec import CurveSpec
from giantstep.pipeline.planning.tasks import ParametersTask, TheoryTask
from giantstep.pipeline.stages import parameters, theory
from giantstep.pipeline.stages.merge import join_lines
from giantstep.pipeline.stages.merge_curve import merge_curve
from giantstep.pipeline.stages.result import compute_result
from giantstep.problems.bulk_kind import bulk_of_networks
from giantstep.problems.problem import Problem
from giantstep.theory.equivalent_features import equivalent_features

Draw = Callable[[xr.Dataset, dict[str, Any]], Figure]
# Points of a curve along another parameter than alpha and the ridge: each is a curve of the YAML.
_LISTED = 41
_SCHEMA = "# yaml-language-server: $schema=../../workflow/schemas/figure.schema.json\n"
_MODULE = '''"""{title}."""

from giantstep.figures.{module} import {function} as draw

__all__ = ["draw"]
'''


def figure_config(view: View, networks: NetworksTask | None = None) -> dict[str, Any]:
    """Return the YAML of a learning curve's figure.

    Parameters
    ----------
    view : View
    networks : NetworksTask, optional
        Networks to be drawn beside the theory of the question.
    """
    axis, along_alpha = view.axis, view.x == "alpha"
    config: dict[str, Any] = {
        "title": title(view),
        "caption": "Test error by the theory (lines) and of networks (markers).",
    }
    if along_alpha:
        spacing = {"spacing": "log"} if axis.scale == LOG else {}
        ends = {"start": axis.start, "stop": axis.stop, "points": POINTS}
        config["theory"] = {"alpha": ends | spacing}
    alphas = list(simulated_values(view)) if along_alpha else [view.question.alpha]
    if networks or not along_alpha:
        config["simulation"] = {"alpha": alphas}
    config["panels"] = dict(_panels(view, networks))
    return config


def _panels(view: View, networks: NetworksTask | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the panels: one for each question, and one for networks along another parameter."""
    compared = drawing_of(view)[0] is compared_panels
    for k, (name, question) in enumerate(view.questions):
        beside = networks if k == 0 else None
        panel: dict[str, Any] = {"title": name or _title(view)} if compared else {}
        panel |= as_panel(question)
        if view.x == "alpha":
            panel |= {} if view.pins else {"best_linear": True}
            yield _panel_name(view, k), panel | _sizes(beside, question)
            continue
        if not has_parameter(question, view.x):
            continue
        panel |= _sizes(beside, question)
        values = _listed(axis_values(view.axis, _LISTED))
        yield _panel_name(view, k), panel | {view.x: values, "simulated": False}
        if beside:
            yield "networks", panel | {view.x: _listed(simulated_values(view))}


def _title(view: View) -> str:
    return "this question" if view.pins else "theory"


def _panel_name(view: View, place: int) -> str:
    """Name a panel by its functions, since it names a curve in the legend."""
    name = f"{view.question.activation}_{view.question.target}"
    return name if not view.pins and re.fullmatch(NAME_PATTERN, name) else f"curve{place + 1}"


def _listed(values: Any) -> list[float]:
    numbers = (float(f"{value:.6g}") for value in values)
    return [int(x) if x.is_integer() else x for x in dict.fromkeys(numbers)]


def _sizes(networks: NetworksTask | None, question: Question) -> dict[str, Any]:
    """Return the fields of a panel that say which networks are simulated, if there are any."""
    if networks is None:
        finite = {"dimension": int(question.dimension)} if math.isfinite(question.dimension) else {}
        return finite | {"finite_size_theory": True} if finite else {"simulated": False}
    return {
        "dimension": networks.dimension,
        "networks": networks.networks,
        "test_samples": TEST_SAMPLES,
        "finite_size_theory": True,
    }


def drawing_of(view: View) -> tuple[Draw, str]:
    """Return what draws a view's figure, and the text of its module in a project."""
    best = any(question.ridge == OPTIMAL for _, question in view.questions)
    if view.x == "alpha" and not view.pins and not best:
        return learning_figure, _module("learning_curves", "learning_figure", view)
    return compared_panels, _module("compared_panels", "compared_panels", view)


def _module(module: str, function: str, view: View) -> str:
    return _MODULE.format(title=title(view), module=module, function=function)


def figure_data(
    config: dict[str, Any], networks: NetworksTask | None, replicates: list[list[xr.Dataset]]
) -> xr.Dataset:
    """Compute what the pipeline would merge of a figure's YAML, with networks that are there.

    Raises
    ------
    InvalidConfigError
        If the pipeline refuses the YAML.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder) / FIGURES / "explored.yaml"
        path.parent.mkdir(parents=True)
        path.write_text(as_text(config), encoding="utf-8")
        spec = read_figure(Path(folder), "explored")
    if spec.faults:
        raise InvalidConfigError(spec.faults)
    lines = []
    for curve in spec.curves:
        assert isinstance(curve, CurveSpec)
        lines += _lines(curve, networks, replicates)
    return join_lines(lines)


def _lines(
    spec: CurveSpec, networks: NetworksTask | None, replicates: list[list[xr.Dataset]]
) -> list[xr.Dataset]:
    """Compute one curve, as the jobs of the workflow do."""
    targets, problem = spec.targets, spec.problem
    dimension = spec.dimension or (networks.dimension if networks else 1000)
    assert targets.theory is not None
    limit = TheoryTask(problem, targets.theory, targets.optimal, spec.bulk)
    finite = replace(limit, bulk=bulk_of_networks(problem), dimension=dimension)
    tasks = [limit, finite] if targets.finite_size else [limit]
    return merge_curve(
        spec.name,
        spec.panel,
        compute_result(parameters, ParametersTask(problem)),
        {"bulk": spec.bulk, "loss": spec.loss, "dimension": dimension},
        [compute_result(theory, task) for task in tasks],
        _shards(problem, spec, networks, replicates),
        finite_features=equivalent_features(problem, dimension) if targets.finite_size else None,
    )


def _shards(
    problem: Problem,
    spec: CurveSpec,
    networks: NetworksTask | None,
    replicates: list[list[xr.Dataset]],
) -> list[xr.Dataset]:
    """Return the simulations of a curve's problem, one dataset for each network."""
    if networks is None or spec.targets.simulation is None or not spec.networks:
        return []
    view = networks.view
    if view.x in ("alpha", "ridge"):
        return [one[0] for one in replicates]
    values = simulated_values(view)
    for place, value in enumerate(values):
        if moved_to(view.question, view.x, value).problem == problem:
            return [one[place] for one in replicates]
    return []


def as_text(config: dict[str, Any]) -> str:
    """Write a figure's config as YAML."""
    text: str = yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=100)
    return _SCHEMA + text
