"""A result's key follows its parameters and the code that computes it, and nothing else."""

import ast
import random
import shutil
from pathlib import Path

import grimp
import numpy as np
import pytest
from tiny import ROOT

import giantstep
from giantstep.pipeline.planning import fingerprint as fingerprint_module
from giantstep.pipeline.planning import job_code
from giantstep.pipeline.planning.fingerprint import (
    RUNNERS,
    fingerprint,
    function_fingerprint,
)
from giantstep.pipeline.planning.job_code import code_of_figure, code_of_task
from giantstep.pipeline.planning.keys import result_keys
from giantstep.pipeline.planning.layout import STAGES, TASK_STAGES, THEORY_STAGES
from giantstep.pipeline.planning.tasks import ParametersTask
from giantstep.pipeline.planning.traceable import UntraceableCodeError
from giantstep.problems.protocol import Protocol

SOURCE = Path(giantstep.__file__).parent
SCRIPTS = ROOT / "workflow/scripts"
# Stages of figures, for one of them.
FIGURE = "fig2"
SIMULATIONS = {"montecarlo", "eigenvalues", "recovery"}
PROBLEM = Protocol("tanh", "sign", 1, alpha0=1, beta=1)


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of the package and the scripts to edit, of which fingerprints are taken."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(SOURCE, tmp_path / "src/giantstep", ignore=ignored)
    shutil.copytree(SCRIPTS, tmp_path / "workflow/scripts", ignore=ignored)
    monkeypatch.setattr(fingerprint_module, "_ROOT", tmp_path / "src")
    job_code.read_code_anew()
    yield tmp_path
    job_code.read_code_anew()


def identities(root, activation="tanh", target="sign"):
    """The code of each stage, for one problem and one figure, as it is now."""
    job_code.read_code_anew()
    task = ParametersTask(Protocol(activation, target, 1, alpha0=1, beta=1))
    return {
        name: (
            code_of_task(root, stage, task)
            if stage.by_task
            else code_of_figure(root, stage, f"giantstep.figures.{FIGURE}")
        )
        for name, stage in STAGES.items()
    }


def outdated(before, after):
    return {name for name in before if before[name] != after[name]}


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.fixture
def print_of(tmp_path):
    def fingerprint_of(text, loads=()):
        path = tmp_path / "script.py"
        path.write_text(text)
        return fingerprint(str(path), loads)

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
        "import giantstep.theory.readout.solve\n",
        "from giantstep import solve\n",
        "from giantstep.theory.features import bulk\n",
        "from giantstep.theory.features.bulk import interface, nothing\n",
        "from importlib import import_module\nimport_module('giantstep.theory.readout.solve')\n",
        "from importlib import import_module as load\n",
        "import importlib.util\n",
        "import runpy\n",
        "import helper\n",
        "from helper import number\n",
        "__import__('giantstep.theory.readout.solve')\n",
        "f = __builtins__\n",
        "import sys\nsolve = sys.modules['giantstep.theory.readout.solve']\n",
        "import sys as system\nsolve = system.modules\n",
        "from sys import modules\n",
        "solve = globals()['__builtins__']\n",
        "exec('from giantstep.theory.readout.solve import solve')\n",
        "run = eval\n",
        "scale = float(open('scale.txt').read())\n",
        "from pathlib import Path\nscale = float(Path('scale.txt').read_text())\n",
        "import numpy as np\nscale = np.load('scale.npy')\n",
        "import numpy as np\nscale = getattr(np, 'load')('scale.npy')\n",
        "import numpy as np\nread = np\nscale = read.load('scale.npy')\n",
        "from numpy import loadtxt\n",
        "from numpy.random import Generator as G, bit_generator\nG.x = bit_generator.os\n",
        "import numpy as np\nscale = np.fromfile('scale')\n",
        "import numpy.ctypeslib\n",
        "from scipy import io\n",
        "import scipy.io\n",
        "import xarray as xr\nscale = xr.open_dataset('scale.nc')\n",
        "import pandas as pd\nscale = pd.read_csv('scale.csv')\n",
        "import os\nscale = os.environ['SCALE']\n",
        "from os import getenv\n",
        "import logging\nscale = logging.os.getenv('SCALE')\n",
        "import ctypes\n",
        "import subprocess\n",
        "import socket\n",
        "from urllib.request import urlopen\n",
        "import sys\nscale = sys.argv[1]\n",
    ],
)
def test_code_that_cannot_be_followed_is_refused(print_of, text):
    with pytest.raises(UntraceableCodeError, match="cannot be followed"):
        print_of(text)


