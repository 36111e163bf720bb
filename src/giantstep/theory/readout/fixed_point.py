"""The self-consistent equations for V1 and V2 of Result 3.3: theory.md sections 4 and 5.

They are the only non-linear equations of the square loss. Vectors of K = R (R + 1)/2 + G entries
hold V1, between the R functions phi that combine to the mu1 of G groups, and V2; likewise their
hats: see `rows.isotropic`.

Below the interpolation threshold V1 and V2 diverge like 1/ridge as the ridge vanishes. To make that
limit an ordinary point, the unknowns are rescaled: with W = scale V, and hats divided by the scale,
the equations keep their form, with `scale + W` for `1 + V` and `ridge/scale` for the ridge. In that
limit the scale is the ridge itself: zero, with `ridge/scale` = 1. Everywhere else it is 1.

Features of a linear activation have rank d at most. With more samples than that, and more neurons,
V2 alone diverges, which V does not contain: these points take a ridge that is nearly zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array, Indices, Mask, RealOrComplex
from giantstep.numerics.linear_systems import largest, multiply, solve_small
from giantstep.numerics.log_coordinates import log_coordinates
from giantstep.numerics.newton import Iterates, solve_newton
from giantstep.numerics.packed_symmetric import triangle_of
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.conditional_features import ConditionalFeatures
from giantstep.theory.rows.interface import Bulk, SpikeResponse

# Relative residual, and relative size of the next Newton step, at which Newton's method stops;
TOLERANCE, STEP_TOLERANCE = 1e-13, 1e-9
# and those that are accepted where rounding stops it earlier.
ACCEPTED, STEP_ACCEPTED = 1e-10, 1e-6
# Most steps, and the least share of a step that is tried.
MAX_ITERATIONS, SHORTEST = 300, 1e-3
# Relative precision of a number.
_ROUNDING = 2.2e-16
# The ridge in place of none, relative to the hats at V = 0: with a smaller one rounding is larger.
_LEAST = 1e-10
# Products of all pairs of coefficients on all nodes are kept if their number is at most this.
_MOST_PRODUCTS = 2e7


@dataclass(frozen=True)
class Resolvent:
    """Solution of the self-consistent equations at S grid points.

    Attributes
    ----------
    alpha, ridge, scale : Array, shape (S,)
        The points, and the scale of everything below.
    V, V_hat : Array, shape (S, K)
        (V1, V2) times the scale, and their hats divided by it.
    T : Array, shape (S, K, K)
        -d(V1, V2)/d(V1_hat, ridge + V2_hat), times the scale squared.
    H : Array, shape (S, K, K)
        -d(V1_hat, V2_hat)/d(V1, V2), divided by the scale squared.
    contraction : Array, shape (S, N')
        1/(1 + V(kappa)), divided by the scale, on the nodes of `ConditionalFeatures.half`.
    residual : Array, shape (S,)
        Largest relative residual of the equations.
    error : Array, shape (S,)
        Relative error of the solution: the next Newton step, or the effect of rounding in the
        equations if that is larger. It grows without bound where the solution diverges (hardly any
        ridge, and as many samples as features).
    iterations : integer array, shape (S,)
    """

    alpha: Array
    ridge: Array
    scale: Array
    V: Array
    V_hat: Array
    T: Array
    H: Array
    contraction: Array
    residual: Array
    error: Array
    iterations: Indices

    def at(self, chosen: Indices) -> Resolvent:
        """Select some of the points."""
        return Resolvent(**{name: values[chosen] for name, values in vars(self).items()})

    @property
    def converged(self) -> Mask:
        """Whether the equations hold, at each point."""
        return (self.residual <= ACCEPTED) & (self.error <= STEP_ACCEPTED)


class Points(NamedTuple):
    """Grid points in the form the equations use, arrays of shape (S,).

    Attributes
    ----------
    ratio : Array
        alpha/beta.
    scale, ridge : Array
        See the head of this module; the ridge is divided by the scale.
    """

    ratio: Array
    scale: Array
    ridge: Array

    def at(self, chosen: Indices) -> Points:
        """Select some of the points."""
        return Points(*(values[chosen] for values in self))


class _Details(NamedTuple):
    """What is kept of the equations at some hats.

    Attributes
    ----------
    V, T, H : Array
        As in `Resolvent`.
    newton : Array, shape (S, K)
        The Newton step, in coordinates.
    sensitivity : Array, shape (S,)
        How far the solution moves, in coordinates, if all equations are off by one.
    """

    V: Array
    T: Array
    H: Array
    newton: Array
    sensitivity: Array


class Equations:
    """The equations `V_hat = hats(variances(V_hat))`.

    Newton's method solves them in `LogCoordinates`, in which the hats stay positive. For one group
    the map is monotone in them and the rows of its Jacobian sum to less than one: the Newton matrix
    is never singular, and iterating the map never moves away from the solution.

    Parameters
    ----------
    features : ConditionalFeatures
    srf : SpikedFeatures
    bulk : Bulk

    Attributes
    ----------
    coefficients : Array, shape (K, N')
        `V(kappa) = (multiplicity (V1, V2)) . coefficients`, on the nodes of `half`.
    folded : Array, shape (N', K)
        The coefficients times the weights of all nodes.
    expectations : Array, shape (K,)
        Averages of the coefficients.
    multiplicity : Array, shape (K,)
    coordinates : LogCoordinates
    rank : float
        The largest rank of the features, over d.
    """

    def __init__(self, features: ConditionalFeatures, srf: SpikedFeatures, bulk: Bulk) -> None:
        self.groups, self.beta, self.B, self.bulk = srf.groups, srf.beta, features.B, bulk
        self.rank = min(self.beta, 1.0) if features.is_linear else self.beta
        self.triangle = triangle_of(self.B.shape[1])
        self.coordinates = log_coordinates(self.triangle.order, self.groups.c.size)
        self.multiplicity = self.coordinates.multiplicity
        i, j = self.triangle.rows, self.triangle.columns
        coefficients = np.concatenate([features.phi[i] * features.phi[j], features.mu2_squared])
        coefficients = coefficients * features.row_norm
        self.coefficients = features.half(coefficients)
        self._with_scale = np.vstack([self.coefficients, np.ones(self.coefficients.shape[1])])
        self.folded = features.fold(coefficients).T
        self._folded_products = None
        if coefficients.size * len(coefficients) <= _MOST_PRODUCTS:
            products = coefficients[:, None] * coefficients
            self._folded_products = features.fold(products.reshape(len(products) ** 2, -1)).T
        self.expectations = self.folded.sum(axis=0)
        self._identity = np.eye(len(coefficients))

    def points(self, alpha: Array, ridge: Array) -> Points:
        """Choose the scale of each point."""
        ratio, none = alpha / self.beta, ridge == 0
        scale = np.where(none & (alpha < self.rank), 0.0, 1.0)
        least = _LEAST * ratio * abs(self.expectations[0]) * (self.rank < self.beta)
        return Points(ratio, scale, np.where(scale == 0, 1.0, np.where(none, least, ridge)))

    def initial_hats(self, points: Points) -> Array:
        """Compute the hats at V = 0, which are upper bounds."""
        return np.outer(points.ratio, self.expectations)

    def hats(self, V: RealOrComplex, points: Points) -> tuple[RealOrComplex, RealOrComplex]:
        """Compute the hats (18) at V, and the contraction 1/(scale + V(kappa)) with (21)."""
        both = np.concatenate([V * self.multiplicity, points.scale[:, None]], axis=1)
        contraction = both @ self._with_scale
        np.reciprocal(contraction, out=contraction)
        return points.ratio[:, None] * (contraction @ self.folded), contraction

    def hats_derivative(self, contraction: RealOrComplex, points: Points) -> RealOrComplex:
        """Compute H = -d hats/dV, shape (S, K, K)."""
        size = self.multiplicity.size
        if self._folded_products is None:
            H = np.stack([(row**2 * self.folded.T) @ self.coefficients.T for row in contraction])
        else:
            H = (contraction**2 @ self._folded_products).reshape(-1, size, size)
        return H * self.multiplicity * points.ratio[:, None, None]

    def variances(self, hats: Array, points: Points) -> tuple[Array, Array]:
        """Compute V, equation (19), and T at the hats."""
        L = points.ridge[:, None] + hats[:, self.triangle.size :]
        return self.bulk.variances(self.triangle.unpack(hats), L)

    def response(self, hats: Array, V: Array) -> SpikeResponse:
        """Compute how the readout responds along the spike and across it, at a solution."""
        return self.bulk.spike_response(self.triangle.unpack(hats), V)

    def evaluate(self, hats: Array, points: Points) -> Iterates[_Details]:
        """Evaluate the map at some hats, and the Newton step from there."""
        V, T = self.variances(hats, points)
        mapped, contraction = self.hats(V, points)
        H = self.hats_derivative(contraction, points)
        gap = self.coordinates.of(hats) - self.coordinates.of(mapped)
        jacobian = self.coordinates.jacobian(multiply(H, T), hats, mapped)
        both = np.ones((*gap.shape, 2))
        both[:, :, 0] = -gap
        step = solve_small(self._identity - jacobian, both)
        details = _Details(V, T, H, step[:, :, 0], largest(step[:, :, 1]))
        return Iterates(hats, mapped, largest(gap), details)


@dataclass(frozen=True)
class _NewtonProblem:
    """The equations at some points, for `solve_newton`; the unknowns are the hats."""

    equations: Equations
    points: Points

    def evaluate(self, x: Array, places: Indices) -> Iterates[_Details]:
        return self.equations.evaluate(x, self.points.at(places))

    def newton_steps(self, at: Iterates[_Details], places: Indices) -> Array:
        return at.details.newton

    def move(self, x: Array, step: Array) -> Array:
        return self.equations.coordinates.move(x, step)

    def finished(self, at: Iterates[_Details]) -> Mask:
        far = largest(at.details.newton) > STEP_TOLERANCE  # not if NaN: nothing helps then
        return ~((at.residual > TOLERANCE) | far)


def solve_resolvent(
    equations: Equations, alpha: Array, ridge: Array, start: Array | None = None
) -> Resolvent:
    """Solve equations (18), (19) and (21) for V1, V2 and their hats at all points at once.

    Only points at which it has `converged` may be used.

    Parameters
    ----------
    equations : Equations
    alpha, ridge : Array, shape (S,)
        The points; alpha > 0, ridge >= 0.
    start : Array, shape (S, K), optional
        Hats to start from, such as those of points nearby.
    """
    points = equations.points(alpha, ridge)
    at = equations.evaluate(equations.initial_hats(points) if start is None else start, points)
    iterations = solve_newton(_NewtonProblem(equations, points), at, MAX_ITERATIONS, SHORTEST)
    V, T, H, newton, sensitivity = at.details
    _, contraction = equations.hats(V, points)
    added = points.scale * (points.ridge - ridge) / at.x[:, 0]
    error = np.maximum(largest(newton), np.maximum(_ROUNDING, added) * sensitivity)
    return Resolvent(
        alpha, ridge, points.scale, V, at.x, T, H, contraction, at.residual, error, iterations
    )
