"""Newton's method for many points at once.

`solve_newton` is for starts that may be far from the solution: it shortens steps that do not lower
the residual, and points leave the batch as they converge. `iterate_newton` is for starts from which
full steps converge: it repeats them on the whole batch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from giantstep.arrays import Array, Indices, Mask, RealOrComplex

# How much shorter each next attempt is.
_SHORTENING = 4

Details = TypeVar("Details", bound=tuple[Array, ...])
State = TypeVar("State")


class Iterates(NamedTuple, Generic[Details]):
    """A map, whose fixed point is wanted, evaluated at S points.

    Attributes
    ----------
    x, mapped : Array, shape (S, D)
        The unknowns, and their image under the map.
    residual : Array, shape (S,)
        Size of the difference of the two; infinite or NaN where the map has no value.
    details : named tuple of arrays of shape (S, ...)
        Whatever else the problem keeps of an evaluation.
    """

    x: Array
    mapped: Array
    residual: Array
    details: Details

    def at(self, chosen: Indices) -> Iterates[Details]:
        """Select some of the points."""
        x, mapped, residual = (values.take(chosen, axis=0) for values in self[:3])
        details = type(self.details)(*(values.take(chosen, axis=0) for values in self.details))
        return Iterates(x, mapped, residual, details)

    def overwrite(self, places: Indices, other: Iterates[Details], chosen: Indices) -> None:
        """Replace the points at `places` by the chosen points of another batch."""
        arrays, others = (*self[:3], *self.details), (*other[:3], *other.details)
        for mine, theirs in zip(arrays, others, strict=True):
            mine[places] = theirs.take(chosen, axis=0)


class FixedPointProblem(Protocol[Details]):
    """What `solve_newton` needs to know of a map.

    `places` are the indices in the batch of the points in `at`, or of the rows of x.
    """

    def evaluate(self, x: Array, places: Indices) -> Iterates[Details]:
        """Evaluate the map."""

    def newton_steps(self, at: Iterates[Details], places: Indices) -> Array:
        """Compute the Newton steps, in any coordinates."""

    def move(self, x: Array, step: Array) -> Array:
        """Go from x along a step in those coordinates."""

    def finished(self, at: Iterates[Details]) -> Mask:
        """Say which points need no more steps."""


def solve_newton(
    problem: FixedPointProblem[Details],
    at: Iterates[Details],
    max_iterations: int,
    shortest: float,
) -> Indices:
    """Move all points to fixed points of a map, in place, by Newton's method.

    A step that does not lower the residual is shortened, and at last replaced by a damped iteration
    of the map. A point leaves the batch when it is finished, or when even that does not lower its
    residual.

    Parameters
    ----------
    problem : FixedPointProblem
    at : Iterates
        Where to start; updated in place.
    max_iterations : int
    shortest : float
        Share of the Newton step below which it is given up for an iteration of the map.

    Returns
    -------
    integer array, shape (S,)
        Number of iterations at each point.
    """
    active = np.flatnonzero(~problem.finished(at))
    here = at.at(active)
    iterations, count = np.zeros(at.residual.size, dtype=np.int64), 0
    steps, length = np.zeros(here.x.shape), np.ones(active.size)
    moved = np.ones(active.size, dtype=bool)
    while active.size and count < max_iterations:
        count += 1
        if (new := np.flatnonzero(moved)).size:
            steps[new] = problem.newton_steps(here.at(new), active[new])
        given_up = length < shortest
        with np.errstate(all="ignore"):  # a trial that overflows is not better, and is shortened
            trial = problem.move(here.x, length[:, None] * steps)
            if given_up.any():
                trial[given_up] = (here.x[given_up] + here.mapped[given_up]) / 2
            reached = problem.evaluate(trial, active)
        moved = reached.residual < here.residual
        unmoved = np.flatnonzero(~moved)
        reached.overwrite(unmoved, here, unmoved)
        here = reached
        length = np.where(moved, 1.0, length / _SHORTENING)
        left = problem.finished(here) | (given_up & ~moved) | (count == max_iterations)
        if left.any():
            gone, stay = np.flatnonzero(left), np.flatnonzero(~left)
            at.overwrite(active[gone], here, gone)
            iterations[active[gone]] = count
            active, here, steps = active[stay], here.at(stay), steps[stay]
            length, moved = length[stay], moved[stay]
    return iterations


def iterate_newton(
    advance: Callable[[State], tuple[State, RealOrComplex]],
    state: State,
    tolerance: float,
    max_iterations: int,
) -> State:
    """Repeat Newton steps on a whole batch until no point moves any more.

    Points that have converged take part until the last one has: that moves them by rounding only.

    Parameters
    ----------
    advance : callable
        From a state to the state after the Newton step, and to the (relative) size of that step.
        Sizes that are not finite, of points that are lost, do not hold up the others.
    state : any
        The first.
    tolerance : float
        Size of a step below which a point has converged.
    max_iterations : int
    """
    for _ in range(max_iterations):
        state, change = advance(state)
        if not ((change > tolerance) & (change < np.inf)).any():
            break
    return state
