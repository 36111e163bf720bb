"""Searching for the least test error: unknowns, candidates, and the refinement of the best."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.ndimage import maximum_filter1d

from giantstep.arrays import Array
from giantstep.numerics.minimisation import lowest_minima, refine_on_grid
from giantstep.problems.combinations import combinations
from giantstep.problems.domains import LEARNING_RATE, LETTER
from giantstep.problems.domains import RIDGE as RIDGES
from giantstep.problems.losses import SQUARE
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.progress import Progress, bar
from giantstep.questions.case import DOUBTS, Case
from giantstep.questions.choices import BIAS, RATE, READOUT, RIDGE, SAMPLES
from giantstep.questions.remarks import OF_COVARIANCE
from giantstep.questions.values import read_numbers
from giantstep.theory.bounds import with_common_bias
from giantstep.theory.first_layer.equivalent_features import equivalent_features
from giantstep.theory.optima import criterion, search_of
from giantstep.validation import Fault, Interval, InvalidParametersError

# Begins the names of a readout's values.
_LETTER = "letter_"
# Most values of a readout that is optimised.
_MOST_LETTERS = 4
# Ends of the ranges that are searched, of letters in units of the first.
_LARGEST_LETTER, _LARGEST_BIAS = 3.0, 5.0
# Candidates of each unknown but the ridge, by the number of unknowns; fewer for losses that take
# long.
_CANDIDATES, _CONVEX_CANDIDATES = (41, 13, 7, 5), (11, 6, 4, 3)
# Tolerance of the refinement of several unknowns: on log rates, and on letters and biases.
_SEVERAL_TOLERANCE = 1e-3
# So many minima among the candidates of several unknowns are refined, if they are near the lowest.
_STARTS, _MARGIN = 3, 0.02
_DOMAINS: dict[str, Interval] = {
    RATE: replace(LEARNING_RATE, open_below=True),
    READOUT: LETTER,
    BIAS: LETTER,
    RIDGE: replace(RIDGES, open_below=True),
}
# Unknowns that are positive, and searched over orders of magnitude.
_LOGARITHMIC = RATE, RIDGE, SAMPLES


@dataclass(frozen=True)
class Search:
    """The least error over some unknowns: of all candidates, then refined around the best.

    Attributes
    ----------
    case : Case
        The case that is solved, at problems that vary.
    unknowns : mapping of str to Array
        Candidates in increasing order, of all but the ridge: of "learning_rate", "letter_2" (the
        second of the readout), ... or "bias".
    ridges : Array
        Candidates of the ridge; a single one, if it is not optimised.
    at : callable
        Takes values of the unknowns; returns the problem, and A sample complexities, each with an
        optimum of its own. Raises InvalidParametersError where there is none.
    """

    case: Case
    unknowns: Mapping[str, Array]
    ridges: Array
    at: Callable[[Mapping[str, float]], tuple[Problem, Array]]

    def profile(self, count: int = 1, report: Progress = bar) -> Array:
        """Return the errors of all candidates, (*candidates, A, ridges), NaN where there is none.

        Parameters
        ----------
        count : int
            A.
        report : callable
        """
        sizes = [x.size for x in self.unknowns.values()]
        errors = np.full((math.prod(sizes), count, self.ridges.size), np.nan)
        for k, values in enumerate(combinations(self.unknowns)):
            with suppress(InvalidParametersError):
                problem, alpha = self.at(values)
                points = np.meshgrid(alpha, self.ridges, indexing="ij")
                readout = self.case._replace(problem=problem).readout
                errors[k] = criterion(readout, self.case.by, *points)
            report((k + 1) / len(errors))
        return errors.reshape(*sizes, *errors.shape[1:])

    def least(self, values: Mapping[str, float], k: int = 0) -> tuple[float, float, bool]:
        """Minimise over the ridge: error, infinity where there is none; ridge; if on an edge."""
        ridge, on_edge = self.ridges[:1], np.array([False])
        try:
            problem, alpha = self.at(values)
            case, at = self.case._replace(problem=problem), alpha[[k]]
            if self.ridges.size > 1:
                best = case.best(at, self.ridges)
                ridge, on_edge = best.ridge, best.on_edge
            error = criterion(case.readout, case.by, at, ridge)
        except InvalidParametersError:
            return math.inf, math.nan, False
        return np.nan_to_num(error, nan=np.inf).item(), ridge.item(), on_edge.item()

    def optimum(self, profile: Array, k: int = 0) -> dict[str, Any]:
        """Refine around the lowest minima of a profile, at one sample complexity.

        Returns
        -------
        dict
            Variables: the least error, NaN if there is none, the values of the unknowns, and of
            the ridge if it is one, whether they are at an end of what was searched, and what the
            theory leaves out there.
        """
        values, on_edge = self._refined(np.nan_to_num(profile[..., k, :], nan=np.inf).min(-1), k)
        error, ridge, at_end = self.least(values, k)
        if self.ridges.size > 1:
            values, on_edge = values | {RIDGE: ridge}, on_edge | {RIDGE: at_end}
        solvable = math.isfinite(error)
        found: dict[str, Any] = {f"optimal_{self.case.by}": error if solvable else math.nan}
        for name, value in values.items():
            found |= {f"optimal_{name}": value, f"optimal_{name}_on_edge": on_edge[name]}
        found |= dict.fromkeys(DOUBTS, math.nan)
        if solvable:
            problem, alpha = self.at(values)
            solved = self.case._replace(problem=problem).solve(alpha[[k]], np.array([ridge]))
            found |= {x: solved[x].item() for x in DOUBTS + OF_COVARIANCE if x in solved}
        return found

    def _refined(self, errors: Array, k: int) -> tuple[dict[str, float], dict[str, bool]]:
        """Return the values of the least error, and whether each is at an end of its candidates."""
        axes = [np.log(x) if name in _LOGARITHMIC else x for name, x in self.unknowns.items()]
        tolerance = search_of(self.case.loss).rate_tolerance
        if len(axes) > 1:
            tolerance = max(tolerance, _SEVERAL_TOLERANCE)

        def values(x: Array) -> dict[str, float]:
            at = zip(self.unknowns, x.tolist(), strict=True)
            return {name: math.exp(one) if name in _LOGARITHMIC else one for name, one in at}

        starts = lowest_minima(errors, _STARTS if len(axes) > 1 else 1, _MARGIN) if axes else []
        of = (lambda x: self.least(values(x), k)[0]), axes
        refined = [(*refine_on_grid(*of, start, tolerance), start) for start in starts]
        if not refined:  # nothing could be solved, or nothing is unknown
            return dict.fromkeys(self.unknowns, math.nan), dict.fromkeys(self.unknowns, True)
        x, _, best = min(refined, key=lambda one: one[1])
        # The refinement next to an end, or to what could not be solved, stops short of it.
        on_edge = {
            name: bool(min(at - axis[0], axis[-1] - at) < 10 * tolerance)
            or bool(np.isinf(maximum_filter1d(errors, 3, axis=i, mode="nearest")[best]))
            for i, (name, axis, at) in enumerate(zip(self.unknowns, axes, x, strict=True))
        }
        return values(x), on_edge


def read_unknowns(
    problem: Problem, given: Mapping[str, Any], loss: str, dimension: float, faults: list[Fault]
) -> dict[str, Array]:
    """Read the candidates of what is searched for, the ridge last, and collect what is wrong.

    Where none are given, they are those of `search_of`.
    """
    readout: Sequence[Any] = getattr(problem, READOUT, ())
    if not isinstance(problem, Protocol):
        allowed = f"{RIDGE} or {BIAS} for spiked features given directly"
        faults += [Fault("over", name, allowed) for name in (RATE, READOUT) if name in given]
    elif READOUT in given and not (2 <= len(readout) <= _MOST_LETTERS and readout[0][0]):
        allowed = f"2 to {_MOST_LETTERS} values, the first of them not 0, to optimise the others"
        faults.append(Fault(READOUT, readout, allowed))
    if faults:
        return {}
    parts = {READOUT: [f"{_LETTER}{k}" for k in range(2, len(readout) + 1)]}
    count = sum(len(parts.get(name, [name])) for name in given if name != RIDGE)
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
    known = [name for name in _DOMAINS if name in given]
    return {part: candidates[name] for name in known for part in parts.get(name, [name])}


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
