"""A plan with a record of the code that its names cover, so that jobs need not read it again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from giantstep.pipeline.planning import identities
from giantstep.pipeline.planning.fingerprint import code_bytes
from giantstep.pipeline.planning.job_code import CodeRecord, read_code_anew, record
from giantstep.pipeline.planning.layout import FIGURE_STAGES
from giantstep.pipeline.planning.own_package import code_folder
from giantstep.pipeline.planning.plan import Plan, make_plan


def make_recorded_plan(root: Path, config: dict[str, Any]) -> tuple[Plan, CodeRecord]:
    """Make a plan, as `make_plan` does, and the record for its jobs.

    The record is empty if code was edited meanwhile.
    """
    read_code_anew()
    files = code_bytes(code_folder(root))
    plan = make_plan(root, config)
    for figure in plan.figures.values():
        for stage in FIGURE_STAGES:
            identities.identity(plan.root, figure, stage.name)
    return plan, record(plan.root, files)
