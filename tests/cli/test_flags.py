"""Flags follow the fields of a dataclass."""

import argparse
import inspect
import subprocess
import sys
from dataclasses import dataclass
from typing import Literal

import pytest

from giantstep.cli.arguments import make_parser
from giantstep.cli.commands import commands
from giantstep.cli.flags import flags_of
from giantstep.cli.problem_flags import add_problem
from giantstep.questions.task import question_named


@dataclass
class Question:
    """A question.

    Attributes
    ----------
    spike_strength : float
        The entry v . u of the spike, > 0. More about it.
    inputs, target : str
        Names.
    count : int or "all"
        How many.
    reuse : bool
        Whether 5% are used again.
    """

    spike_strength: float
    inputs: str = "gaussian"
    target: str = "sin"
    count: int | Literal["all"] = 3
    reuse: bool = False
    readout: tuple[tuple[float, float], ...] = ((1.0, 0.5), (2.0, 0.5))


def parser():
    made = argparse.ArgumentParser()
    for flag in flags_of(Question).values():
        flag.add_to(made)
    return made


def test_a_new_field_is_a_flag_with_its_type_default_and_documentation():
    given = parser().parse_args("--spike-strength 2 --count all --readout 3:1".split())
    assert vars(given) == {
        "spike_strength": [2.0],
        "inputs": ["gaussian"],
        "target": ["sin"],
        "count": "all",
        "reuse": False,
        "readout": [(3.0, 1.0)],
    }
    text = " ".join(parser().format_help().split())
    assert "the entry v . u of the spike, > 0 --inputs" in text
    assert "distribution of the inputs' entries: one of gaussian, rademacher" in text
    assert "(default 1:0.5 2:0.5)" in text
    assert "whether 5% are used again" in text


def test_help_imports_no_question():
    code = (
        "import sys; from giantstep.cli.arguments import parse\n"
        "try: parse(['--help'])\n"
        "except SystemExit: print(sorted({'numpy', 'scipy', 'xarray'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")


@pytest.mark.parametrize("name", [name for name, one in commands().items() if one.question])
def test_every_flag_of_a_question_is_explained(name):
    parser = make_parser(name)[1]
    assert parser is not None
    unexplained = [action.dest for action in parser._actions if not action.help]
    assert not unexplained


# Flags without a parameter.
OUTPUT = {"help", "format", "output", "plot", "show", "columns", "certificate"}
ANSWERED = [
    name for name, one in commands().items() if one.question and name not in ("map", "data")
]


@pytest.mark.parametrize("name", ANSWERED)
def test_every_parameter_of_a_question_is_a_flag_and_the_reverse(name):
    parameters = dict(inspect.signature(question_named(commands()[name].question)).parameters)
    if parameters.pop("values", None):  # what a sweep varies, besides fields of the problem
        parameters |= inspect.signature(question_named("solve")).parameters
    of_problem = argparse.ArgumentParser()
    add_problem(of_problem)
    problem = {action.dest for action in of_problem._actions}
    flags = {action.dest for action in make_parser(name)[1]._actions} - problem - OUTPUT
    assert flags == set(parameters) - {"problem", "progress"}
