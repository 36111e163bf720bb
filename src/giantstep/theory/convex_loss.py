"""Any convex loss: the equations of theory.md section 6, solved on a whole grid.

The unknowns at each point are the order parameters that determine the law of a prediction given
kappa: V1 and V2; the coefficients of its mean M(kappa) and of its slope P(kappa) in z; q1 and q2.
They determine the averages over the output channel, these the hats, and the bulk maps the hats back
to the order parameters, as for the square loss. Newton's method finds the fixed point of that map.
The channel is differentiated by finite differences at each kappa, so that the Jacobian costs five
evaluations of the averages, whatever the number of groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array, Indices, Mask
from giantstep.numerics.linear_systems import TINY, solve_pivoted
from giantstep.numerics.newton import Iterates, NewtonSettings, solve_newton
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.losses import Loss
from giantstep.problems.problem import noise_power
from giantstep.theory.bulk.interface import GroupOverlaps, SpikeResponse
from giantstep.theory.channel_averages import ChannelAverages, OutputChannel, PredictionMoments
from giantstep.theory.fixed_point import ACCEPTED, STEP_ACCEPTED, solve_resolvent
from giantstep.theory.output_channel import output_channel
from giantstep.theory.square_loss import SquareLoss

# Residual, relative to the size of the unknowns, at which a point is done.
_TOLERANCE = 1e-12
_SETTINGS = NewtonSettings(max_iterations=25, shortest=1e-2)
# Ridges, in order, from which solutions are followed, and the longest stride on the way.
_ANCHORS, _RATIO = (10.0, 1.0, 0.1), 3.2
# Nodes over kappa of less weight are left out.
_NEGLIGIBLE = 1e-22
# Squared mu2 where an activation is flat to rounding, so that no variance vanishes.
_FLAT = 1e-30
# Halved steps of the map before Newton's method: from the square loss it often goes astray.
_WARM = 6
# Steps of finite differences, and the longest step of Newton's method, in coordinates.
_DIFFERENCE, _LONGEST = 1e-7, 2.0


class OrderParameters(NamedTuple):
    """The unknowns at S points by what they are: V, of M, of P, (q1, q2); shapes (S, ...)."""

    V: Array
    prediction: Array
    slope: Array
    q: Array


class MapValue(NamedTuple):
    """The unknowns as the map gives them back, and what it met on the way."""

    x: Array
    response: SpikeResponse
    direction: Array
    along_hat: Array
    across_hat: Array


@dataclass(frozen=True)
class FixedPoint:
    """A solution at S points.

    Attributes
    ----------
    x : Array, shape (S, D)
    residual, error : Array, shape (S,)
        Relative: of the equations; and of the next Newton step.
    iterations : integer array, shape (S,)
    jacobian : Array, shape (S, D, D)
    """

    x: Array
    residual: Array
    error: Array
    iterations: Indices
    jacobian: Array

    @property
    def converged(self) -> Mask:
        """Where the equations hold."""
        return (self.residual <= ACCEPTED) & (self.error <= STEP_ACCEPTED)

    def updated(self, places: Indices, other: FixedPoint) -> FixedPoint:
        """Replace some points by those of another solution, with the steps of both."""
        new = {name: values.copy() for name, values in vars(self).items()}
        for name, values in vars(other).items():
            new[name][places] = values
        new["iterations"][places] += self.iterations[places]
        return FixedPoint(**new)


class ConvexEquations:
    """The map of the unknowns, on one quadrature rule.

    Parameters
    ----------
    square_loss : SquareLoss
        The same problem for the square loss.
    loss : Loss
    to_m : Array, shape (G, rank)
        What combines the mu0 in M, so that the unknowns are the same on other rules.
    fineness : int
        Multiplies the number of nodes over z or omega.
    """

    def __init__(self, square_loss: SquareLoss, loss: Loss, to_m: Array, fineness: int = 1) -> None:
        f, self.srf = square_loss.features, square_loss.srf
        self.square_loss, self.equations, self.to_m = square_loss, square_loss.equations, to_m
        self.beta, self.rank = self.srf.beta, to_m.shape[1]
        # An odd teacher and odd features: all that is averaged is even in kappa.
        halved = f.mirrored and lookup(self.srf.target).parity == "odd"
        kept = (f.weight > _NEGLIGIBLE) & ((f.kappa > 0) | (not halved))
        self.weight = f.weight[kept] * (2 if halved else 1)
        self.phi = f.phi[:, kept]
        self.functions = np.concatenate([to_m.T @ f.mu0, f.along])[:, kept]
        self.h, self.h_z = f.h[kept], f.h_z[kept]
        self.noiseless_residual = f.target_residual[kept] - noise_power(self.srf)
        i, j = self.equations.triangle.rows, self.equations.triangle.columns
        mu2_squared = np.maximum(f.mu2_squared[:, kept], _FLAT)
        self.products = np.concatenate([self.phi[i] * self.phi[j], mu2_squared])
        self.channel: OutputChannel = output_channel(loss, self.srf, f.kappa[kept], fineness)
        self.ends = np.cumsum(
            [len(self.products), len(self.functions), len(self.phi), len(self.products)]
        )
        # What of the label there is to predict, over the size of each function.
        self.power = float(self.weight @ (self.h**2 + self.h_z**2 + self.noiseless_residual))
        sizes = np.sqrt(np.concatenate([self.functions, self.phi]) ** 2 @ self.weight)
        self.typical_size = np.sqrt(self.power) / np.maximum(sizes, TINY)

    def order_parameters(self, x: Array) -> OrderParameters:
        """Name the unknowns."""
        return OrderParameters(*np.split(x, self.ends[:-1], axis=-1))

    def prediction_moments(self, x: Array) -> PredictionMoments:
        """Say what is known of predictions at each kappa."""
        at, often = self.order_parameters(x), self.equations.multiplicity
        return PredictionMoments(
            (at.V * often) @ self.products,
            at.prediction @ self.functions,
            at.slope @ self.phi,
            (at.q * often) @ self.products,
        )

    def evaluate(self, x: Array, averages: ChannelAverages, alpha: Array, ridge: Array) -> MapValue:
        """Map the unknowns, whose averages are `averages`, to themselves."""
        at, ratio = self.order_parameters(x), (alpha / self.beta)[:, None]
        split = self.equations.triangle.size
        V_hat, q_hat = (
            ratio * ((values * self.weight) @ self.products.T)
            for values in (averages.minus_dg, averages.g_squared)
        )
        V1_hat = self.equations.triangle.unpack(V_hat[:, :split])
        V, T = self.equations.bulk.variances(V1_hat, ridge[:, None] + V_hat[:, split:])
        response = self.equations.bulk.spike_response(V1_hat, V)
        mean_g = (averages.g * self.weight) @ self.functions.T
        along_hat = ratio * mean_g[:, self.rank :]
        across_hat = ratio * ((averages.z_g * self.weight) @ self.phi.T)
        across_hat += np.einsum("srt,st->sr", V1_hat, at.slope)
        along = np.einsum("szy,sy->sz", response.along, along_hat)
        slope = np.einsum("srt,st->sr", response.across, across_hat)
        if response.mixed is not None:
            along += np.einsum("szr,sr->sz", response.mixed, across_hat)
            slope += np.einsum("szr,sz->sr", response.mixed, along_hat)
        first, second = response.sources(along_hat, across_hat)
        direction = q_hat + first
        q = np.einsum("sij,sj->si", T, direction) + second
        # The ridge does not act on m, which satisfies E[mu0 g] = 0: a step towards that.
        step = mean_g[:, : self.rank] / self._curvature_along_m(averages)
        free = at.prediction[:, : self.rank] + step
        mapped = np.concatenate([V, free, along, slope, q], axis=-1)
        return MapValue(mapped, response, direction, along_hat, across_hat)

    def _curvature_along_m(self, averages: ChannelAverages) -> Array:
        """Estimate minus the derivative of E[mu0 g] by m, shape (S, 1)."""
        squares = self.functions[: self.rank] ** 2
        smooth = np.max((averages.minus_dg * self.weight) @ squares.T, axis=-1, initial=0.0)
        saturated = np.sqrt(averages.g_squared @ self.weight / self.power)
        curvature: Array = smooth + saturated + TINY
        return curvature[:, None]

    def coordinates(self, x: Array) -> Array:
        """Give what Newton's method runs on: logarithms of variances, means in their size."""
        at, to = self.order_parameters(x), self.equations.coordinates
        means = np.concatenate([at.prediction, at.slope], axis=-1) / self.typical_size
        return np.concatenate([to(at.V), means, to(at.q)], axis=-1)

    def frame(self, x: Array) -> Array:
        """Give the derivative of the unknowns by the coordinates, shape (S, D, D)."""
        at, frame = self.order_parameters(x), np.zeros((*x.shape, x.shape[-1]))
        K, middle = len(self.products), slice(len(self.products), self.ends[2])
        frame[:, :K, :K] = self.equations.frame(at.V)
        frame[:, middle, middle] = np.diag(self.typical_size)
        frame[:, self.ends[2] :, self.ends[2] :] = self.equations.frame(at.q)
        return frame

    def move(self, x: Array, step: Array) -> Array:
        """Go from some unknowns along the coordinates."""
        at, by, typical = self.order_parameters(x), self.order_parameters(step), len(self.functions)
        return np.concatenate([
            self.equations.move(at.V, by.V),
            at.prediction + by.prediction * self.typical_size[:typical],
            at.slope + by.slope * self.typical_size[typical:],
            self.equations.move(at.q, by.q),
        ], axis=-1)  # fmt: skip

    def test_error(self, x: Array) -> Array:
        """Compute E (y - omega)^2 without the label's noise, equation (25)."""
        local = self.prediction_moments(x)
        beyond = self.noiseless_residual + self.h_z**2 - 2 * local.P * self.h_z
        error: Array = ((self.h - local.M) ** 2 + beyond + local.Q) @ self.weight
        return error

    def overlaps(self, x: Array, alpha: Array, ridge: Array) -> GroupOverlaps:
        """Give overlaps of each group of neurons."""
        reply = self.evaluate(x, self.channel.averages(self.prediction_moments(x)), alpha, ridge)
        return reply.response.of_groups(reply.direction, reply.along_hat, reply.across_hat)


