"""Searching for the least test error: the unknowns of `optimise`, and the problems they make."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from giantstep.arrays import Array, Mask
from giantstep.numerics.minimisation import lowest_minima, refine_on_grid
from giantstep.problems.domains import LEARNING_RATE, LETTER
from giantstep.problems.domains import RIDGE as RIDGES
from giantstep.problems.losses import SQUARE
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.questions.axes import read_numbers
from giantstep.questions.case import Case
from giantstep.questions.choices import BIAS, RATE, READOUT, RIDGE, SAMPLES, UNKNOWNS
from giantstep.theory.bounds import with_common_bias
from giantstep.theory.first_layer.equivalent_features import equivalent_features
from giantstep.theory.optima import criterion, optimal_ridge, search_of
from giantstep.validation import Fault, Interval, InvalidParametersError

_LETTER = "letter_"
_MOST_LETTERS = 4
# Ends of the ranges that are searched, of letters in units of the first.
_LARGEST_LETTER, _LARGEST_BIAS = 3.0, 5.0
# Candidates of each unknown but the ridge, by the number of these; fewer for losses that take long.
_CANDIDATES, _CONVEX_CANDIDATES = (41, 13, 7, 5), (11, 6, 4, 3)
# Of what is refined, on the logarithms of rates, and on letters and biases themselves.
_SEVERAL_TOLERANCE = 1e-3
# Of several unknowns, so many minima among the candidates are refined, if they are near the lowest.
_STARTS, _MARGIN = 3, 0.02
_DOMAINS: dict[str, Interval] = {
    RATE: replace(LEARNING_RATE, open_below=True),
    RIDGE: replace(RIDGES, open_below=True),
    READOUT: LETTER,
    BIAS: LETTER,
}


class Unknown(NamedTuple):
    """What is searched for.

    Attributes
    ----------
    name : str
        "learning_rate", "ridge", "letter_2" (the second of the readout), ... or "bias".
    candidates : Array
        In increasing order.
    """

    name: str
    candidates: Array

    @property
    def axis(self) -> Array:
        """The candidates on the scale on which they are refined."""
        return np.log(self.candidates) if self.is_logarithmic else self.candidates

    def value(self, x: float) -> float:
        """Return the value at a place on the axis."""
        return float(np.exp(x)) if self.is_logarithmic else float(x)

    @property
    def is_logarithmic(self) -> bool:
        """Whether it is positive, and searched over orders of magnitude."""
        return self.name in (RATE, RIDGE, SAMPLES)


def read_unknowns(
    problem: Problem,
    given: Mapping[str, ArrayLike | None],
    loss: str,
    dimension: float,
    faults: list[Fault],
) -> list[Unknown]:
    """Read what is searched for, the ridge last, and collect what is wrong with it.

    Where no candidates are given, they are those of `search_of`.
    """
    if not given:
        faults.append(Fault("over", [], f"some of {', '.join(UNKNOWNS)}"))
    for name in given:
        faults += _unknown_faults(problem, name)
    if faults:
        return []
    letters = len(problem.readout) if isinstance(problem, Protocol) and READOUT in given else 0
    names = [name for name in (RATE, READOUT, BIAS, RIDGE) if name in given]
    count = sum(letters - 1 if name == READOUT else 1 for name in names if name != RIDGE)
    unknowns = []
    for name in names:
        candidates = given[name]
        values = (
            _default_candidates(problem, name, count, loss, dimension)
            if candidates is None
            else _read_candidates(name, candidates, faults)
        )
        of_letters = [f"{_LETTER}{k}" for k in range(2, letters + 1)]
        unknowns += [Unknown(one, values) for one in (of_letters if name == READOUT else [name])]
    return unknowns


def _unknown_faults(problem: Problem, name: str) -> list[Fault]:
    if name not in UNKNOWNS:
        return [Fault("over", name, f"some of {', '.join(UNKNOWNS)}")]
    if name in (RATE, READOUT) and not isinstance(problem, Protocol):
        return [Fault("over", name, f"{RIDGE} or {BIAS} for spiked features given directly")]
    if name == READOUT and isinstance(problem, Protocol):
        letters = len(problem.readout)
        if not 2 <= letters <= _MOST_LETTERS or problem.readout[0][0] == 0:
            allowed = (
                f"2 to {_MOST_LETTERS} values, the first of them not 0, to optimise all but the"
                " first, whose size is that of the learning rate"
            )
            return [Fault("readout", problem.readout, allowed)]
    return []


def _default_candidates(
    problem: Problem, name: str, count: int, loss: str, dimension: float
) -> Array:
    search = search_of(loss, dimension)
    if name == RIDGE:
        return search.ridges
    sizes = _CANDIDATES if loss == SQUARE else _CONVEX_CANDIDATES
    points = sizes[min(count, len(sizes)) - 1]
    if name == RATE:
        rates = search.learning_rates
        return np.geomspace(rates[0], rates[-1], points)
    if name == BIAS:
        return np.linspace(-_LARGEST_BIAS, _LARGEST_BIAS, points)
    assert isinstance(problem, Protocol)  # others have no readout
    largest = _LARGEST_LETTER * abs(problem.readout[0][0])
    return np.linspace(-largest, largest, points)


def _read_candidates(name: str, given: ArrayLike, faults: list[Fault]) -> Array:
    """Read candidates, sorted, each once."""
    values = np.unique(np.atleast_1d(read_numbers(name, given, faults)))
    interval = _DOMAINS[name]
    faults += [Fault(name, x, str(interval)) for x in values.tolist() if x not in interval]
    if values.size < 2:
        faults.append(Fault(name, given, "two candidates at least, to be optimised"))
    return values


@dataclass(frozen=True)
class Objective:
    """The test error as a function of the unknowns.

    Attributes
    ----------
    case : Case
        The problem, how it is solved, and the error that is minimised.
    outer : tuple of Unknown
        Those that change the problem.
    ridges : Array
        Candidates of the ridge; a single one, if it is not optimised.
    """

    case: Case
    outer: tuple[Unknown, ...]
    ridges: Array

    @property
    def optimises_ridge(self) -> bool:
        """Whether the ridge is optimised, too."""
        return self.ridges.size > 1

    @property
    def candidates(self) -> dict[str, Array]:
        """All candidates by name, those of the ridge last."""
        outer = {one.name: one.candidates for one in self.outer}
        return outer | ({RIDGE: self.ridges} if self.optimises_ridge else {})

    def axes_at(self, place: Sequence[int]) -> list[float]:
        """Return the point of some candidates on the axes of the unknowns."""
        return [float(one.axis[k]) for one, k in zip(self.outer, place, strict=True)]

    def values(self, x: Sequence[float] | Array) -> dict[str, float]:
        """Name the values at a point on the axes of the unknowns."""
        return {one.name: one.value(at) for one, at in zip(self.outer, x, strict=True)}

    def problem_at(self, values: Mapping[str, float]) -> Problem:
        """Make the problem at values of the unknowns.

        Raises
        ------
        InvalidParametersError
        """
        problem = self.case.problem
        if isinstance(problem, Protocol):
            letters = enumerate(problem.readout, start=1)
            readout = tuple((values.get(f"{_LETTER}{k}", x), share) for k, (x, share) in letters)
            rate = values.get(RATE, problem.learning_rate)
            problem = replace(problem, learning_rate=rate, readout=readout)
        if BIAS not in values:
            return problem
        return with_common_bias(equivalent_features(problem, self.case.dimension), values[BIAS])

    def profile(self, alpha: Array, place: Sequence[int]) -> Array:
        """Compute errors at candidates, shape (A, R) for R ridges; NaN where there is none."""
        x = self.axes_at(place)
        mesh = np.meshgrid(alpha, self.ridges, indexing="ij")
        try:
            return criterion(self._at(x).readout, *mesh, self.case.by)
        except InvalidParametersError:
            return np.full(mesh[0].shape, np.nan)

    def least(self, x: Sequence[float] | Array, alpha: Array) -> tuple[Array, Array, Mask]:
        """Minimise over the ridge: errors, ridges, and whether these are on an edge, (A,)."""
        ridge, on_edge = np.full(alpha.shape, self.ridges[0]), np.zeros(alpha.shape, dtype=bool)
        try:
            case = self._at(x)
            if self.optimises_ridge:
                of = case.bulk, case.dimension, case.loss, self.ridges
                best = optimal_ridge(case.problem, alpha, *of, by=case.by)
                ridge, on_edge = best.ridge, best.on_edge
            return criterion(case.readout, alpha, ridge, case.by), ridge, on_edge
        except InvalidParametersError:
            return np.full(alpha.shape, np.nan), np.full(alpha.shape, np.nan), on_edge

    def _at(self, x: Sequence[float] | Array) -> Case:
        return self.case._replace(problem=self.problem_at(self.values(x)))


def refine(
    search: Objective, errors: Array, alpha: Array, solved: Callable[[], None]
) -> tuple[Array, list[bool]]:
    """Refine around the lowest minima among the candidates: place, and whether it is at ends."""
    axes, tolerance = [one.axis for one in search.outer], search_of(search.case.loss).rate_tolerance
    if not axes:
        return np.empty(0), []
    if len(axes) > 1:
        tolerance = max(tolerance, _SEVERAL_TOLERANCE)

    def error(x: Array) -> float:
        solved()
        return float(np.nan_to_num(search.least(x, alpha)[0], nan=np.inf).item())

    starts = lowest_minima(errors, _STARTS if len(axes) > 1 else 1, _MARGIN)
    refined = [(*refine_on_grid(error, axes, start, tolerance), start) for start in starts]
    if not refined:  # nothing could be solved
        return np.full(len(axes), np.nan), [True] * len(axes)
    x, _, best = min(refined, key=lambda one: one[1])
    # The refinement next to an end stops short of it by less than this.
    short = 10 * tolerance
    return x, [
        bool(min(at - axis[0], axis[-1] - at) < short) or _beside_nothing(errors, best, k)
        for k, (axis, at) in enumerate(zip(axes, x, strict=True))
    ]


def _beside_nothing(errors: Array, best: Sequence[Any], axis: int) -> bool:
    """Check whether a neighbour of the best candidate on an axis could not be solved."""
    line = errors[(*best[:axis], slice(None), *best[axis + 1 :])]
    return bool(np.isinf(line[max(best[axis] - 1, 0) : best[axis] + 2]).any())
