"""The table of stages agrees with the modules, the rules and the profile that it names."""

import re
from dataclasses import fields
from importlib import import_module
from inspect import Parameter, signature
from typing import get_args

import pytest
import yaml
from tiny import ROOT

from giantstep.pipeline.planning.layout import STAGES, TASK_STAGES
from giantstep.pipeline.planning.tasks import Task


@pytest.mark.parametrize("stage", TASK_STAGES, ids=lambda stage: stage.name)
def test_a_stage_computes_from_the_fields_of_its_task(stage):
    module = import_module(stage.module)
    taken = signature(module.compute).parameters.values()
    required = {one.name for one in taken if one.default is Parameter.empty}
    named = [{field.name for field in fields(task)} for task in get_args(Task)]
    assert any(required <= names <= {one.name for one in taken} for names in named)
    assert module.TITLE


def test_every_stage_has_a_rule_and_a_group_on_a_cluster():
    rules = "".join(path.read_text() for path in (ROOT / "workflow/rules").glob("*.smk"))
    named = set(re.findall(r"^rule (\w+):", rules, flags=re.MULTILINE))
    alone = {stage.name for stage in STAGES.values() if not stage.batched}
    assert named == {*alone, "identity"}
    for rule in re.split(r"^rule ", rules, flags=re.MULTILINE)[1:]:
        name = rule.partition(":")[0]
        scripts = [STAGES[name].script] if name in STAGES else []
        assert re.findall(r"scripts/(\w+)\.py", rule) == scripts, name
    groups = yaml.safe_load((ROOT / "profiles/slurm/config.yaml").read_text())["groups"]
    assert set(groups) == alone
