"""Flags follow what problems and questions declare."""

import argparse
import subprocess
import sys
from contextlib import suppress

import pytest

from giantstep.cli.commands import commands, question_of
from giantstep.cli.main import main
from giantstep.cli.parser import make_parser, parse
from giantstep.cli.problem_flags import add_problem


def test_a_parameter_is_a_flag_with_its_kind_default_and_meaning():
    step = "--activation tanh --target sin --learning-rate 3 --alpha0 2 --beta 1".split()
    given = parse(["simulate", *step, *"--noise 2 --threads 3 --readout 3:1".split()])
    assert (given.noise, given.threads, given.readout) == ([2.0], 3, [(3.0, 1.0)])
    text = " ".join(make_parser("simulate")[1].format_help().split())
    assert "variance of the label noise: a number from 0 to 1e+12 (default 0) --readout" in text
    assert "follows the gradient: one of sgd, sign (default sgd)" in text
    assert "or normal; values are those of sqrt(p) a0 (default 1:1)" in text
    assert "a whole number from 1 to 1e+15 (default 10000)" in text


def test_help_imports_no_question():
    code = (
        "import sys; from giantstep.cli.parser import parse\n"
        "try: parse(['--help'])\n"
        "except SystemExit: print(sorted({'numpy', 'scipy', 'xarray'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")


QUESTIONS = [name for name, one in commands().items() if one.question]


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_flag_of_a_question_is_explained_unless_refused_and_all_it_takes_are_flags(name):
    parser, command = make_parser(name)[1], commands()[name]
    question, of_problem = question_of(command), argparse.ArgumentParser()
    assert all(action.help for action in parser._actions)
    if not question.data:
        add_problem(of_problem)
    flags = {action.dest: action.help for action in parser._actions}
    refused = {name for name, text in flags.items() if text == argparse.SUPPRESS}
    assert refused == {*question.ignored}
    assert flags.keys() >= {action.dest for action in of_problem._actions}
    assert flags.keys() >= {argument.name for argument in question.takes} - set(command.fixed)
    assert question.example


STEP = "--activation tanh --target sin --learning-rate 3 --alpha0 2 --beta 1"


@pytest.mark.parametrize(
    "line", ["simulate --help", f"plan {STEP} --max-steps 11", f"theory {STEP} --ridge optimal"]
)
def test_commands_do_without_docstrings_and_assertions(line, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "90")
    with suppress(SystemExit):
        main(line.split())
    command = [sys.executable, "-OO", "-m", "giantstep", *line.split()]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == capsys.readouterr()
    assert done.stdout + done.stderr
