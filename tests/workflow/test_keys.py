"""Keys cover the code that a job uses, and no more."""

import ast
import random
import shutil
import subprocess
import sys

import pytest

from giantstep.workflow import keys

# What each job imports; besides the code that its key covers, what only names and starts it.
JOBS = {
    "parameters": "giantstep.questions.parameters",
    "theory": "giantstep.questions.solve, giantstep.questions.sweep, giantstep.questions.spectrum",
    "montecarlo": "giantstep.questions.networks, giantstep.questions.task",
    "merge": "giantstep.workflow.merge",
    "figure": "giantstep.workflow.drawing, giantstep.workflow.scores",
}
NAMED = {"__init__.py", "workflow/keys.py", "workflow/shards.py"}
EDITS = {
    "comment": lambda text, dice: text + "\n# A remark.\n",
    "layout": lambda text, dice: text + "\n\n\n",
    "docstring": lambda text, dice: text.replace('"""', '"""Read this: ', 1),
    "statement": lambda text, dice: text + f"\nNUMBER = {dice.random()}\n",
    "file": lambda text, dice: "NUMBER = 1\n",
}
HARMLESS = {"comment", "layout", "docstring"}


@pytest.mark.parametrize("stage", JOBS)
def test_a_key_covers_all_modules_that_its_job_imports(stage):
    code = f"import sys, giantstep.workflow.jobs, {JOBS[stage]}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = [name for name in done.stdout.split() if name.partition(".")[0] == "giantstep"]
    for name in loaded:
        path = keys.PACKAGE.joinpath(*name.split(".")[1:])
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        names = {path.relative_to(keys.PACKAGE).as_posix()} | {
            one.relative_to(keys.PACKAGE).as_posix()
            for one in (path, *path.parents)
            if one.is_relative_to(keys.PACKAGE)
        }
        empty = path.name == "__init__.py" and not code_of(path)
        # The key of a drawing covers that of its data.
        covered = keys.CODE[stage] + (keys.CODE["merge"] if stage == "figure" else ())
        assert empty or names & {*covered, *NAMED}, name


def code_of(path):
    """The statements of a module besides its docstring."""
    return [node for node in ast.parse(path.read_text()).body if not isinstance(node, ast.Expr)]


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the package, which keys are made of."""
    copy = shutil.copytree(keys.PACKAGE, tmp_path / "giantstep")
    monkeypatch.setattr(keys, "PACKAGE", copy)
    yield copy
    keys.code_hash.cache_clear()


def all_keys():
    keys.code_hash.cache_clear()
    return {stage: keys.key(stage, "a task") for stage in keys.CODE}


@pytest.mark.parametrize("seed", [1, 2])
def test_edits_change_the_keys_of_what_uses_the_code_and_no_others(package, seed):
    dice, before = random.Random(seed), all_keys()
    modules = sorted(package.rglob("*.py"))
    for path in dice.sample(modules, 15):
        name, kind = path.relative_to(package).as_posix(), dice.choice(list(EDITS))
        text = path.read_text()
        path.write_text(EDITS[kind](text, dice))
        covered = {
            stage
            for stage, code in keys.CODE.items()
            if any(name == part or name.startswith(f"{part}/") for part in code)
        }
        after = all_keys()
        changed = {stage for stage in before if after[stage] != before[stage]}
        assert changed == (set() if kind in HARMLESS else covered), (name, kind)
        path.write_text(text)


def test_networks_do_not_depend_on_the_theory_nor_anything_computed_on_drawings():
    assert "theory" not in keys.CODE["montecarlo"]
    assert "simulation" not in keys.CODE["theory"]
    drawing = {"figures", "explore", "cli"}
    assert all(not drawing & set(keys.CODE[stage]) for stage in keys.CODE if stage != "figure")


def test_other_parameters_give_another_key():
    assert len({keys.key("theory", part) for part in (1, 2, "1", [1], {"a": 1})}) == 5
    assert keys.key("theory", 1) != keys.key("parameters", 1)