def _evaluate(
    equations: ConvexEquations, x: Array, alpha: Array, ridge: Array
) -> Iterates[ChannelAverages]:
    """Evaluate the map; where it has no value the residual is infinite."""
    local = equations.prediction_moments(x)
    averages = equations.channel.averages(local)
    mapped = equations.evaluate(x, averages, alpha, ridge).x
    gap = np.max(np.abs(equations.coordinates(mapped) - equations.coordinates(x)), axis=-1)
    sound = np.isfinite(gap) & np.all(local.V > 0, axis=-1) & np.all(local.Q > local.P**2, axis=-1)
    return Iterates(x, mapped, np.where(sound, gap, np.inf), averages)


def _jacobian(
    equations: ConvexEquations, at: Iterates[ChannelAverages], alpha: Array, ridge: Array
) -> Array:
    """Differentiate the map, in coordinates, shape (S, D, D)."""
    local = equations.prediction_moments(at.x)
    spread = np.sqrt(local.Q)
    steps = PredictionMoments(*(_DIFFERENCE * size for size in (local.V, spread, spread, local.Q)))
    slopes = []
    for place, step in enumerate(steps):
        moved = list(local)
        moved[place] = moved[place] + step
        further = equations.channel.averages(PredictionMoments(*moved))
        slopes.append([
            (new - old) / step for new, old in zip(further, at.details, strict=True)
        ])  # fmt: skip
    frame, columns = equations.frame(at.x), []
    before = equations.coordinates(at.mapped)
    for i in range(at.x.shape[-1]):
        step = _DIFFERENCE * frame[:, :, i]
        change = equations.prediction_moments(step)  # linear in the unknowns
        averages = ChannelAverages(*(
            old + sum(slope[k] * way for slope, way in zip(slopes, change, strict=True))
            for k, old in enumerate(at.details)
        ))  # fmt: skip
        mapped = equations.evaluate(at.x + step, averages, alpha, ridge).x
        columns.append((equations.coordinates(mapped) - before) / _DIFFERENCE)
    return np.stack(columns, axis=-1)


