"""A result's key follows its parameters and the code that computes it, and nothing else."""

import ast
import random
import shutil
from pathlib import Path

import grimp
import numpy as np
import pytest

import giantstep
from giantstep.pipeline.planning import fingerprint as fingerprint_module
from giantstep.pipeline.planning.fingerprint import (
    UntraceableImportError,
    fingerprint,
    function_fingerprint,
    key,
)
from giantstep.pipeline.planning.layout import STAGES
from giantstep.problems.protocol import Protocol

SOURCE = Path(giantstep.__file__).parent
MODULES = {name: stage.module for name, stage in STAGES.items() if stage.by_task}


def forget():
    for cached in (fingerprint, function_fingerprint, fingerprint_module._read_module):
        cached.cache_clear()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the package to edit, of which fingerprints are taken."""
    shutil.copytree(SOURCE, tmp_path / "giantstep", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(fingerprint_module, "_ROOT", tmp_path)
    forget()
    yield tmp_path / "giantstep"
    forget()


@pytest.fixture
def print_of(tmp_path):
    def fingerprint_of(text):
        path = tmp_path / "module.py"
        path.write_text(text)
        forget()
        return fingerprint(str(path))

    return fingerprint_of


def test_words_and_layout_do_not_change_a_fingerprint(print_of):
    plain = print_of("def f(x):\n    return x + 1\n")
    assert plain == print_of('"""Words."""\ndef f(x):\n    """More."""\n    return (x+1)  # why\n')
    assert plain != print_of("def f(x):\n    return x + 2\n")
    assert plain != print_of("def f(x, y=1):\n    return x + 1\n")


@pytest.mark.parametrize(
    "text",
    [
        "from . import solve\n",
        "from .solve import Solver\n",
        "import giantstep\n",
        "import giantstep.theory.solve\n",
        "from giantstep import solve\n",
        "from giantstep.theory import bulk\n",
        "from giantstep.theory.bulk import interface, nothing\n",
        "from importlib import import_module\nimport_module('giantstep.theory.solve')\n",
        "__import__('giantstep.theory.solve')\n",
        "exec('from giantstep.theory.solve import solve')\n",
    ],
)
def test_an_import_that_cannot_be_followed_is_refused(print_of, text):
    with pytest.raises(UntraceableImportError, match="cannot be followed"):
        print_of(text)


def test_modules_loaded_by_a_computed_name_count_when_they_are_named(tmp_path):
    script = tmp_path / "draw.py"
    script.write_text("from importlib import import_module\ndraw = import_module(input())\n")
    figures = [f"giantstep.figures.{name}" for name in ("fig2", "fig3")]
    assert len({fingerprint(str(script), (figure,)) for figure in figures}) == 2


def test_packages_hold_a_docstring_and_nothing_that_a_fingerprint_would_miss():
    packages = [path for path in SOURCE.rglob("__init__.py") if path.parent != SOURCE]
    assert packages
    for path in packages:
        (only,) = ast.parse(path.read_text(encoding="utf-8")).body
        assert isinstance(only, ast.Expr), path


def test_the_solver_feeds_the_theory_and_not_the_simulations(package):
    def outdated_by(module):
        before = {name: fingerprint(module) for name, module in MODULES.items()}
        with (package / f"{module}.py").open("a") as file:
            file.write("edited = True\n")
        forget()
        return {name for name, module in MODULES.items() if fingerprint(module) != before[name]}

    assert outdated_by("theory/fixed_point") == {"theory", "spectrum"}
    assert outdated_by("simulation/gradients") == {"montecarlo", "eigenvalues", "recovery"}
    assert outdated_by("pipeline/stages/theory") == {"theory"}
    assert outdated_by("problems/canonical") == {"montecarlo", "eigenvalues", "recovery"}


def changed_constant(text, chance):
    """Change one number in a module, outside the table of functions; None where there is none."""
    tree = ast.parse(text)
    tree_without_table = [node for node in tree.body if not fingerprint_module._is_table(node)]
    numbers = [
        node
        for part in tree_without_table
        for node in ast.walk(part)
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    ]
    if not numbers:
        return None
    chosen = chance.choice(numbers)
    chosen.value = not chosen.value if isinstance(chosen.value, bool) else chosen.value + 1
    return ast.unparse(tree)


@pytest.mark.parametrize("seed", range(5))
def test_a_changed_constant_outdates_exactly_the_stages_that_import_it(package, seed):
    graph, chance = grimp.build_graph("giantstep"), random.Random(seed)
    imported = {
        name: graph.find_upstream_modules(start) | {start} for name, start in MODULES.items()
    }
    everything = sorted(set().union(*imported.values()) - {"giantstep", "giantstep.validation"})
    edited = None
    while edited is None:  # some modules hold no number
        module = chance.choice(everything)
        path = package.parent.joinpath(*module.split(".")).with_suffix(".py")
        edited = path.is_file() and changed_constant(path.read_text(), chance) or None
    before = {name: fingerprint(start) for name, start in MODULES.items()}
    path.write_text(edited)
    forget()
    outdated = {name for name, start in MODULES.items() if fingerprint(start) != before[name]}
    assert outdated == {name for name, modules in imported.items() if module in modules}, module


def test_equal_parameters_have_equal_keys_however_they_are_written():
    def key_of(problem):
        return key("slug", "giantstep.theory.equivalent_features", ("tanh", "sign"), problem)

    one = Protocol("tanh", "sign", 1, alpha0=np.float64(2), beta=1)
    assert key_of(one) == key_of(Protocol("tanh", "sign", 1.0, alpha0=2.0, beta=1.0, noise=0))
    assert key_of(one) != key_of(Protocol("tanh", "sign", 1, alpha0=2, beta=1, noise=1e-12))


def test_another_activation_or_another_wording_changes_no_other_key(package):
    def keys():
        forget()
        return [key("s", "giantstep.simulation.simulate", (name,), 1) for name in ("tanh", "sin")]

    before = keys()
    entry = '        ScalarFunction("arctan", "", np.arctan, np.cos, "odd"),\n'
    start = '        ScalarFunction(\n            "tanh"'
    for module, old, new, same in (
        ("numerics/scalar_functions", start, entry + start, (True, True)),
        ("validation", "a whole number", "an integer", (True, True)),
        ("numerics/scalar_functions", "np.tanh,", "np.arctan,", (False, True)),
        ("problems/canonical", "spawn_key=(", "spawn_key=(1,", (False, False)),
    ):
        path = package / f"{module}.py"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))
        assert tuple(a == b for a, b in zip(before, keys(), strict=True)) == same
        path.write_text(text)
    assert keys() == before