def test_a_refusal_names_the_place_and_the_remedy(copy):
    with (copy / "src/giantstep/theory/readout/solve.py").open("a") as file:
        file.write("SCALE = np.load('scale.npy')\n")
    place = r"^giantstep\.theory\.solve, line \d+: 'np\.load' cannot be followed.*task"
    with pytest.raises(UntraceableCodeError, match=place):
        identities(copy)


@pytest.mark.parametrize("name", giantstep.__all__)
def test_the_package_offers_what_it_lists(name):
    assert getattr(giantstep, name).__name__ == name
    assert name in dir(giantstep)


def test_what_the_package_itself_imports_counts_for_all(copy):
    eager = "from giantstep.theory import optima\n"
    edit(copy / "src/giantstep/__init__.py", "if TYPE", f"{eager}if TYPE")
    before = identities(copy)
    with (copy / "src/giantstep/theory/optima.py").open("a") as file:
        file.write("edited = True\n")
    assert outdated(before, identities(copy)) == set(STAGES)


def test_modules_loaded_by_a_computed_name_count_when_they_are_named(print_of):
    script = "from importlib import import_module\ndraw = import_module(str(1))\n"
    figures = [f"giantstep.figures.{name}" for name in ("fig2", "fig3")]
    assert len({print_of(script, (figure,)) for figure in figures}) == 2


def test_packages_hold_a_docstring_alone():
    packages = [path for path in SOURCE.rglob("__init__.py") if path.parent != SOURCE]
    assert packages
    for path in packages:
        (only,) = ast.parse(path.read_text(encoding="utf-8")).body
        assert isinstance(only, ast.Expr), path


@pytest.mark.parametrize(
    ("module", "stages"),
    [
        (
            "src/giantstep/theory/readout/fixed_point",
            {"theory", "dimensions", "learning_rates", "maps", "spectrum"},
        ),
        ("src/giantstep/pipeline/stages/theory", {"theory"}),
        ("src/giantstep/pipeline/stages/shards", SIMULATIONS),
        ("src/giantstep/problems/seeds", SIMULATIONS | {"merge", "scores"}),
        ("src/giantstep/pipeline/planning/tasks", {"merge"}),
        ("src/giantstep/pipeline/planning/layout", {"merge"}),
        ("src/giantstep/figures/fig2", {"figures"}),
        ("src/giantstep/figures/fig3", set()),
        ("src/giantstep/pipeline/storage/netcdf", set(STAGES)),
        ("src/giantstep/__init__", set(STAGES)),
        ("src/giantstep/pipeline/__init__", set(STAGES)),
        ("src/giantstep/pipeline/runtime/run_lock", set()),
        ("workflow/scripts/compute", {stage.name for stage in THEORY_STAGES}),
        ("workflow/scripts/simulate", SIMULATIONS),
        ("workflow/scripts/merge", {"merge"}),
        ("workflow/scripts/scores", {"scores"}),
    ],
)
def test_an_edit_outdates_what_runs_it(copy, module, stages):
    before = identities(copy)
    with (copy / f"{module}.py").open("a") as file:
        file.write("edited = True\n")
    assert outdated(before, identities(copy)) == stages