def _step(equations: ConvexEquations, x: Array, mapped: Array, jacobian: Array) -> Array:
    """Give the Newton step in coordinates, no longer than `_LONGEST`."""
    gap = equations.coordinates(mapped) - equations.coordinates(x)
    matrix = np.eye(gap.shape[-1]) - np.where(np.isfinite(jacobian), jacobian, 0.0)
    step = solve_pivoted(matrix, gap)
    longest = np.max(np.abs(step), axis=-1, keepdims=True)
    shortened: Array = step * np.minimum(1, _LONGEST / np.maximum(longest, TINY))
    return shortened


def solve_convex(equations: ConvexEquations, alpha: Array, ridge: Array) -> FixedPoint:
    """Solve the equations at S points, from the solution for the square loss.

    A few halved steps of the map go before Newton's method. Where that start is too far away, a
    ridge at which it is not is looked for among `_ANCHORS`, and the solution there is followed to
    the ridge asked for.

    Parameters
    ----------
    equations : ConvexEquations
    alpha, ridge : Array, shape (S,)
    """
    best = solve_from(
        equations, square_loss_unknowns(equations.square_loss, alpha, ridge), alpha, ridge, _WARM
    )
    for anchor in _ANCHORS:
        lost = np.flatnonzero(~best.converged)
        if not lost.size:
            break
        fixed = np.full(lost.size, anchor)
        start = square_loss_unknowns(equations.square_loss, alpha[lost], fixed)
        near = solve_from(equations, start, alpha[lost], fixed, _WARM)
        lost, start = lost[near.converged], near.x[near.converged]
        if lost.size:
            followed = _continue_in_ridge(equations, start, anchor, alpha[lost], ridge[lost])
            best = best.updated(lost, followed)
    return best


