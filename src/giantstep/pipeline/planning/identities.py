"""Identities of what is made of a whole figure: hashes of all that it depends on.

These files have names without a key. What they are made from is noted beside them
(workflow/rules/identity.smk).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from giantstep.pipeline.planning.job_code import code_of_figure
from giantstep.pipeline.planning.layout import IDENTITY, STAGES
from giantstep.pipeline.planning.plan import FigurePlan, Plan
from giantstep.pipeline.planning.versions import DRAWING, library_versions
from giantstep.problems.canonical import digest


def identity(plan: Plan, figure: FigurePlan, stage: str) -> str:
    """Hash all that a stage makes a figure's files from, its code included.

    Parameters
    ----------
    plan : Plan
    figure : FigurePlan
    stage : {"merge", "figures", "scores"}

    Raises
    ------
    UntraceableCodeError
    """
    code = code_of_figure(plan.root, STAGES[stage], figure.name).identity
    return digest(code, *_made_from(plan, figure, stage))[:16]


def merged_name(plan: Plan, figure: FigurePlan) -> str:
    """Return the name that is inside a figure's merged file."""
    return f"merge/{figure.name}-{identity(plan, figure, 'merge')}"


def mark(plan: Plan, figure: FigurePlan, stage: str) -> Path:
    """Name the file that notes what a figure's files are made from, from the project."""
    return IDENTITY / figure.name / f"{stage}-{identity(plan, figure, stage)}"


def _made_from(plan: Plan, figure: FigurePlan, stage: str) -> tuple[Any, ...]:
    if stage == "merge":
        curves = [(curve.name, curve.panel, curve.made_from) for curve in figure.curves]
        return figure.science, curves, plan.sizes, plan.root_seed, plan.versions
    merged = identity(plan, figure, "merge")
    if stage == "scores":
        return (merged,)
    if stage == "figures":
        return merged, figure.config, library_versions([DRAWING]) if plan.versions else ""
    raise ValueError(f"say here what the stage {stage} is made from")
