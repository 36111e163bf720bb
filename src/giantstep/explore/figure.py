"""The figure of a view: its YAML, and a module that draws all curves in one plot."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import yaml

from giantstep.explore.copying import as_panel, listed, title
from giantstep.explore.parameters import LOG
from giantstep.explore.tasks import TEST_SAMPLES, NetworksTask
from giantstep.explore.view import POINTS, View, simulated_values
from giantstep.workflow.config import FIGURES

_MODULE = '''"""{title}."""

from giantstep.figures.compared_panels import compared_panels as draw

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
    alphas = list(simulated_values(view)) if along_alpha else [view.question["alpha"]]
    config: dict[str, Any] = {
        "title": title(view),
        "caption": "Test error by the theory (lines) and of networks (markers).",
        "simulation": {"alpha": alphas},
        "panels": dict(_panels(view, networks)),
    }
    if along_alpha:
        ends = {"start": axis.start, "stop": axis.stop, "points": POINTS}
        config["theory"] = {"alpha": ends | ({"spacing": "log"} if axis.scale == LOG else {})}
    return config


def _panels(view: View, networks: NetworksTask | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the panels: one for each question, and one for networks along another parameter."""
    along_alpha = view.x == "alpha"
    for k, (name, question) in enumerate(view.questions):
        if not question.has(view.x):
            continue
        beside = networks if k == 0 else None
        dimension = beside.dimension if beside else question["dimension"]
        panel = {"title": name or "this question"} | as_panel(view, question)
        if math.isfinite(dimension):
            panel |= {"dimension": int(dimension), "finite_size_theory": True}
        if beside:
            panel |= {"networks": beside.networks, "test_samples": TEST_SAMPLES}
        shown = {"best_linear": not view.pins, "simulated": along_alpha and beside is not None}
        yield f"curve{k + 1}", panel | shown
        if beside and not along_alpha:
            yield "networks", panel | {view.x: listed(simulated_values(view))}


def figure_files(view: View, networks: NetworksTask | None, name: str) -> dict[str, str]:
    """Return what the files of a view's figure hold, by their paths in a project."""
    config = figure_config(view, networks)
    text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=100)
    module = _MODULE.format(title=title(view))
    return {f"{FIGURES}/{name}.yaml": text, f"{FIGURES}/{name}.py": module}
