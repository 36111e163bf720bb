"""Keys cover the code that a job uses, and no more."""

import ast
import random
import shutil
import subprocess
import sys

import pytest
from tiny import ROOT

from giantstep.workflow import code, keys
from giantstep.workflow.config import load_config, load_yaml, with_numbers
from giantstep.workflow.plan import make_plan

# What each job imports; besides the code that its key covers, what only names and starts it.
JOBS = {
    "parameters": "giantstep.questions.equivalent_features",
    "theory": "giantstep.questions.solve, giantstep.questions.sweep, giantstep.questions.spectrum",
    "montecarlo": "giantstep.questions.networks, giantstep.questions.task",
    "merge": "giantstep.workflow.merge",
    "figure": "giantstep.workflow.drawing, giantstep.workflow.scores",
}
NAMED = {"__init__.py", "workflow/code.py", "workflow/keys.py", "workflow/shards.py"}
REMARKS = b'''\
"""A docstring."""
# A remark.
TEXTS = "#", \'"\', b"\\\\", f"{NAME!r:>3} # inner", r"""three
# lines"""

class Thing:  # a remark
    """A docstring, "quoted"."""

    def method(self):  # a remark
        r"""A docstring."""
        return {
            "a":
            """kept""",
            "b":
                """text"""
        }
'''
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
    said = f"import sys, giantstep.workflow.jobs, {JOBS[stage]}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    loaded = [name for name in done.stdout.split() if name.partition(".")[0] == "giantstep"]
    for name in loaded:
        path = code.PACKAGE.joinpath(*name.split(".")[1:])
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        names = {path.relative_to(code.PACKAGE).as_posix()} | {
            one.relative_to(code.PACKAGE).as_posix()
            for one in (path, *path.parents)
            if one.is_relative_to(code.PACKAGE)
        }
        empty = path.name == "__init__.py" and not code_of(path)
        # The key of a drawing covers that of its data.
        covered = code.CODE[stage] + (code.CODE["merge"] if stage == "figure" else ())
        assert empty or names & {*covered, *NAMED}, name


def code_of(path):
    """The statements of a module besides its docstring."""
    return [node for node in ast.parse(path.read_text()).body if not isinstance(node, ast.Expr)]


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the package, which keys are made of."""
    copy = shutil.copytree(code.PACKAGE, tmp_path / "src/giantstep")
    shutil.copytree(ROOT / "workflow", tmp_path / "workflow")
    monkeypatch.setattr(code, "PACKAGE", copy)
    yield copy
    code.code_hash.cache_clear()


def all_keys():
    code.code_hash.cache_clear()
    return {stage: keys.key(stage, "a task") for stage in code.CODE}


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
            for stage, code in code.CODE.items()
            if any(name == part or name.startswith(f"{part}/") for part in code)
        }
        after = all_keys()
        changed = {stage for stage in before if after[stage] != before[stage]}
        assert changed == (set() if kind in HARMLESS else covered), (name, kind)
        path.write_text(text)


SCRIPTS = {
    "scripts/compute.py": {"parameters", "theory", "montecarlo"},
    "scripts/merge.py": {"merge"},
    "scripts/figure.py": {"figure"},
    "rules/theory.smk": {"merge", "figure"},
    "rules/common.smk": {"merge", "figure"},
}


def test_keys_cover_scripts_and_rules_but_for_their_remarks(package):
    before = all_keys()
    for name, stages in SCRIPTS.items():
        path = package.parents[1] / "workflow" / name
        text = path.read_text()
        path.write_text("# A remark.\n" + text)
        assert all_keys() == before
        path.write_text(text + '\n"a text"\nNUMBER = 1\n')
        after = all_keys()
        assert {stage for stage in before if after[stage] != before[stage]} == stages
        path.write_text(text)


def test_docstrings_comments_and_blank_lines_alone_do_not_count():
    bare = code.bare(REMARKS)
    for old, new in ((b"A docstring", b"A text"), (b" remark", b""), (b"\n\n", b"\n\n\n")):
        assert code.bare(REMARKS.replace(old, new)) == bare
    for old, new in (
        (b"inner", b"other"),
        (b"# lines", b"# words"),
        (b"   return", b"  return"),
        (b"kept", b"k"),
        (b"text", b"t"),
    ):
        assert code.bare(REMARKS.replace(old, new)) != bare
    rule = b'rule a:\n    shell:\n        """ls"""\n'
    assert code.bare(rule, has_docstrings=False) == rule


def test_one_and_1_0_are_one_number(tmp_path):
    path, read = tmp_path / "figure.yaml", []
    for text in ("beta: [1, 0.5]\n2: 1000", "beta: [1.0, 0.5]\n2.0: 1e3"):
        path.write_text(text)
        read.append(keys.key("merge", load_yaml(path, path.name)))
    assert read[0] == read[1]
    assert with_numbers({"beta": 1.0, "networks": "3"}) == {"beta": 1, "networks": 3}
    assert len({keys.key("merge", part) for part in (1, 2, "1", [1], {"a": 1})}) == 5


def test_code_that_is_edited_and_undone_is_not_what_a_job_began_with(package, tmp_path):
    own = tmp_path / "own.csv"
    own.write_text("1")
    for path in (package / "simulation/gradient_steps.py", own):
        watch, text = code.Watch("montecarlo", str(own)), path.read_text()
        (package / "theory/bounds.py").write_text("edited = 'which networks do not use'")
        watch.check()
        path.write_text(text + "X = 1\n")
        path.write_text(text)
        with pytest.raises(code.ChangedCodeError, match=path.name):
            watch.check()


def test_a_job_of_a_file_that_is_not_planned_is_refused():
    path = "results/parameters/fig2-0123456789ab.nc"
    with pytest.raises(code.ChangedCodeError, match="run the same command again"):
        make_plan(ROOT, load_config(ROOT)).figure("fig2").check(path)
