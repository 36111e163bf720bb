"""How the answer to a question is shown: the tab, its axes, and what is pinned beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

import numpy as np

from giantstep.arrays import Array
from giantstep.explore.parameters import AXES, AXES_OF, LINEAR, LOG, SCALES, Axis
from giantstep.explore.question import Question, differing
from giantstep.explore.reading import LONGEST, Reader, read_infinite, read_texts
from giantstep.questions.checks import criterion_faults
from giantstep.questions.choices import GAINS
from giantstep.theory.optima import CLASSIFICATION_ERROR, GCV, LEAVE_ONE_OUT, TEST_ERROR
from giantstep.validation import (
    Fault,
    InvalidParametersError,
    collected,
    raise_all,
    read_value,
    refusal,
)

CURVE, FUNCTION, SPECTRUM, MAP = TABS = ("curve", "function", "spectrum", "map")
# The errors that curves and maps show; further ones need a fit of their own.
ERRORS = {TEST_ERROR: "test error", CLASSIFICATION_ERROR: "0-1 error"}
ERRORS |= {LEAVE_ONE_OUT: "leaving one out", GCV: "generalised cross-validation"}
ERROR = "error"
COLOURS = ERROR, *GAINS[:2]
# Points of a curve.
POINTS = 113
# Points along x at which networks are simulated.
SIMULATED, FEW_SIMULATED = 9, 5
MOST_PINS = 6


class Pin(NamedTuple):
    """A question that is kept beside the one that is asked, under a name."""

    name: str
    question: Question


@dataclass(frozen=True)
class View:
    """A question, and how its answer is shown.

    Attributes
    ----------
    question : Question
    tab : {"curve", "function", "spectrum", "map"}
    x : str
        The parameter along which curves run, one of `AXES_OF` the question's model.
    start, stop : float or None
        Where it runs; None for the axis's own ends.
    x_scale, y_scale : {"linear", "log"}
        That of x may be empty, for the axis's own.
    by : str
        One of `ERRORS`: the error that curves and maps show, and that the best ridge minimises.
    across, up : str
        The parameters of the map.
    colour : {"error", "gain_over_linear", "gain_over_no_step"}
        What the map shows: the error, or the gain in test error over the best linear predictor, or
        over the same network without a step.
    pins : tuple of Pin

    Raises
    ------
    InvalidParametersError
        With the faults of all fields.
    """

    question: Question = field(default_factory=Question)
    tab: str = CURVE
    x: str = "alpha"
    start: float | None = None
    stop: float | None = None
    x_scale: str = ""
    y_scale: str = LINEAR
    by: str = TEST_ERROR
    across: str = "alpha"
    up: str = "ridge"
    colour: str = ERROR
    pins: tuple[Pin, ...] = ()

    def __post_init__(self) -> None:
        raise_all(self._faults())

    @staticmethod
    def read(texts: Mapping[str, str], pins: Sequence[Pin] = ()) -> View:
        """Make the view of texts by field; what has no text has its default.

        Raises
        ------
        InvalidParametersError
            With the faults of the question, too.
        """
        values, faults = read_texts({k: v for k, v in texts.items() if v}, _READERS)
        with collected(faults):
            values["question"] = Question.read(texts)
        raise_all(faults)
        return View(**values, pins=tuple(pins))

    @property
    def questions(self) -> tuple[Pin, ...]:
        """The question, under an empty name, and those of the pins."""
        return Pin("", self.question), *self.pins

    @property
    def texts(self) -> dict[str, str]:
        """The fields that differ from their defaults, those of the question first."""
        own = {name: getattr(self, name) for name in _READERS}
        return self.question.texts | differing(own, {f.name: f.default for f in fields(self)})

    @property
    def variable(self) -> str:
        """The variable of the library's answer that the tab shows."""
        shown = self.by if self.colour == ERROR else self.colour
        of_tabs = {FUNCTION: "learned_function", SPECTRUM: "density", MAP: shown}
        return of_tabs.get(self.tab, self.by)

    @property
    def axis(self) -> Axis:
        """The axis of x, with the ends and the scale that are chosen."""
        given = {"start": self.start, "stop": self.stop, "scale": self.x_scale or None}
        chosen: dict[str, Any] = {k: value for k, value in given.items() if value is not None}
        return AXES[self.x]._replace(**chosen)

    @property
    def axes(self) -> dict[str, Axis]:
        """The parameters along the axes of the tab: of a map, the one across first."""
        if self.tab == MAP:
            return {name: AXES[name] for name in (self.across, self.up)}
        return {self.x: self.axis} if self.tab == CURVE else {}

    def _faults(self) -> list[Fault]:
        axes = dict.fromkeys(("x", "across", "up"), AXES_OF[self.question.model])
        faults = [
            Fault(name, getattr(self, name), f"one of {', '.join(filter(None, allowed))}")
            for name, allowed in (_CHOICES | axes).items()
            if getattr(self, name) not in allowed
        ]
        faults += criterion_faults(self.question.problem, self.by, loss=self.question["loss"])
        if self.across == self.up:
            faults.append(Fault("up", self.up, f"another parameter than across, {self.across}"))
        if faults:
            return faults
        axis = self.axis
        finite = replace(axis.domain, infinity=False)
        read_value("start", axis.start, finite, faults)
        read_value("stop", axis.stop, finite, faults)
        if axis.start >= axis.stop:
            faults.append(Fault("stop", axis.stop, f"greater than the start, {axis.start:g}"))
        if axis.scale == LOG and axis.start <= 0:
            faults.append(Fault("start", axis.start, "greater than 0 on a logarithmic axis"))
        return faults