def imported_by_stage():
    """What each stage's code imports, by import-linter's graph: another route to the same."""
    graph = grimp.build_graph("giantstep", include_external_packages=False)
    for module in RUNNERS:
        graph.remove_module(module)
    found = {}
    for name, stage in STAGES.items():
        script = SCRIPTS / f"{stage.script}.py"
        starts = set()
        for node in ast.walk(ast.parse(script.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("giantstep"):
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                starts |= (inner & graph.modules) or {node.module}
        if stage.by_task:
            starts.add(stage.module)
        elif name == "figures":
            starts.add(f"giantstep.figures.{FIGURE}")
        starts -= RUNNERS
        modules = set().union(*map(graph.find_upstream_modules, starts)) | starts
        files = (SOURCE.parent / f"{module.replace('.', '/')}.py" for module in modules)
        found[name] = {f"src/{p.relative_to(SOURCE.parent)}" for p in files if p.exists()}
        found[name].add(f"workflow/scripts/{script.name}")
    return found


def is_counted(path, node):
    """Whether a part of a module counts, or is the table of functions, or wording."""
    if path.endswith("scalar_functions.py"):
        return not any(fingerprint_module._is_table(part) for part in ast.walk(node))
    return not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def randomly_edited(path, text, chance):
    """Change a constant or an operator, delete a statement or double it; None if there is none."""
    tree = ast.parse(text)
    lists = [
        (body, place)
        for node in ast.walk(tree)
        for body in (getattr(node, "body", None), getattr(node, "orelse", None))
        if isinstance(body, list)
        for place, statement in enumerate(body)
        if is_counted(path, statement) and not isinstance(statement, ast.Pass)
    ]
    if not lists:
        return None
    body, place = chance.choice(lists)
    parts = [part for part in ast.walk(body[place]) if is_counted(path, part)]
    operators = [part for part in parts if isinstance(part, ast.BinOp)]
    numbers = [
        part
        for part in parts
        if isinstance(part, ast.Constant) and isinstance(part.value, int | float)
    ]
    kind = chance.choice(["constant"] * bool(numbers) + ["operator"] * bool(operators) + ["delete"])
    if kind == "constant":
        number = chance.choice(numbers)
        number.value = not number.value if isinstance(number.value, bool) else number.value + 1
    elif kind == "operator":
        operator = chance.choice(operators)
        operator.op = ast.Mod() if isinstance(operator.op, ast.Sub) else ast.Sub()
    elif chance.random() < 0.5:
        body.insert(place, body[place])
    elif len(body) > 1:
        del body[place]
    else:
        body[place] = ast.Pass()
    return ast.unparse(tree)


@pytest.mark.parametrize(
    "seed",
    [
        *range(5),
        *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(5, 105)),
    ],
)
def test_a_random_edit_outdates_exactly_the_stages_that_run_it(copy, seed):
    chance, imported = random.Random(seed), imported_by_stage()
    before, edited = identities(copy), None
    while edited is None:
        path = chance.choice(sorted(set().union(*imported.values())))
        original = (copy / path).read_text()
        edited = randomly_edited(path, original, chance)
    (copy / path).write_text(edited)
    expected = {name for name, paths in imported.items() if path in paths}
    assert outdated(before, identities(copy)) == expected, (path, edited)


def test_comments_docstrings_formatting_and_wording_outdate_nothing(copy):
    before = identities(copy)
    for path in copy.rglob("*.py"):
        text = ast.unparse(ast.parse(path.read_text()))
        path.write_text(f"# A comment.\n{text}\n\n\n# Another.\n")
    edit(copy / "src/giantstep/theory/readout/solve.py", '."""', ', in other words."""')
    edit(copy / "src/giantstep/validation.py", "a whole number", "an integer")
    edit(copy / "src/giantstep/__init__.py", "'0.1.0'", "'0.2.0'")
    assert identities(copy) == before


def test_a_refusals_words_do_not_count_but_how_numbers_are_converted_does(copy):
    before = identities(copy)
    edit(copy / "src/giantstep/validation.py", "else float(value)", "else float(value) + 1e-9")
    assert outdated(before, identities(copy)) >= {stage.name for stage in TASK_STAGES}


TABLE = "src/giantstep/numerics/scalar_functions.py"
NEW = '        ScalarFunction("arctan", "", np.arctan, np.cos, "odd"),\n'
FIRST = '        ScalarFunction(\n            "tanh"'


@pytest.mark.parametrize(
    ("old", "new", "activation", "others"),
    [
        (FIRST, NEW + FIRST, False, False),  # another entry
        ("np.tanh,", "np.arctan,", True, False),
        ("            np.sign,\n", "            np.cos,\n", False, True),  # named by a constant
        ('SIGN = "sign"', 'SIGN = "sign"\nHALF = 0.5', True, True),
    ],
)
def test_of_the_table_of_functions_the_entries_that_are_used_count(
    copy, old, new, activation, others
):
    before = identities(copy, "tanh", "tanh"), identities(copy, "sin", "sign")
    edit(copy / TABLE, old, new)
    after = identities(copy, "tanh", "tanh"), identities(copy, "sin", "sign")
    tasks = {stage.name for stage in TASK_STAGES}
    for changed, one, other in zip((activation, others), before, after, strict=True):
        assert outdated(one, other) & tasks == (tasks if changed else set())


@pytest.mark.parametrize(
    ("written", "edited"),
    [
        ('ScalarFunction(label="", name="mine", value=np.cos)', ("np.cos", "np.sin")),
        ('halved(ScalarFunction("mine", "", np.cos))', ("halved", "doubled")),
        ('ScalarFunction(MINE, "", np.cos)', ("np.cos", "np.sin")),
    ],
)
def test_an_entry_counts_however_it_is_written(copy, written, edited):
    edit(copy / TABLE, 'SIGN = "sign"\n', 'SIGN = "sign"\nMINE = "mine"\n')
    edit(copy / TABLE, FIRST, f"        {written},\n{FIRST}")
    before = function_fingerprint("mine"), function_fingerprint("tanh")
    edit(copy / TABLE, written, written.replace(*edited))
    assert function_fingerprint("mine") != before[0]
    assert function_fingerprint("tanh") == before[1]


@pytest.mark.parametrize(
    "entry", ['ScalarFunction("ta" + "nh", "", np.sin)', "polynomial(*MINE)", "MINE"]
)
def test_an_entry_whose_name_is_not_written_out_counts_for_all(copy, entry):
    before = function_fingerprint("tanh"), function_fingerprint("he3")
    edit(copy / TABLE, FIRST, f"        {entry},\n{FIRST}")
    after = function_fingerprint("tanh"), function_fingerprint("he3")
    assert all(one != other for one, other in zip(before, after, strict=True))


def test_a_function_that_is_in_no_entry_is_refused(copy):
    assert function_fingerprint("polynomial:0,1") != function_fingerprint("polynomial:0,2")
    with pytest.raises(UntraceableCodeError, match="write the entry of 'mine'"):
        function_fingerprint("mine")
    edit(copy / TABLE, FIRST, f'        *map(_hermite, ["mine"], [7]),\n{FIRST}')
    with pytest.raises(UntraceableCodeError, match="write each entry out"):
        function_fingerprint("mine")
    edit(copy / TABLE, "for function in (", "for function in 2 * (")
    with pytest.raises(UntraceableCodeError, match="list its entries in a tuple"):
        function_fingerprint("tanh")


def test_equal_parameters_have_equal_keys_however_they_are_written():
    def key_of(problem):
        (found,) = result_keys(ROOT, STAGES["parameters"], [ParametersTask(problem)])
        return found

    one = Protocol("tanh", "sign", 1, alpha0=np.float64(2), beta=1)
    assert key_of(one) == key_of(Protocol("tanh", "sign", 1.0, alpha0=2.0, beta=1.0, noise=0))
    assert key_of(one) != key_of(Protocol("tanh", "sign", 1, alpha0=2, beta=1, noise=1e-12))
