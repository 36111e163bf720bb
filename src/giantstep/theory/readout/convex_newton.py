"""The solution for any convex loss, by Newton's method on the map of `convex_equations`.

The output channel is differentiated by finite differences at each kappa, so that the Jacobian costs
five evaluations of its averages, whatever the number of groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array, Indices, Mask
from giantstep.numerics.linear_systems import TINY, solve_small
from giantstep.numerics.newton import Iterates, solve_newton
from giantstep.theory.readout.convex_equations import ConvexEquations
from giantstep.theory.readout.fixed_point import ACCEPTED, STEP_ACCEPTED, solve_resolvent
from giantstep.theory.readout.output_channel import ChannelAverages, PredictionMoments
from giantstep.theory.readout.square_loss import SquareLoss

# A point is solved when its residual, in coordinates, is below this.
_TOLERANCE = 1e-12
_MAX_ITERATIONS, _SHORTEST = 25, 1e-2
# Ridges from which solutions are continued, in order of trial, and the largest ratio of a stride.
_ANCHORS, _RATIO = (10.0, 1.0, 0.1), 3.2
# Damped iterations of the map before Newton's method, which often diverges from the solution for
# the square loss; and many, where it does. They converge slowly, but from almost anywhere.
_DAMPED_ITERATIONS, _MANY = 6, 100
# A Jacobian is computed again if a step leaves more of the residual, unless it is small.
_FAST, _NEAR = 0.3, 1e-3
# Step of finite differences and longest Newton step, in coordinates.
_DIFFERENCE, _LONGEST = 1e-7, 2.0


@dataclass(frozen=True)
class FixedPoint:
    """Where Newton's method ended at S points.

    Attributes
    ----------
    at : Iterates
        The unknowns, their image, the distance between the two in coordinates, and the channel
        averages.
    error : Array, shape (S,)
        Size of the next Newton step, in coordinates.
    iterations : integer array, shape (S,)
    jacobian : Array, shape (S, D, D)
    """

    at: Iterates[ChannelAverages]
    error: Array
    iterations: Indices
    jacobian: Array

    def converged(self) -> Mask:
        """Where the equations hold, shape (S,)."""
        return (self.error <= STEP_ACCEPTED) & (self.at.residual <= ACCEPTED)

    def replace(self, places: Indices, other: FixedPoint) -> None:
        """Replace some points by those of another result, and add up the iterations."""
        self.at.replace(places, other.at, np.ones(places.size, dtype=bool))
        self.error[places], self.jacobian[places] = other.error, other.jacobian
        self.iterations[places] += other.iterations


def _evaluate(
    equations: ConvexEquations, x: Array, alpha: Array, ridge: Array
) -> Iterates[ChannelAverages]:
    """Evaluate the map; where the moments are not those of any law the residual is infinite."""
    moments = equations.prediction_moments(x)
    averages = equations.channel.averages(moments)
    mapped = equations.evaluate(x, averages, alpha, ridge).x
    residual = np.max(np.abs(equations.coordinates(mapped) - equations.coordinates(x)), axis=-1)
    valid = np.all(moments.V > 0, axis=-1) & np.all(moments.Q > moments.P**2, axis=-1)
    valid &= np.isfinite(residual)
    return Iterates(x, mapped, np.where(valid, residual, np.inf), averages)


def _jacobian(
    equations: ConvexEquations, at: Iterates[ChannelAverages], alpha: Array, ridge: Array
) -> Array:
    """Differentiate the map, in coordinates, shape (S, D, D)."""
    slopes = _channel_slopes(equations, at)
    frame, columns = equations.frame(at.x), []
    before = equations.coordinates(at.mapped)
    for i in range(at.x.shape[-1]):
        step = _DIFFERENCE * frame[:, :, i]
        change = equations.change_of_moments(at.x, step)
        averages = ChannelAverages(*(
            old + sum(slope[k] * way for slope, way in zip(slopes, change, strict=True))
            for k, old in enumerate(at.details)
        ))  # fmt: skip
        mapped = equations.evaluate(at.x + step, averages, alpha, ridge).x
        columns.append((equations.coordinates(mapped) - before) / _DIFFERENCE)
    return np.stack(columns, axis=-1)


def _channel_slopes(equations: ConvexEquations, at: Iterates[ChannelAverages]) -> list[list[Array]]:
    """Differentiate each channel average by each of the prediction's moments, at each kappa."""
    moments = equations.prediction_moments(at.x)
    std = np.sqrt(moments.Q)
    sizes = PredictionMoments(V=moments.V, M=std, P=std, Q=moments.Q)
    slopes = []
    for name, size in sizes._asdict().items():
        step = _DIFFERENCE * size
        moved = moments._replace(**{name: getattr(moments, name) + step})
        averages = equations.channel.averages(moved)
        slopes.append([(new - old) / step for new, old in zip(averages, at.details, strict=True)])
    return slopes


