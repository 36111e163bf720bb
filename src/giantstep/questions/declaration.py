"""What a question declares: its command, what it takes and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from inspect import Parameter, signature
from typing import Any, TypeVar

from giantstep.questions.arguments import LIMITS, Argument

F = TypeVar("F", bound=Callable[..., Any])
# Of `Question.inputs`.
STRUCTURED = ("covariance", "inputs")
# What a function takes that is no argument: what it is about, and how it says how far it is.
_SUBJECTS = {"problem", "progress", "values"}


@dataclass(frozen=True)
class Work:
    """What a question takes, in units of what is estimated of a problem.

    Attributes
    ----------
    theories : float
        How many times the theory of all points is solved.
    networks : float
        How much longer than its errors what is asked of a network takes.
    bulk : str
        The only one that is needed, if the question does not say which.
    density : bool
        Whether a point has the density of eigenvalues.
    searched : tuple of str
        What is optimised, unless it is given.
    """

    theories: float = 1.0
    networks: float = 0.0
    bulk: str = ""
    density: bool = False
    searched: tuple[str, ...] = ()


@dataclass(frozen=True)
class Question:
    """A question about a problem, or about samples.

    Attributes
    ----------
    name : str
        Of its function.
    title : str
        Of its answers.
    command, text : str
        Name of the command, and what it prints in a few words.
    takes : tuple of Argument
    example : str
        What may follow the name of the command, for its help.
    place : int
        In the list of commands.
    work : Work
        What it takes.
    inputs : tuple of str
        Which of "covariance" and "inputs", those of two classes, its answers take into account.
    data : tuple of str
        What it is about instead of a problem: arrays, each in a file on the command line.
    scalars : tuple of str
        Arguments that become coordinates of its answers.
    """

    name: str
    title: str
    command: str
    text: str
    takes: tuple[Argument, ...]
    example: str
    place: int = 99
    work: Work = Work()
    inputs: tuple[str, ...] = STRUCTURED
    data: tuple[str, ...] = ()
    scalars: tuple[str, ...] = ("loss", "bulk", "dimension")


def declaration_of(ask: Callable[..., Any]) -> Question:
    """Return what a question declares."""
    declared: Question = ask.declaration  # type: ignore[attr-defined]
    return declared


def declare(
    title: str, *, command: str, text: str, takes: Sequence[Argument] = (), **others: Any
) -> Callable[[F], F]:
    """Declare what a function answers; what is given are fields of `Question`.

    Arguments have the defaults of the function, which takes the limits as well. The literals
    `command`, `text` and `place` are read without importing the module.

    Raises
    ------
    TypeError
        If the function takes other arguments than are declared.
    """

    def decorate(ask: F) -> F:
        form, declared = signature(ask).parameters, (*takes, *LIMITS)
        subjects = {*_SUBJECTS, *others.get("data", ())}
        known = {one.name for one in declared}
        if form.keys() - known - subjects or ("values" not in form and known - form.keys()):
            raise TypeError(f"{ask.__name__} must take what it declares: {', '.join(known)}")
        defaults = {k: one.default for k, one in form.items() if one.default is not Parameter.empty}
        complete = [replace(one, default=defaults.get(one.name, one.default)) for one in declared]
        of = Question(ask.__name__, title, command, text, tuple(complete), **others)
        ask.declaration = of  # type: ignore[attr-defined]
        return ask

    return decorate
