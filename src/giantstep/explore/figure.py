"""The figure of a view: its YAML, and a module where learning curves are drawn in one panel."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from giantstep.explore.copying import as_panel, listed, title
from giantstep.explore.parameters import LOG, OPTIMAL
from giantstep.explore.question import Question
from giantstep.explore.tasks import TEST_SAMPLES, NetworksTask
from giantstep.explore.view import POINTS, View, simulated_values
from giantstep.workflow.config import FIGURES
from giantstep.workflow.config_models import NAME_PATTERN

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
    config: dict[str, Any] = {
        "title": title(view),
        "caption": "Test error by the theory (lines) and of networks (markers).",
    }
    if along_alpha:
        spacing = {"spacing": "log"} if axis.scale == LOG else {}
        ends = {"start": axis.start, "stop": axis.stop, "points": POINTS}
        config["theory"] = {"alpha": ends | spacing}
    alphas = list(simulated_values(view)) if along_alpha else [view.question["alpha"]]
    if networks or not along_alpha:
        config["simulation"] = {"alpha": alphas}
    config["panels"] = dict(_panels(view, networks))
    return config


def _panels(view: View, networks: NetworksTask | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the panels: one for each question, and one for networks along another parameter."""
    compared, along_alpha = _has_compared_panels(view), view.x == "alpha"
    unnamed = "this question" if view.pins else "theory"
    for k, (name, question) in enumerate(view.questions):
        if not question.has(view.x):
            continue
        beside = networks if k == 0 else None
        panel: dict[str, Any] = {"title": name or unnamed} if compared else {}
        panel |= as_panel(view, question) | _sizes(beside, question)
        fitting = {} if view.pins else {"best_linear": True}
        # It names a curve in the legend.
        functions = f"{question['activation']}_{question['target']}"
        plain = not view.pins and re.fullmatch(NAME_PATTERN, functions)
        yield (
            functions if plain else f"curve{k + 1}",
            panel | (fitting if along_alpha else {"simulated": False}),
        )
        if beside and not along_alpha:
            yield "networks", panel | {view.x: listed(simulated_values(view))}


def _sizes(networks: NetworksTask | None, question: Question) -> dict[str, Any]:
    """Return the fields of a panel that say which networks are simulated, if there are any."""
    if networks is None and math.isinf(question["dimension"]):
        return {"simulated": False}
    if networks is None:
        return {"dimension": int(question["dimension"]), "finite_size_theory": True}
    sizes = {"dimension": networks.dimension, "networks": networks.networks}
    return sizes | {"test_samples": TEST_SAMPLES, "finite_size_theory": True}


def _has_compared_panels(view: View) -> bool:
    """Check whether panels are curves of one plot, rather than plots of their own."""
    best = any(question["ridge"] == OPTIMAL for _, question in view.questions)
    return view.x != "alpha" or bool(view.pins) or best


def write_figure(
    folder: Path, view: View, networks: NetworksTask | None, name: str
) -> tuple[Path, ...]:
    """Write the YAML of a view's figure, and its module if it needs one, into a project."""
    paths = yaml_path, module_path = figure_paths(folder, name)
    yaml_path.parent.mkdir(parents=True, exist_ok=True)
    config = figure_config(view, networks)
    text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=100)
    yaml_path.write_text(text, encoding="utf-8")
    if not _has_compared_panels(view):
        return paths[:1]
    module_path.write_text(_MODULE.format(title=title(view)), encoding="utf-8")
    return paths


def figure_paths(folder: Path, name: str) -> tuple[Path, Path]:
    """Return the paths of a figure's YAML and module in a project."""
    return folder / FIGURES / f"{name}.yaml", folder / FIGURES / f"{name}.py"
