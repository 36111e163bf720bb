"""The question that is asked of the theory: a problem, where it is solved, and how."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any

from giantstep.arrays import Array
from giantstep.explore.parameters import (
    MODELS,
    NUMBERS,
    OF_MODEL,
    PARAMETERS,
    SPIKED,
    STEPS,
    defaults_of,
    reader,
    takes,
)
from giantstep.explore.reading import read_texts
from giantstep.problems.bulk_kind import BULKS, ISOTROPIC
from giantstep.problems.domains import THEORY_DIMENSION
from giantstep.problems.formatting import format_value
from giantstep.problems.grid import Grid
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.readout import UNIFORM
from giantstep.problems.spiked_features import one_spike
from giantstep.questions.arguments import OPTIMAL
from giantstep.questions.case import Case
from giantstep.validation import (
    Fault,
    InvalidParametersError,
    collected,
    raise_all,
    read_value,
)


class Question:
    """What is asked: a problem, a point (alpha, ridge), and the theory that answers.

    Parameters
    ----------
    model : {"steps", "spiked"}
        Whether the problem is a protocol, or spiked random features given directly.
    **given
        Values of `parameters.PARAMETERS`; others have their defaults. The ridge may be "optimal",
        and the bulk is a tuple of one or more of `bulk_kind.BULKS`, to be compared.

    Raises
    ------
    InvalidParametersError
        With the faults of all of them.

    Examples
    --------
    >>> from giantstep.explore.question import Question
    >>> question = Question(target="sin", ridge="optimal")
    >>> question.texts
    {'target': 'sin', 'ridge': 'optimal'}
    >>> Question.read({"target": "sin", "ridge": "optimal"}) == question
    True
    """

    def __init__(self, model: str = STEPS, **given: Any) -> None:
        self.model, self.values = model, defaults_of(model) | given
        raise_all(self._faults())

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Question):
            return False
        return (self.model, self.values) == (other.model, other.values)

    def __hash__(self) -> int:
        return hash((self.model, *self.values.items()))

    @staticmethod
    def read(texts: Mapping[str, str]) -> Question:
        """Make the question of texts by name; what has no text has its default.

        Raises
        ------
        InvalidParametersError
        """
        values, faults = read_texts(texts, _READERS)
        try:
            question = Question(**values)
        except InvalidParametersError as error:
            # Beside what could not be read, defaults in its place have no faults of their own.
            faults += [f for f in error.faults if not faults or f.name in values]
        raise_all(faults)
        return question

    def moved(self, **values: Any) -> Question:
        """Return the question at other values."""
        values = {name: _whole(name, value) for name, value in values.items()}
        return Question(self.model, **(self.values | values))

    def given(self, *names: str) -> dict[str, Any]:
        """Return some values and the dimension, as arguments of the library's questions."""
        return {name: self.values[name] for name in (*names, "dimension")}

    def has(self, name: str) -> bool:
        """Tell whether a parameter is one of this question, and its model's."""
        return takes(self.model, name)

    @property
    def texts(self) -> dict[str, str]:
        """The values that differ from their defaults, as texts that `read` reads."""
        model = {} if self.model == STEPS else {"model": self.model}
        return model | differing(self.values, defaults_of(self.model))

    @property
    def problem_fields(self) -> dict[str, Any]:
        """The values that state the problem."""
        return {name: self.values[name] for name in OF_MODEL[self.model]}

    @cached_property
    def problem(self) -> Problem:
        """The problem."""
        make = Protocol if self.model == STEPS else one_spike
        return make(**self.problem_fields)

    def along(self, name: str, values: Array) -> list[Any]:
        """Write values of a parameter as the problem has them: those of its groups of neurons.

        A value that the problem cannot have is left as it is, or is NaN for all groups.
        """
        if self.model == STEPS or len(self["readout"]) == 1 or name not in OF_MODEL[SPIKED]:
            return [_whole(name, value) for value in values.tolist()]
        written: list[Any] = [math.nan] * values.size
        for k, value in enumerate(values.tolist()):
            with suppress(InvalidParametersError):
                written[k] = getattr(one_spike(**self.problem_fields | {name: value}), name)
        return written

    def _faults(self) -> list[Fault]:
        """List the faults of all values, and of those that do not go together."""
        if self.model not in MODELS:
            return [Fault("model", self.model, f"one of {', '.join(MODELS)}")]
        allowed = f"one or more of {', '.join(BULKS)}"
        faults: list[Fault] = []
        read_value("dimension", self.values["dimension"], THEORY_DIMENSION, faults)
        dimension = math.inf if faults else self["dimension"]
        faults += [] if self["bulk"] else [Fault("bulk", "", allowed)]
        ridge = 1.0 if self["ridge"] == OPTIMAL else self["ridge"]
        with collected(faults):
            Grid((self["alpha"],), (ridge,), self["loss"])
        with collected(faults):
            for bulk in self["bulk"] or (ISOTROPIC,):
                faults += Case(self.problem, self["loss"], bulk, dimension).faults()
        return faults


_READERS = {"model": str} | {name: reader(name) for name in PARAMETERS}


def _whole(name: str, value: Any) -> Any:
    domain = NUMBERS.get(name)
    return int(value) if domain and domain.whole else value


def differing(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, str]:
    """Write the values that differ from their defaults."""
    return {name: written(one) for name, one in values.items() if one != defaults[name]}


def written(value: Any) -> str:
    """Write a value as a text that is read as the same value."""
    if isinstance(value, tuple) and value and isinstance(value[0], str):
        return ",".join(value)
    return "1" if value == UNIFORM else format_value(value)
