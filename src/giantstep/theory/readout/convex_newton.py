"""The solution for any convex loss, by Newton's method on the map of `convex_equations`.

Between Jacobians, which are made of differences of channel averages, Broyden's updates keep the
last one true to the change of the map along the last step. A Jacobian on one rule serves on finer
ones, too.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array, Indices, Mask
from giantstep.numerics.linear_systems import TINY, largest, solve_small
from giantstep.numerics.newton import Iterates, solve_newton
from giantstep.theory.readout.convex_equations import ConvexEquations
from giantstep.theory.readout.fixed_point import solve_resolvent
from giantstep.theory.readout.output_channel import ChannelAverages

# Newton's method: most steps, and the least share of a step that is tried.
_MAX_ITERATIONS, _SHORTEST = 15, 1e-2
# Longest Newton step, and the step of finite differences, in coordinates.
_LONGEST, _DIFFERENCE = 2.0, 1e-7
# A Jacobian is computed anew if a step leaves more than this share of the residual,
_FAST = 0.3
# unless the residual is below this, or below so many times the tolerance.
_SMALL, _NEAR = 1e-3, 1e3
# Where rounding stops Newton's method early, a point has converged if its residual is at most so
# many times the tolerance,
_RESIDUAL = 1e2
# and its next step at most so many times the tolerance, and at most this.
_STEP, _LARGEST_STEP = 1e6, 0.1
# Where it fails, the solution is followed from this ridge down, by this factor at a time.
_LARGE_RIDGE, _FACTOR = 30.0, 2.0
# As a last resort, damped iterations of the map come first: they converge slowly, but often where
# Newton's method does not.
_MANY = 100


class Points(NamedTuple):
    """S points at which equations are to be solved, until residuals are below the tolerance."""

    equations: ConvexEquations
    tolerance: float
    alpha: Array
    ridge: Array

    def at(self, places: Indices) -> Points:
        """Select some of the points."""
        return self._replace(alpha=self.alpha[places], ridge=self.ridge[places])

    def image(self, x: Array, averages: ChannelAverages) -> Array:
        """Apply the map to unknowns, given the channel averages at them."""
        return self.equations.evaluate(x, averages, self.alpha, self.ridge)[0]

    def evaluate(self, x: Array) -> Iterates[ChannelAverages]:
        """Evaluate the map; the residual is infinite where no law has such moments."""
        moments = self.equations.prediction_moments(x)
        averages = self.equations.channel.averages(moments)
        mapped = self.image(x, averages)
        residual = np.max(np.abs(self.gap(x, mapped)), axis=-1)
        valid = np.all(moments.V > 0, axis=-1) & np.all(moments.Q > moments.P**2, axis=-1)
        valid &= np.isfinite(residual)
        return Iterates(x, mapped, np.where(valid, residual, np.inf), averages)

    def gap(self, x: Array, mapped: Array) -> Array:
        """Compute the image less the unknowns, in coordinates."""
        return self.equations.coordinates(mapped) - self.equations.coordinates(x)

    def jacobian(self, at: Iterates[ChannelAverages]) -> Array:
        """Differentiate the map, in coordinates, shape (S, D, D)."""
        count, size = at.x.shape
        steps = np.tile(_DIFFERENCE * np.eye(size), (count, 1))
        moved = self.equations.move(np.repeat(at.x, size, axis=0), steps)
        averages = self.equations.averages_near(at, moved, _DIFFERENCE)
        images = self.at(np.repeat(np.arange(count), size)).image(moved, averages)
        change = self.gap(np.repeat(at.mapped, size, axis=0), images)
        return (change / _DIFFERENCE).reshape(count, size, size).swapaxes(1, 2)


class FixedPoint(NamedTuple):
    """Where Newton's method ended at S points.

    Attributes
    ----------
    points : Points
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

    points: Points
    at: Iterates[ChannelAverages]
    shift: Array
    converged: Mask
    iterations: Indices
    jacobian: Array

    def chosen(self, places: Indices) -> FixedPoint:
        """Select some of the points."""
        arrays = (values[places] for values in self[2:])
        return FixedPoint._make([self.points.at(places), self.at.at(places), *arrays])

    def overwrite(self, places: Indices, other: FixedPoint) -> None:
        """Replace points by those of another result that converged, and add up the iterations."""
        self.iterations[places] += other.iterations
        converged = np.flatnonzero(other.converged)
        better = places[converged]
        self.at.overwrite(better, other.at, converged)
        self.converged[better], self.jacobian[better] = True, other.jacobian[converged]

    def on(self, equations: ConvexEquations, tolerance: float) -> FixedPoint:
        """Go on from here to the solution on another rule."""
        points = self.points._replace(equations=equations, tolerance=tolerance)
        found = solve_near(points, self.at.x, self.jacobian)
        return found._replace(iterations=found.iterations + self.iterations)

    def refined(self, alpha: Array) -> Array:
        """Go a Newton step from the solutions to those at an alpha nearby, shape (S, D)."""
        points = self.points._replace(alpha=alpha)
        gap = points.gap(self.at.x, points.image(self.at.x, self.at.details))
        return points.equations.move(self.at.x, _newton_step(gap, self.jacobian))

    def polished(self) -> FixedPoint:
        """Differentiate the map at the solutions, and go the Newton step from there."""
        found = self._replace(jacobian=self.points.jacobian(self.at))
        x = np.where(self.converged[:, None], found.refined(self.points.alpha), self.at.x)
        return found._replace(at=self.at._replace(x=x))

    def error_slope(self) -> Array:
        """Compute d log(test error)/d log(alpha) at the solutions."""
        both = (self.refined(self.points.alpha * factor) for factor in (1, 1 + _DIFFERENCE))
        here, moved = (self.points.equations.errors(x)[0] for x in both)
        return (moved / here - 1) / _DIFFERENCE


