"""The additions that the architecture page shows apply to the code as it is, and run."""

import shutil
import subprocess
import sys

import pytest
from tiny import ROOT

DECAY, LOSS, QUESTION, FIGURE = (
    (ROOT / f"docs/additions/{name}.diff").read_text()
    for name in ("weight_decay", "loss", "question", "figure")
)
PROTOCOL = "from giantstep import Protocol, solve; "
DECAYED = PROTOCOL + (
    "p = Protocol('tanh', 'sin', 3, alpha0=4, beta=1, decay=0.5);"
    "assert abs(solve(p, 2, 0.1, dimension=400).test_error.item() - 0.0758) < 1e-3"
)


@pytest.fixture
def copy(tmp_path):
    for folder in ("src", "config", "workflow"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("*.pyc"))
    return tmp_path


def apply(diff, copy, *options):
    command = ["git", "apply", "--recount", "-C1", *options]
    subprocess.run(command, input=diff, cwd=copy, text=True, check=True)


def run(copy, *arguments):
    path = {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1", "PATH": ""}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=copy, env=path, capture_output=True, text=True)


@pytest.mark.parametrize(("diff", "files"), [(DECAY, 3), (LOSS, 1), (QUESTION, 2), (FIGURE, 1)])
def test_each_addition_touches_few_files(diff, files):
    assert diff.count("diff --git") == files


@pytest.mark.slow
def test_weight_decay_is_the_difference_that_the_page_shows(copy):
    apply(DECAY, copy, "--reverse")
    assert "unexpected keyword argument 'decay'" in run(copy, "-c", DECAYED).stderr
    apply(DECAY, copy)
    assert run(copy, "-c", DECAYED).stderr == ""


@pytest.mark.slow
def test_a_loss_a_question_and_a_figure_run_where_they_are_added(copy):
    for diff in (LOSS, QUESTION, FIGURE):
        apply(diff, copy)
    problem = "p = Protocol('tanh', 'sign', 3, alpha0=4, beta=1);"
    loss = f"{PROTOCOL}{problem} print(solve(p, 2, 0.1, loss='squared_hinge').status.item())"
    assert run(copy, "-c", loss).stdout == "0\n"
    asked = "kernel-limit --activation tanh --target sin --learning-rate 1 --alpha0 1 --beta 1"
    assert "0.0644" in run(copy, "-m", "giantstep", *asked.split()).stdout
    figure = run(copy, "-m", "giantstep", "explain", "relu")
    assert figure.returncode == 0, figure.stderr
