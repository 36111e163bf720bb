"""What a question declares: its command, what it takes and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import Parameter, Signature, signature
from typing import Any

from giantstep.questions.arguments import MAX_HOURS, MAX_MEMORY, Argument
from giantstep.questions.choices import BIAS, RATE, RIDGE, STOP_AT
from giantstep.questions.table import TABLE

# Core-hours that an answer may take, of theory alone and of networks, unless more are allowed.
THEORY_HOURS, SIMULATION_HOURS = 0.05, 1.0


@dataclass(frozen=True)
class Question:
    """A question about a problem, or about samples; all but the first two are in the table.

    Attributes
    ----------
    name : str
        That of its function.
    takes : tuple of Argument
    title : str
        That of its answers.
    command, text : str
        Name of the command, and what it prints in a few words.
    example : str
        What may follow the name of the command, for its help.
    theories : float
        How many times the theory of all points is solved.
    networks : float
        Time of what is measured of a network, over that of its errors.
    points : int
        Time of one point, over that of a test error.
    searched : sequence of str
        Parameters that are optimised unless they are given.
    ignored : sequence of str
        Fields of problems on which its answers do not depend.
    inputs : sequence of str
        Which of "covariance" and "inputs", those of two classes, its answers take into account.
    data : sequence of str
        Arrays that it is about instead of a problem, each in a file on the command line.
    scalars : sequence of str
        Arguments that become coordinates of its answers.
    """

    name: str
    takes: tuple[Argument, ...] = ()
    title: str = ""
    command: str = ""
    text: str = ""
    example: str = ""
    theories: float = 1.0
    networks: float = 0.0
    points: int = 1
    searched: Sequence[str] = ()
    ignored: Sequence[str] = ()
    inputs: Sequence[str] = ("covariance", "inputs")
    data: Sequence[str] = ()
    scalars: Sequence[str] = ("loss", "bulk", "dimension")

    def without_effect(self, given: Mapping[str, Any]) -> set[str]:
        """Return the parameters on which its answer does not depend: those that it optimises, too.

        An optimised readout is not among them, since its first letter counts.
        """
        over = ({x.name: x.default for x in self.takes} | {**given}).get("over")
        over = over if isinstance(over, Container) else ()
        names = {*self.ignored, *(name for name in (RATE, BIAS) if name in over)}
        names |= {RIDGE, STOP_AT} if RIDGE in over or STOP_AT in over else set()
        return names | ({"beta"} if given.get("flops") is not None else set())

    @property
    def refused(self) -> str:
        """What a parameter without effect must be."""
        return f"left out: {self.command} chooses it, or does not depend on it"


def stated(name: str) -> Question:
    """Return the entry of a question in the table, without importing the question."""
    return Question(name, **TABLE[name])


def declare(ask: Callable[..., Any], takes: Sequence[Argument]) -> tuple[Question, Signature]:
    """Declare what a function takes, whose name is in the table, and what its answers may take.

    Arguments have the defaults of the function; the limits are added to its signature, which is
    returned.
    """
    of, form = stated(ask.__name__), signature(ask)
    defaults = {name: x.default for name, x in form.parameters.items() if x.default is not x.empty}
    hours = SIMULATION_HOURS if of.networks or of.data else THEORY_HOURS
    limits = replace(MAX_HOURS, default=hours), MAX_MEMORY
    own = [replace(one, default=defaults.get(one.name, one.default)) for one in takes]
    ask.declaration = of = replace(of, takes=(*own, *limits))  # type: ignore[attr-defined]
    further = {x.name: Parameter(x.name, Parameter.KEYWORD_ONLY, default=x.default) for x in limits}
    ordered = sorted({**form.parameters, **further}.values(), key=lambda one: one.kind)
    return of, form.replace(parameters=ordered)
