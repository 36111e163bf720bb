"""What a question declares: its command, what it takes and what it costs."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from giantstep.questions.arguments import LIMITS, Argument

# Of each question, by the name of its function.
TABLE = tomllib.loads(Path(__file__).with_name("questions.toml").read_text("utf-8"))


@dataclass(frozen=True)
class Work:
    """What a question takes, in units of what is estimated of a problem.

    Attributes
    ----------
    theories : float
        How many times the theory of all points is solved.
    networks : float
        How much longer than its errors what is asked of a network takes.
    density : bool
        Whether a point has the density of eigenvalues.
    searched : sequence of str
        What is optimised, unless it is given.
    """

    theories: float = 1.0
    networks: float = 0.0
    density: bool = False
    searched: Sequence[str] = ()


@dataclass(frozen=True)
class Question:
    """A question about a problem, or about samples; all but the first two are in the table.

    Attributes
    ----------
    name : str
        Of its function.
    takes : tuple of Argument
    title : str
        Of its answers.
    command, text : str
        Name of the command, and what it prints in a few words.
    example : str
        What may follow the name of the command, for its help.
    work : Work
    inputs : sequence of str
        Which of "covariance" and "inputs", those of two classes, its answers take into account.
    data : sequence of str
        What it is about instead of a problem: arrays, each in a file on the command line.
    scalars : sequence of str
        Arguments that become coordinates of its answers.
    """

    name: str
    takes: tuple[Argument, ...] = ()
    title: str = ""
    command: str = ""
    text: str = ""
    example: str = ""
    work: Work = Work()
    inputs: Sequence[str] = ("covariance", "inputs")
    data: Sequence[str] = ()
    scalars: Sequence[str] = ("loss", "bulk", "dimension")


def stated(name: str, takes: tuple[Argument, ...] = ()) -> Question:
    """Return what the table says of a question, which need not be imported."""
    of = dict(TABLE[name])
    return Question(name, takes, work=Work(**of.pop("work", {})), **of)


def declaration_of(ask: Callable[..., Any]) -> Question:
    """Return what a question declares."""
    declared: Question = ask.declaration  # type: ignore[attr-defined]
    return declared


def declare(ask: Callable[..., Any], takes: Sequence[Argument]) -> Question:
    """Declare what a function takes, whose name is in the table.

    Arguments have the defaults of the function, which takes the limits as well.
    """
    form = signature(ask).parameters
    defaults = {k: one.default for k, one in form.items() if one.default is not Parameter.empty}
    declared = (replace(x, default=defaults.get(x.name, x.default)) for x in (*takes, *LIMITS))
    ask.declaration = of = stated(ask.__name__, tuple(declared))  # type: ignore[attr-defined]
    return of