def _step(equations: ConvexEquations, at: Iterates[ChannelAverages], jacobian: Array) -> Array:
    """Compute the Newton step in coordinates, no longer than `_LONGEST`."""
    step = _unbounded_step(equations.coordinates(at.mapped) - equations.coordinates(at.x), jacobian)
    longest = np.max(np.abs(step), axis=-1, keepdims=True)
    return step * np.minimum(1, _LONGEST / np.maximum(longest, TINY))


def _unbounded_step(difference: Array, jacobian: Array) -> Array:
    """Compute that step from the difference of the unknowns' image and themselves."""
    matrix = np.eye(difference.shape[-1]) - np.where(np.isfinite(jacobian), jacobian, 0.0)
    return solve_small(matrix, difference)


def solve_convex(equations: ConvexEquations, alpha: Array, ridge: Array) -> FixedPoint:
    """Solve the equations at S points, from the solution for the square loss.

    A few damped iterations of the map precede Newton's method, or many where it fails. Where the
    start is still too far from the solution, the equations are solved at a ridge of `_ANCHORS`
    where it is not, and that solution is continued to the given ridge.

    Parameters
    ----------
    equations : ConvexEquations
    alpha, ridge : Array, shape (S,)
    """
    start = square_loss_unknowns(equations.square_loss, alpha, ridge)
    best = solve_from(equations, start, alpha, ridge, _DAMPED_ITERATIONS)
    if (failed := np.flatnonzero(~best.converged())).size:
        again = solve_from(equations, start[failed], alpha[failed], ridge[failed], _MANY)
        best.replace(failed, again)
    for anchor in _ANCHORS:
        failed = np.flatnonzero(~best.converged())
        if not failed.size:
            break
        at_anchor = np.full(failed.size, anchor)
        start = square_loss_unknowns(equations.square_loss, alpha[failed], at_anchor)
        near = solve_from(equations, start, alpha[failed], at_anchor, _DAMPED_ITERATIONS)
        failed, start = failed[near.converged()], near.at.x[near.converged()]
        if failed.size:
            continued = _continue_in_ridge(equations, start, anchor, alpha[failed], ridge[failed])
            best.replace(failed, continued)
    return best


def _continue_in_ridge(
    equations: ConvexEquations, x: Array, anchor: float, alpha: Array, ridge: Array
) -> FixedPoint:
    """Continue solutions from one ridge to others, by equal ratios of at most `_RATIO`."""
    far = np.log(ridge / anchor)
    count = max(1, int(np.ceil(np.max(np.abs(far), initial=0.0) / np.log(_RATIO))))
    for step in range(1, count):
        x = solve_from(equations, x, alpha, anchor * np.exp(far * step / count)).at.x
    return solve_from(equations, x, alpha, ridge)


