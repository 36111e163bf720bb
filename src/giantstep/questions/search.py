"""Searching for the least test error: unknowns, candidates, and the refinement of the best."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.minimisation import lowest_minima, refine_on_grid
from giantstep.problems.combinations import combinations
from giantstep.problems.domains import LEARNING_RATE, LETTER
from giantstep.problems.domains import RIDGE as RIDGES
from giantstep.problems.losses import SQUARE
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.questions.case import DOUBTS, Case
from giantstep.questions.choices import BIAS, RATE, READOUT, RIDGE, SAMPLES
from giantstep.questions.remarks import OF_COVARIANCE
from giantstep.questions.values import read_numbers
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
    READOUT: LETTER,
    BIAS: LETTER,
    RIDGE: replace(RIDGES, open_below=True),
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
        return np.log(self.candidates) if self._is_logarithmic else self.candidates

    def value(self, x: float) -> float:
        """Return the value at a place on the axis."""
        return math.exp(x) if self._is_logarithmic else float(x)

    @property
    def _is_logarithmic(self) -> bool:
        """Whether it is positive, and searched over orders of magnitude."""
        return self.name in (RATE, RIDGE, SAMPLES)


@dataclass(frozen=True)
class Search:
    """The least error over some unknowns: of all candidates, then refined around the best.

    Attributes
    ----------
    unknowns : sequence of Unknown
        But for the ridge.
    ridges : Array
        Candidates of the ridge; a single one, if it is not optimised.
    case_at : callable
        Takes values of the unknowns; returns what is solved then, and the sample complexity.
        Raises InvalidParametersError where there is none.
    """

    unknowns: Sequence[Unknown]
    ridges: Array
    case_at: Callable[[Mapping[str, float]], tuple[Case, float]]

    def combinations(self) -> Iterator[dict[str, float]]:
        """Yield all combinations of candidates."""
        return combinations({one.name: one.candidates.tolist() for one in self.unknowns})

    def least(self, values: Mapping[str, float]) -> tuple[float, float, bool]:
        """Minimise over the ridge: error, infinity where there is none; ridge; if on an edge."""
        ridge, on_edge = self.ridges[:1], np.array([False])
        try:
            case, alpha = self.case_at(values)
            of, at = (case.bulk, case.dimension, case.loss, self.ridges), np.array([alpha])
            if self.ridges.size > 1:
                best = optimal_ridge(case.problem, at, *of, by=case.by)
                ridge, on_edge = best.ridge, best.on_edge
            error = criterion(case.readout, case.by, at, ridge)
        except InvalidParametersError:
            return math.inf, math.nan, False
        return np.nan_to_num(error, nan=np.inf).item(), ridge.item(), bool(on_edge.item())

    def optimum(self, errors: Array, case: Case) -> tuple[dict[str, float], dict[str, Any]]:
        """Refine around the lowest minima among all combinations; infinite errors are none.

        Returns
        -------
        values : dict
            Of the unknowns, and of the ridge if it is one.
        found : dict
            Variables: the least error, NaN if there is none, these values, whether they are at an
            end of what was searched, and what the theory leaves out there.
        """
        x, at_ends = self._refined(errors, search_of(case.loss).rate_tolerance)
        values = {one.name: one.value(at) for one, at in zip(self.unknowns, x, strict=True)}
        error, ridge, ridge_on_edge = self.least(values)
        if self.ridges.size > 1:
            values, at_ends = values | {RIDGE: ridge}, [*at_ends, ridge_on_edge]
        found: dict[str, Any] = {f"optimal_{case.by}": error if math.isfinite(error) else math.nan}
        for (name, value), on_edge in zip(values.items(), at_ends, strict=True):
            found |= {f"optimal_{name}": value, f"optimal_{name}_on_edge": on_edge}
        doubts = DOUBTS + (OF_COVARIANCE if case.problem.has_covariance else ())
        found |= dict.fromkeys(doubts, math.nan)
        if math.isfinite(error):
            best, alpha = self.case_at(values)
            solved = best.solve(np.array([alpha]), np.array([ridge]))
            found |= {name: solved[name].item() for name in doubts if name in solved}
        return values, found

    def _refined(self, errors: Array, tolerance: float) -> tuple[Sequence[float], list[bool]]:
        """Return the place of the least error, and whether it is at an end of each axis."""
        axes = [one.axis for one in self.unknowns]
        if not axes:
            return [], []
        if len(axes) > 1:
            tolerance = max(tolerance, _SEVERAL_TOLERANCE)

        def error(x: Array) -> float:
            at = zip(self.unknowns, x, strict=True)
            return self.least({one.name: one.value(place) for one, place in at})[0]

        starts = lowest_minima(errors, _STARTS if len(axes) > 1 else 1, _MARGIN)
        refined = [(*refine_on_grid(error, axes, start, tolerance), start) for start in starts]
        if not refined:  # nothing could be solved
            return [math.nan] * len(axes), [True] * len(axes)
        x, _, best = min(refined, key=lambda one: one[1])
        # The refinement next to an end stops short of it by less than this.
        short = 10 * tolerance
        return x.tolist(), [
            bool(min(at - axis[0], axis[-1] - at) < short) or _beside_nothing(errors, best, k)
            for k, (axis, at) in enumerate(zip(axes, x, strict=True))
        ]


def _beside_nothing(errors: Array, best: Sequence[Any], axis: int) -> bool:
    """Check whether a neighbour of the best candidate on an axis could not be solved."""
    line = errors[(*best[:axis], slice(None), *best[axis + 1 :])]
    return bool(np.isinf(line[max(best[axis] - 1, 0) : best[axis] + 2]).any())


def read_unknowns(
    problem: Problem, given: Mapping[str, Any], loss: str, dimension: float, faults: list[Fault]
) -> list[Unknown]:
    """Read what is searched for, the ridge last, and collect what is wrong with it.

    Where no candidates are given, they are those of `search_of`.
    """
    for name in given:
        faults += _unknown_faults(problem, name)
    if faults:
        return []
    readout = problem.readout if isinstance(problem, Protocol) and READOUT in given else ()
    parts = {name: [name] for name in _DOMAINS}
    parts[READOUT] = [f"{_LETTER}{k}" for k in range(2, len(readout) + 1)]
    count = sum(len(parts[name]) for name in given if name != RIDGE)
    sizes = _CANDIDATES if loss == SQUARE else _CONVEX_CANDIDATES
    points, search = sizes[min(count, len(sizes)) - 1], search_of(loss, dimension)
    largest = _LARGEST_LETTER * abs(readout[0][0]) if readout else 0.0
    candidates = {
        RATE: np.geomspace(search.learning_rates[0], search.learning_rates[-1], points),
        READOUT: np.linspace(-largest, largest, points),
        BIAS: np.linspace(-_LARGEST_BIAS, _LARGEST_BIAS, points),
        RIDGE: search.ridges,
    }
    for name, values in given.items():
        if values is not None:
            candidates[name] = np.unique(read_numbers(name, values, _DOMAINS[name], faults))
            if candidates[name].size < 2:
                faults.append(Fault(name, values, "two candidates at least, to be optimised"))
    return [Unknown(x, candidates[name]) for name in _DOMAINS if name in given for x in parts[name]]


def _unknown_faults(problem: Problem, name: str) -> list[Fault]:
    if name not in (RATE, READOUT):
        return []
    if not isinstance(problem, Protocol):
        return [Fault("over", name, f"{RIDGE} or {BIAS} for spiked features given directly")]
    known = 2 <= len(problem.readout) <= _MOST_LETTERS and problem.readout[0][0] != 0
    allowed = (
        f"2 to {_MOST_LETTERS} values, the first of them not 0, to optimise all but the first,"
        " whose size is that of the learning rate"
    )
    return [Fault("readout", problem.readout, allowed)] * (name == READOUT and not known)


def problem_at(problem: Problem, values: Mapping[str, float], dimension: float) -> Problem:
    """Make the problem at values of the unknowns.

    Raises
    ------
    InvalidParametersError
    """
    if isinstance(problem, Protocol):
        letters = enumerate(problem.readout, start=1)
        readout = tuple((values.get(f"{_LETTER}{k}", x), share) for k, (x, share) in letters)
        rate = values.get(RATE, problem.learning_rate)
        problem = replace(problem, learning_rate=rate, readout=readout)
    if BIAS not in values:
        return problem
    return with_common_bias(equivalent_features(problem, dimension), values[BIAS])