class _NewtonProblem:
    """The equations at some points, for `solve_newton`.

    Attributes
    ----------
    jacobian : Array, shape (S, D, D)
        The last one; zero before the first.
    last : Array, shape (S, 2, D)
        The coordinates, and those of the image, at the last step; zero before the first.
    """

    def __init__(self, points: Points, jacobian: Array) -> None:
        self.points, self.jacobian = points, jacobian
        self.last = np.zeros((len(jacobian), 2, jacobian.shape[-1]))

    def evaluate(self, x: Array, places: Indices) -> Iterates[ChannelAverages]:
        return self.points.at(places).evaluate(x)

    def newton_steps(self, at: Iterates[ChannelAverages], places: Indices) -> Array:
        coordinates = self.points.equations.coordinates
        here = np.stack([coordinates(x) for x in (at.x, at.mapped)], axis=1)
        before, jacobian = self.last[places], self.jacobian[places]
        moved, image = (here - before).swapaxes(0, 1)
        known, again = (np.any(x, axis=(1, 2)) for x in (jacobian, before))
        missed = image - np.einsum("sij,sj->si", jacobian, moved)
        square = np.maximum(np.sum(moved**2, axis=-1), TINY)
        jacobian += again[:, None, None] * missed[:, :, None] * (moved / square[:, None])[:, None]
        fast = np.where(again, _FAST * largest(before[:, 1] - before[:, 0]), np.inf)
        slow = at.residual > np.maximum(fast, min(_SMALL, _NEAR * self.points.tolerance))
        if (new := np.flatnonzero(slow | ~known)).size:
            jacobian[new] = self.points.at(places[new]).jacobian(at.at(new))
        self.last[places], self.jacobian[places] = here, jacobian
        return _newton_step(here[:, 1] - here[:, 0], jacobian)

    def move(self, x: Array, step: Array) -> Array:
        return self.points.equations.move(x, step)

    def finished(self, at: Iterates[ChannelAverages]) -> Mask:
        return (at.residual <= self.points.tolerance) | np.isinf(at.residual)


