"""The solution for any convex loss, by Newton's method on the map of `convex_equations`.

Between Jacobians, which are made of differences of channel averages, Broyden's updates keep the
last one true to the change of the map along the last step. A Jacobian on one rule serves on finer
ones, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from giantstep.arrays import Array, Indices, Mask
from giantstep.numerics.linear_systems import TINY, solve_small
from giantstep.numerics.newton import Iterates, solve_newton
from giantstep.theory.readout.convex_equations import ConvexEquations
from giantstep.theory.readout.fixed_point import solve_resolvent
from giantstep.theory.readout.output_channel import ChannelAverages

# Newton's method: most steps, and the least share of a step that is tried.
_MAX_ITERATIONS, _SHORTEST = 15, 1e-2
# Damped iterations of the map, as a last resort: they converge slowly, but often where Newton's
# method does not.
_MANY = 100
# Before that, the solution is followed from this ridge down, by this factor at a time.
_LARGE_RIDGE, _FACTOR = 30.0, 2.0
# A Jacobian is computed anew if a step leaves more than the first share of the residual, unless the
# residual is below the second number, or below the third times the tolerance.
_FAST, _SMALL, _NEAR = 0.3, 1e-3, 1e3
# Where rounding stops Newton's method early, a point has converged if its residual is at most so
# many times the tolerance, and its next step at most so many times, and at most this.
_RESIDUAL, _STEP, _LARGEST_STEP = 1e2, 1e6, 0.1
# Step of finite differences and longest Newton step, in coordinates.
_DIFFERENCE, _LONGEST = 1e-7, 2.0


@dataclass(frozen=True)
class FixedPoint:
    """Where Newton's method ended at S points.

    Attributes
    ----------
    equations : ConvexEquations
    alpha, ridge : Array, shape (S,)
    at : Iterates
        The unknowns, their image, the distance between the two in coordinates, and the channel
        averages.
    shift : Array, shape (S,)
        That distance at the start.
    converged : Mask, shape (S,)
        Where the equations hold.
    iterations : integer array, shape (S,)
    jacobian : Array, shape (S, D, D)
    """

    equations: ConvexEquations
    alpha: Array
    ridge: Array
    at: Iterates[ChannelAverages]
    shift: Array
    converged: Mask
    iterations: Indices
    jacobian: Array

    def chosen(self, places: Indices) -> FixedPoint:
        """Select some of the points."""
        kept: dict[str, Any] = {"equations": self.equations, "at": self.at.at(places)}
        arrays = {k: x[places] for k, x in vars(self).items() if k not in kept}
        return FixedPoint(**kept, **arrays)

    def overwrite(self, places: Indices, other: FixedPoint) -> None:
        """Replace points by those of another result that converged, and add up the iterations."""
        self.iterations[places] += other.iterations
        converged = np.flatnonzero(other.converged)
        better = places[converged]
        self.at.overwrite(better, other.at, converged)
        self.converged[better], self.jacobian[better] = True, other.jacobian[converged]

    def on(self, equations: ConvexEquations) -> FixedPoint:
        """Go on from here to the solution on another rule."""
        found = solve_near(equations, self.alpha, self.ridge, self.at.x, self.jacobian)
        np.add(found.iterations, self.iterations, out=found.iterations)
        return found


class _NewtonProblem:
    """The equations at some points, for `solve_newton`.

    Attributes
    ----------
    at : Iterates
        Where they begin.
    jacobian : Array, shape (S, D, D)
        The last one; zero before the first.
    last : Array, shape (S, 2, D)
        The coordinates, and those of the image, at the last step; zero before the first.
    """

    def __init__(self, equations: ConvexEquations, alpha: Array, ridge: Array, x: Array) -> None:
        self.equations, self.alpha, self.ridge = equations, alpha, ridge
        self.jacobian = np.zeros((*x.shape, x.shape[-1]))
        self.last = np.zeros((len(x), 2, x.shape[-1]))
        self.at = self.evaluate(x.copy(), np.arange(len(x)))

    def evaluate(self, x: Array, places: Indices) -> Iterates[ChannelAverages]:
        """Evaluate the map; the residual is infinite where no law has such moments."""
        equations = self.equations
        moments = equations.prediction_moments(x)
        averages = equations.channel.averages(moments)
        mapped = equations.evaluate(x, averages, self.alpha[places], self.ridge[places])[0]
        residual = np.max(np.abs(equations.coordinates(mapped) - equations.coordinates(x)), axis=-1)
        valid = np.all(moments.V > 0, axis=-1) & np.all(moments.Q > moments.P**2, axis=-1)
        valid &= np.isfinite(residual)
        return Iterates(x, mapped, np.where(valid, residual, np.inf), averages)

    def newton_steps(self, at: Iterates[ChannelAverages], places: Indices) -> Array:
        here = np.stack([self.equations.coordinates(x) for x in (at.x, at.mapped)], axis=1)
        before, jacobian = self.last[places], self.jacobian[places]
        moved, image = (here - before).swapaxes(0, 1)
        known, again = (np.any(x, axis=(1, 2)) for x in (jacobian, before))
        missed = image - np.einsum("sij,sj->si", jacobian, moved)
        square = np.maximum(np.sum(moved**2, axis=-1), TINY)
        jacobian += again[:, None, None] * missed[:, :, None] * (moved / square[:, None])[:, None]
        fast = np.where(again, _FAST * np.abs(before[:, 1] - before[:, 0]).max(axis=-1), np.inf)
        slow = at.residual > np.maximum(fast, min(_SMALL, _NEAR * self.equations.tolerance))
        if (new := np.flatnonzero(slow | ~known)).size:
            some = self.alpha[places[new]], self.ridge[places[new]]
            jacobian[new] = _differentiate(self.equations, at.at(new), *some)
        self.last[places], self.jacobian[places] = here, jacobian
        return _newton_step(here[:, 1] - here[:, 0], jacobian)

    def move(self, x: Array, step: Array) -> Array:
        return self.equations.move(x, step)

    def finished(self, at: Iterates[ChannelAverages]) -> Mask:
        return (at.residual <= self.equations.tolerance) | np.isinf(at.residual)


def _differentiate(
    equations: ConvexEquations, at: Iterates[ChannelAverages], alpha: Array, ridge: Array
) -> Array:
    """Differentiate the map at S points, in coordinates, shape (S, D, D)."""
    count, size = at.x.shape
    steps = np.tile(_DIFFERENCE * np.eye(size), (count, 1))
    moved = equations.move(np.repeat(at.x, size, axis=0), steps)
    averages = equations.averages_near(at, moved, _DIFFERENCE)
    mapped = equations.evaluate(moved, averages, np.repeat(alpha, size), np.repeat(ridge, size))[0]
    images = equations.coordinates(mapped).reshape(count, size, size)
    return ((images - equations.coordinates(at.mapped)[:, None]) / _DIFFERENCE).swapaxes(1, 2)


def _newton_step(difference: Array, jacobian: Array) -> Array:
    """Compute the Newton step from the image less the unknowns, no longer than `_LONGEST`."""
    matrix = np.eye(difference.shape[-1]) - np.where(np.isfinite(jacobian), jacobian, 0.0)
    step = solve_small(matrix, difference)
    longest = np.max(np.abs(step), axis=-1, keepdims=True)
    return step * np.minimum(1, _LONGEST / np.maximum(longest, TINY))


def _solve_from(
    equations: ConvexEquations,
    x: Array,
    alpha: Array,
    ridge: Array,
    damped_iterations: int = 0,
    jacobian: Array | None = None,
) -> FixedPoint:
    """Solve the equations from some unknowns, after some damped iterations of the map.

    Points at which the map is not finite stay where they are.
    """
    problem = _NewtonProblem(equations, alpha, ridge, x)
    if jacobian is not None:
        problem.jacobian[:] = jacobian
    at, shift = problem.at, problem.at.residual.copy()
    for _ in range(damped_iterations):
        at = problem.evaluate((at.x + at.mapped) / 2, np.arange(len(x)))
    iterations = solve_newton(problem, at, _MAX_ITERATIONS, _SHORTEST)
    difference = equations.coordinates(at.mapped) - equations.coordinates(at.x)
    error = np.max(np.abs(_newton_step(difference, problem.jacobian)), axis=-1)
    converged = at.residual <= _RESIDUAL * equations.tolerance
    converged &= error <= min(_STEP * equations.tolerance, _LARGEST_STEP)
    iterations += damped_iterations
    return FixedPoint(equations, alpha, ridge, at, shift, converged, iterations, problem.jacobian)


def solve_near(
    equations: ConvexEquations,
    alpha: Array,
    ridge: Array,
    x: Array | None = None,
    jacobian: Array | None = None,
) -> FixedPoint:
    """Solve the equations at S points, from unknowns nearby or the solution for the square loss.

    Where that fails, follow the solution from a large ridge, at which predictions are small.

    Parameters
    ----------
    equations : ConvexEquations
    alpha, ridge : Array, shape (S,)
    x : Array, shape (S, D), optional
    jacobian : Array, shape (S, D, D), optional
        The Jacobian of the map nearby.
    """
    if x is None:
        found = _from_square_loss(equations, alpha, ridge)
    else:
        found = _solve_from(equations, x, alpha, ridge, jacobian=jacobian)
        if (failed := np.flatnonzero(~found.converged)).size:  # as Jacobians nearby may differ
            own = _solve_from(equations, x[failed], alpha[failed], ridge[failed])
            found.overwrite(failed, own)
    tried = np.isfinite(found.at.residual) | (x is None)
    for solve in (_from_large_ridge, partial(_from_square_loss, damped_iterations=_MANY)):
        if (failed := np.flatnonzero(~found.converged & tried)).size:
            found.overwrite(failed, solve(equations, alpha[failed], ridge[failed]))
    return found


def _from_square_loss(
    equations: ConvexEquations, alpha: Array, ridge: Array, damped_iterations: int = 0
) -> FixedPoint:
    """Solve the equations from the solution for the square loss that is most like the loss."""
    curvature, size = equations.loss.like_square()
    at = solve_resolvent(equations.square_loss.equations, alpha, ridge / curvature)
    solution = equations.square_loss.order_parameters(at)
    mean, rank = solution.mean, equations.square_loss.label_residual.to_m.shape[1]
    # The square loss has a basis of the mu0 of its own.
    m = mean.m @ np.linalg.pinv(equations.to_m).T
    means = size * np.concatenate([m, mean.prediction[:, rank:], mean.slope], axis=-1)
    start = np.concatenate([at.V / curvature, means, size**2 * solution.errors.q], axis=-1)
    return _solve_from(equations, start, alpha, ridge, damped_iterations)


def _from_large_ridge(equations: ConvexEquations, alpha: Array, ridge: Array) -> FixedPoint:
    """Solve the equations at ever smaller ridges, each from the solution at the last."""
    times = math.ceil(max(0.0, math.log(_LARGE_RIDGE / ridge.min(), _FACTOR)))
    found = _from_square_loss(equations, alpha, ridge * _FACTOR**times)
    for power in range(times - 1, -1, -1):
        x, jacobian = found.at.x, found.jacobian
        found = _solve_from(equations, x, alpha, ridge * _FACTOR**power, jacobian=jacobian)
    return found


def refined(found: FixedPoint, alpha: Array) -> Array:
    """Go a Newton step from solutions to those at an alpha nearby, shape (S, D)."""
    equations, x = found.equations, found.at.x
    mapped = equations.evaluate(x, found.at.details, alpha, found.ridge)[0]
    difference = equations.coordinates(mapped) - equations.coordinates(x)
    return equations.move(x, _newton_step(difference, found.jacobian))


def polished(found: FixedPoint) -> FixedPoint:
    """Differentiate the map at solutions, and go the Newton step from there."""
    jacobian = _differentiate(found.equations, found.at, found.alpha, found.ridge)
    found = replace(found, jacobian=jacobian)
    x = np.where(found.converged[:, None], refined(found, found.alpha), found.at.x)
    return replace(found, at=found.at._replace(x=x))


def error_slope(found: FixedPoint) -> Array:
    """Compute d log(test error)/d log(alpha) at S solutions."""
    both = (refined(found, found.alpha * factor) for factor in (1, 1 + _DIFFERENCE))
    here, moved = (found.equations.errors(x)[0] for x in both)
    return (moved / here - 1) / _DIFFERENCE