class _NewtonProblem(NamedTuple):
    """The equations at some points, for `solve_newton`.

    Between Jacobians, which cost four evaluations, Broyden's updates keep the last one true to the
    change of the map along the last step.

    Attributes
    ----------
    jacobian : Array, shape (S, D, D)
        As last known; zero where unknown.
    last : Array, shape (S, 2, D)
        The coordinates and those of the image where it was last asked for, or zero.
    """

    equations: ConvexEquations
    alpha: Array
    ridge: Array
    jacobian: Array
    last: Array

    def evaluate(self, x: Array, places: Indices) -> Iterates[ChannelAverages]:
        return _evaluate(self.equations, x, self.alpha[places], self.ridge[places])

    def newton_steps(self, at: Iterates[ChannelAverages], places: Indices) -> Array:
        here = np.stack([self.equations.coordinates(x) for x in (at.x, at.mapped)], axis=1)
        before, jacobian = self.last[places], self.jacobian[places]
        moved, image = (here - before).swapaxes(0, 1)
        missed = image - np.einsum("sij,sj->si", jacobian, moved)
        known = jacobian.any(axis=(1, 2))
        square = np.maximum(np.sum(moved**2, axis=-1), TINY)
        jacobian += missed[:, :, None] * (moved / square[:, None])[:, None]
        slow = at.residual > np.maximum(
            _FAST * np.abs(before[:, 1] - before[:, 0]).max(axis=-1), _NEAR
        )
        if (new := np.flatnonzero(slow | ~known)).size:
            of = places[new]
            jacobian[new] = _jacobian(self.equations, at.at(new), self.alpha[of], self.ridge[of])
        self.last[places], self.jacobian[places] = here, jacobian
        return _step(self.equations, at, jacobian)

    def move(self, x: Array, step: Array) -> Array:
        return self.equations.move(x, step)

    def iterate_map(self, at: Iterates[ChannelAverages]) -> Array:
        return (at.x + at.mapped) / 2

    def finished(self, at: Iterates[ChannelAverages]) -> Mask:
        return at.residual <= _TOLERANCE


def solve_from(
    equations: ConvexEquations, x: Array, alpha: Array, ridge: Array, damped_iterations: int = 0
) -> FixedPoint:
    """Solve the equations from some unknowns, after some damped iterations of the map.

    Points at which the map is not finite stay where they are.
    """
    at = _evaluate(equations, x.copy(), alpha, ridge)
    for _ in range(damped_iterations):
        at = _evaluate(equations, (at.x + at.mapped) / 2, alpha, ridge)
    jacobian = np.zeros((*x.shape, x.shape[-1]))
    last = np.zeros((len(x), 2, x.shape[-1]))
    problem = _NewtonProblem(equations, alpha, ridge, jacobian, last)
    finite = np.flatnonzero(np.isfinite(at.residual))
    iterations = solve_newton(problem, at, _MAX_ITERATIONS, _SHORTEST, finite)
    error = np.max(np.abs(_step(equations, at, jacobian)), axis=-1, initial=0.0)
    return FixedPoint(at, error, iterations, jacobian)


def square_loss_unknowns(square_loss: SquareLoss, alpha: Array, ridge: Array) -> Array:
    """Solve for the square loss, and return the unknowns, shape (S, D)."""
    at = solve_resolvent(square_loss.equations, alpha, ridge)
    solution = square_loss.order_parameters(at)
    mean, q = solution.mean, solution.errors.q
    return np.concatenate([at.V, mean.prediction, mean.slope, q], axis=-1)


def newton_step_on_finer_rule(
    fine: ConvexEquations, solution: FixedPoint, alpha: Array, ridge: Array
) -> tuple[Array, Array]:
    """Take one Newton step on a finer rule from the solution on a coarse one.

    Returns
    -------
    shift : Array, shape (S,)
        Distance between the images of the unknowns on the two rules, in coordinates.
    x : Array, shape (S, D)
        The unknowns after the step.
    """
    again = _evaluate(fine, solution.at.x, alpha, ridge).mapped
    change = fine.coordinates(again) - fine.coordinates(solution.at.mapped)
    step = _unbounded_step(change, solution.jacobian)
    return np.max(np.abs(change), axis=-1), fine.move(solution.at.x, step)
