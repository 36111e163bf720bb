"""Identities of what is made of a whole figure: hashes of all that it depends on.

These files have names without a key. What they are made from is noted beside them
(workflow/rules/identity.smk).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from giantstep.pipeline.planning.figure_plan import FigurePlan
from giantstep.pipeline.planning.job_code import code_of_figure
from giantstep.pipeline.planning.layout import IDENTITY, STAGES
from giantstep.pipeline.planning.shard_task import block_networks
from giantstep.pipeline.planning.tasks import Curve
from giantstep.pipeline.planning.versions import DRAWING, library_versions
from giantstep.problems.canonical import digest


def identity(root: Path, figure: FigurePlan, stage: str) -> str:
    """Hash all that a stage makes a figure's files from, its code included.

    Parameters
    ----------
    root : Path
        The folder that holds workflow/.
    figure : FigurePlan
    stage : {"merge", "figures", "scores"}

    Raises
    ------
    UntraceableCodeError
    """
    code = code_of_figure(root, STAGES[stage], figure.drawing)
    return digest(code, *_made_from(root, figure, stage))[:16]


def merged_name(root: Path, figure: FigurePlan) -> str:
    """Return the name that is inside a figure's merged file."""
    return f"merge/{figure.name}-{identity(root, figure, 'merge')}"


def mark(root: Path, figure: FigurePlan, stage: str) -> Path:
    """Name the file that notes what a figure's files are made from, from the project."""
    return IDENTITY / figure.name / f"{stage}-{identity(root, figure, stage)}"


def _made_from(root: Path, figure: FigurePlan, stage: str) -> tuple[Any, ...]:
    if stage == "merge":
        curves = [vars(curve) | {"keys": _results(curve)} for curve in figure.curves]
        return figure.science, curves, figure.sizes, figure.root_seed, figure.versions
    merged = identity(root, figure, "merge")
    if stage == "scores":
        return (merged,)
    if stage == "figures":
        return merged, figure.config, library_versions([DRAWING]) if figure.versions else ""
    raise ValueError(f"say here what the stage {stage} is made from")


def _results(curve: Curve) -> list[tuple[str, str, list[int]]]:
    """List a curve's results by stage and key; all shards of one are one, with its replicates."""
    found: dict[tuple[str, str], list[int]] = {}
    for stage, keys in curve.keys.items():
        for key in keys:
            folder, _, block = key.partition("/")
            found.setdefault((stage, folder), []).extend(block_networks(block))
    return [(*result, networks) for result, networks in found.items()]