_CHOICES: dict[str, Sequence[str]] = {"tab": TABS, "x_scale": ("", *SCALES), "y_scale": SCALES}
_CHOICES |= {"by": tuple(ERRORS), "colour": COLOURS}
NAMES = (*_CHOICES, "x", "across", "up")
_READERS: dict[str, Reader] = dict.fromkeys(NAMES, str)
_READERS |= dict.fromkeys(("start", "stop"), read_infinite)


def axis_values(axis: Axis, points: int = POINTS) -> Array:
    """Return the values of an axis, first and last included."""
    if axis.domain.whole:
        return np.arange(axis.start, axis.stop + 1)[: 4 * points]
    return axis.at(np.linspace(0, 1, points))


def simulated_values(view: View) -> tuple[float, ...]:
    """Return the values of x at which networks are simulated, of two digits."""
    points = SIMULATED if view.x in ("alpha", "ridge") else FEW_SIMULATED
    spaced = axis_values(view.axis, points)[:SIMULATED]
    return tuple(dict.fromkeys(float(f"{value:.2g}") for value in spaced))


def to_address(view: View) -> str:
    """Write a view as the query of an address."""
    pairs = list(view.texts.items())
    pairs += [("pin", f"{pin.name}|{urlencode(pin.question.texts)}") for pin in view.pins]
    return urlencode(pairs, safe=":,")


def from_address(query: str) -> tuple[View, tuple[Fault, ...]]:
    """Read a view from the query of an address.

    Returns
    -------
    view : View
        The default where the address has faults.
    faults : tuple of Fault

    Examples
    --------
    >>> from giantstep.explore.view import from_address
    >>> view, faults = from_address("target=sin&tab=map")
    >>> view.question["target"], view.tab, faults
    ('sin', 'map', ())
    >>> print(*from_address("beta=1e999")[1])
    beta = inf: must be a number from 1e-09 to 1e+09
    """
    pairs = parse_qsl(query, keep_blank_values=True)
    try:
        pins = read_pins([text for name, text in pairs if name == "pin"])
        return View.read({name: text for name, text in pairs if name != "pin"}, pins), ()
    except InvalidParametersError as error:
        return View(), error.faults


def read_pins(texts: Sequence[str]) -> tuple[Pin, ...]:
    """Read pins, each written as its name, a bar, and the query of its question.

    Raises
    ------
    InvalidParametersError
    """
    if len(texts) > MOST_PINS:
        raise refusal("pin", len(texts), f"{MOST_PINS} pins at most")
    parts = [text.partition("|") for text in texts]
    return tuple(
        Pin(name[:LONGEST] or "pin", Question.read(dict(parse_qsl(query))))
        for name, _, query in parts
    )