def _newton_step(gap: Array, jacobian: Array) -> Array:
    """Compute the Newton step from the image less the unknowns, no longer than `_LONGEST`."""
    matrix = np.eye(gap.shape[-1]) - np.where(np.isfinite(jacobian), jacobian, 0.0)
    step = solve_small(matrix, gap)
    return step * np.minimum(1, _LONGEST / np.maximum(largest(step), TINY))[:, None]


def _solve_from(
    points: Points, x: Array, jacobian: Array | None = None, damped_iterations: int = 0
) -> FixedPoint:
    """Solve the equations from some unknowns, after some damped iterations of the map.

    Points at which the map is not finite stay where they are.
    """
    at = points.evaluate(x.copy())
    shift = at.residual.copy()
    for _ in range(damped_iterations):
        at = points.evaluate((at.x + at.mapped) / 2)
    jacobian = np.zeros((*x.shape, x.shape[-1])) if jacobian is None else jacobian.copy()
    problem = _NewtonProblem(points, jacobian)
    iterations = solve_newton(problem, at, _MAX_ITERATIONS, _SHORTEST) + damped_iterations
    error = largest(_newton_step(points.gap(at.x, at.mapped), problem.jacobian))
    converged = at.residual <= _RESIDUAL * points.tolerance
    converged &= error <= min(_STEP * points.tolerance, _LARGEST_STEP)
    return FixedPoint(points, at, shift, converged, iterations, problem.jacobian)


def solve_near(points: Points, x: Array | None = None, jacobian: Array | None = None) -> FixedPoint:
    """Solve the equations at S points, from unknowns nearby or the solution for the square loss.

    Where that fails, follow the solution from a large ridge, at which predictions are small.

    Parameters
    ----------
    points : Points
    x : Array, shape (S, D), optional
    jacobian : Array, shape (S, D, D), optional
        The Jacobian of the map nearby.
    """
    if x is None:
        found = _from_square_loss(points)
    else:
        found = _solve_from(points, x, jacobian)
        if (failed := np.flatnonzero(~found.converged)).size:  # as Jacobians nearby may differ
            found.overwrite(failed, _solve_from(points.at(failed), x[failed]))
    tried = np.isfinite(found.at.residual) | (x is None)
    for solve in (_from_large_ridge, partial(_from_square_loss, damped_iterations=_MANY)):
        if (failed := np.flatnonzero(~found.converged & tried)).size:
            found.overwrite(failed, solve(points.at(failed)))
    return found


def _from_square_loss(points: Points, damped_iterations: int = 0) -> FixedPoint:
    """Solve the equations from the solution for the square loss that is most like the loss."""
    equations = points.equations
    (curvature, size), square_loss = equations.loss.like_square(), equations.square_loss
    at = solve_resolvent(square_loss.equations, points.alpha, points.ridge / curvature)
    solution = square_loss.order_parameters(at)
    mean, rank = solution.mean, square_loss.label_residual.to_m.shape[1]
    # The square loss has a basis of the mu0 of its own.
    m = mean.m @ np.linalg.pinv(equations.to_m).T
    means = size * np.concatenate([m, mean.prediction[:, rank:], mean.slope], axis=-1)
    start = np.concatenate([at.V / curvature, means, size**2 * solution.errors.q], axis=-1)
    return _solve_from(points, start, damped_iterations=damped_iterations)


def _from_large_ridge(points: Points) -> FixedPoint:
    """Solve the equations at ever smaller ridges, each from the solution at the last."""
    times = math.ceil(max(0.0, math.log(_LARGE_RIDGE / points.ridge.min(), _FACTOR)))
    found = _from_square_loss(points._replace(ridge=points.ridge * _FACTOR**times))
    for power in range(times - 1, -1, -1):
        nearer = points._replace(ridge=points.ridge * _FACTOR**power)
        found = _solve_from(nearer, found.at.x, found.jacobian)
    return found