def _continue_in_ridge(
    equations: ConvexEquations, x: Array, anchor: float, alpha: Array, ridge: Array
) -> FixedPoint:
    """Follow solutions from one ridge to others, in equal ratios of `_RATIO` at most."""
    far = np.log(ridge / anchor)
    count = max(1, int(np.ceil(np.max(np.abs(far), initial=0.0) / np.log(_RATIO))))
    for step in range(1, count):
        x = solve_from(equations, x, alpha, anchor * np.exp(far * step / count)).x
    return solve_from(equations, x, alpha, ridge)


class _NewtonProblem:
    """The equations at some points, for `solve_newton`; keeps the Jacobians last computed."""

    def __init__(
        self, equations: ConvexEquations, alpha: Array, ridge: Array, unknowns: int
    ) -> None:
        self.equations, self.alpha, self.ridge = equations, alpha, ridge
        self.jacobian = np.zeros((alpha.size, unknowns, unknowns))

    def evaluate(self, x: Array, places: Indices) -> Iterates[ChannelAverages]:
        return _evaluate(self.equations, x, self.alpha[places], self.ridge[places])

    def newton_steps(self, at: Iterates[ChannelAverages], places: Indices) -> Array:
        of = Iterates(
            at.x[places],
            at.mapped[places],
            at.residual[places],
            ChannelAverages(*(values[places] for values in at.details)),
        )
        alpha, ridge = self.alpha[places], self.ridge[places]
        self.jacobian[places] = _jacobian(self.equations, of, alpha, ridge)
        return _step(self.equations, of.x, of.mapped, self.jacobian[places])

    def move(self, x: Array, step: Array) -> Array:
        return self.equations.move(x, step)

    def iterate_map(self, at: Iterates[ChannelAverages], places: Indices) -> Array:
        halfway: Array = (at.x[places] + at.mapped[places]) / 2
        return halfway

    def finished(self, at: Iterates[ChannelAverages], places: Indices) -> Mask:
        return at.residual[places] <= _TOLERANCE


def solve_from(
    equations: ConvexEquations, x: Array, alpha: Array, ridge: Array, warm: int = 0
) -> FixedPoint:
    """Solve the equations from some unknowns, after `warm` halved steps of the map.

    Points at which the map has no value stay where they are.
    """
    at = _evaluate(equations, x.copy(), alpha, ridge)
    for _ in range(warm):
        at = _evaluate(equations, (at.x + at.mapped) / 2, alpha, ridge)
    problem = _NewtonProblem(equations, alpha, ridge, x.shape[-1])
    iterations = solve_newton(problem, at, _SETTINGS, np.flatnonzero(np.isfinite(at.residual)))
    step = _step(equations, at.x, at.mapped, problem.jacobian)
    return FixedPoint(
        x=at.x,
        residual=at.residual,
        error=np.max(np.abs(step), axis=-1, initial=0.0),
        iterations=iterations,
        jacobian=problem.jacobian,
    )


def newton_step_on_finer_rule(
    coarse: ConvexEquations, fine: ConvexEquations, found: FixedPoint, alpha: Array, ridge: Array
) -> tuple[Array, Array]:
    """Evaluate the map on a finer rule, and take one Newton step there.

    Returns
    -------
    shift : Array, shape (S,)
        How much the map moves, in coordinates.
    x : Array, shape (S, D)
        The unknowns after the step.
    """
    mapped = (_evaluate(rule, found.x, alpha, ridge).mapped for rule in (fine, coarse))
    new, old = (fine.coordinates(values) for values in mapped)
    matrix = np.eye(new.shape[-1]) - np.where(np.isfinite(found.jacobian), found.jacobian, 0.0)
    return np.max(np.abs(new - old), axis=-1), fine.move(found.x, solve_pivoted(matrix, new - old))


def square_loss_unknowns(square_loss: SquareLoss, alpha: Array, ridge: Array) -> Array:
    """Solve for the square loss; the unknowns, shape (S, D)."""
    at = solve_resolvent(square_loss.equations, alpha, ridge)
    found = square_loss.order_parameters(at)
    return np.concatenate([at.V, found.mean.prediction, found.mean.slope, found.q], axis=-1)
