"""The question that is asked of the theory: a problem, where it is solved, and how."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal

from giantstep.explore.reading import (
    read_count,
    read_infinite,
    read_letters,
    read_name,
    read_texts,
)
from giantstep.problems.bulk_kind import BULKS, ISOTROPIC, validate_bulk
from giantstep.problems.domains import THEORY_DIMENSION
from giantstep.problems.formatting import format_number, format_vocabulary
from giantstep.problems.grid import Grid
from giantstep.problems.losses import SQUARE
from giantstep.problems.problem import Problem, check_loss
from giantstep.problems.protocol import STEP_FIELDS, Protocol, theory_faults
from giantstep.problems.readout import UNIFORM, Vocabulary
from giantstep.problems.spiked_features import SPIKED_FIELDS, one_spike
from giantstep.validation import Fault, InvalidParametersError, interval_faults

# The two ways to state a problem.
STEPS, SPIKED = MODELS = ("steps", "spiked")
OPTIMAL: Literal["optimal"] = "optimal"
_SHARED = ("activation", "target", "beta", "noise", "readout")
_OF_MODEL = {
    STEPS: (*_SHARED, *STEP_FIELDS, "steps"),
    SPIKED: (*_SHARED, *SPIKED_FIELDS),
}


@dataclass(frozen=True)
class Question:
    """What is asked: a problem, a point (alpha, ridge), and the theory that answers.

    Attributes
    ----------
    model : {"steps", "spiked"}
        Whether the problem is a protocol, or spiked random features given directly.
    activation, target, beta, noise, readout
        As in `Protocol` and `one_spike`.
    learning_rate, alpha0, steps
        As in `Protocol`.
    bulk_variance, spike_strength, alignment
        As in `one_spike`.
    alpha : float
        Sample complexity, where it is not an axis.
    ridge : float or "optimal"
    loss : str
    bulk : tuple of str
        One or more of `bulk_kind.BULKS`, to be compared.
    dimension : float

    Raises
    ------
    InvalidParametersError
        With the faults of all fields.

    Examples
    --------
    >>> from giantstep.explore.question import Question
    >>> question = Question(target="sin", ridge="optimal")
    >>> question.texts
    {'target': 'sin', 'ridge': 'optimal'}
    >>> Question.read({"target": "sin", "ridge": "optimal"}) == question
    True
    """

    model: str = STEPS
    activation: str = "tanh"
    target: str = "sign"
    learning_rate: float = 3.0
    alpha0: float = 10.0
    steps: int = 1
    bulk_variance: float = 1.2
    spike_strength: float = 1.5
    alignment: float = 0.9
    beta: float = 1.0
    noise: float = 0.0
    readout: Vocabulary = UNIFORM
    alpha: float = 2.0
    ridge: float | Literal["optimal"] = 1.0
    loss: str = SQUARE
    bulk: tuple[str, ...] = (ISOTROPIC,)
    dimension: float = math.inf

    def __post_init__(self) -> None:
        if faults := self._faults():
            raise InvalidParametersError(faults)

    @staticmethod
    def read(texts: Mapping[str, str]) -> Question:
        """Make the question of texts by field; what has no text has its default.

        Raises
        ------
        InvalidParametersError
        """
        try:
            return Question(**read_texts(texts, _READERS))
        except InvalidParametersError as error:
            faults = list(error.faults)
        # What could be read may have faults of its own.
        unread = {fault.name for fault in faults}
        try:
            rest = {name: text for name, text in texts.items() if name not in unread}
            Question(**read_texts(rest, _READERS))
        except InvalidParametersError as error:
            faults += [fault for fault in error.faults if fault.name in rest]
        raise InvalidParametersError(faults)

    @property
    def texts(self) -> dict[str, str]:
        """The fields that differ from their defaults, as texts that `read` reads."""
        return {
            field.name: written(getattr(self, field.name))
            for field in fields(self)
            if getattr(self, field.name) != field.default
        }

    @property
    def problem_fields(self) -> dict[str, Any]:
        """The fields that state the problem."""
        return {name: getattr(self, name) for name in _OF_MODEL[self.model]}

    @cached_property
    def problem(self) -> Problem:
        """The problem."""
        make = Protocol if self.model == STEPS else one_spike
        problem: Problem = make(**self.problem_fields)
        return problem

    @property
    def grid(self) -> Grid:
        """The point; at the ridge 1 if the best is sought."""
        return Grid((self.alpha,), (1.0 if self.ridge == OPTIMAL else self.ridge,), self.loss)

    def _faults(self) -> list[Fault]:
        """List the faults of all fields."""
        faults = interval_faults({"dimension": self.dimension}, {"dimension": THEORY_DIMENSION})
        if self.model not in MODELS:
            return [Fault("model", self.model, f"one of {', '.join(MODELS)}")]
        if not self.bulk or not set(self.bulk) <= set(BULKS):
            faults.append(Fault("bulk", written(self.bulk), f"one or more of {', '.join(BULKS)}"))
        for check in (self._check_problem, self._check_grid):
            try:
                check()
            except InvalidParametersError as error:
                faults += error.faults
        if not faults:
            faults = self._joint_faults()
        return faults

    def _check_problem(self) -> None:
        if isinstance(self.problem, Protocol) and (faults := theory_faults(self.problem)):
            raise InvalidParametersError(faults)

    def _check_grid(self) -> None:
        _ = self.grid

    def _joint_faults(self) -> list[Fault]:
        """List the faults of the loss and the bulks, given the problem."""
        faults: list[Fault] = []
        try:
            check_loss(self.problem, self.loss)
        except InvalidParametersError as error:
            faults += error.faults
        for bulk in self.bulk:
            try:
                validate_bulk(self.problem, bulk)
            except InvalidParametersError as error:
                faults += error.faults
        return faults


def written(value: Any) -> str:
    """Write a value as a text that is read as the same value."""
    if isinstance(value, str):
        return value
    if value == UNIFORM:
        return "1"
    if isinstance(value, tuple):
        names = [word for word in value if isinstance(word, str)]
        return ",".join(names) if names or not value else format_vocabulary(value)
    return format_number(value)


def _read_ridge(text: str) -> float | str:
    return OPTIMAL if text.strip() == OPTIMAL else read_infinite(text)


def _read_bulks(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))


_READERS = dict.fromkeys(
    (field.name for field in fields(Question) if field.type == "float"), read_infinite
) | {
    "model": read_name,
    "activation": read_name,
    "target": read_name,
    "loss": read_name,
    "steps": read_count,
    "readout": read_letters,
    "ridge": _read_ridge,
    "bulk": _read_bulks,
}
