r"""The variances V1, V2 of Result 3.3: the one non-linear solve, theory.md sections 4 and 5.

Vectors of K = R (R + 1)/2 + G entries hold V1, between R functions of which the mu1 of G groups
are made, and V2; likewise their hats: see `variances`.

The unknowns are divided by a `scale`, so that the ridgeless limit below the interpolation
threshold, where V1 and V2 diverge like 1/ridge, is an ordinary point: with W = scale V and hats
times 1/scale the equations keep their form, `1 + V` becoming `scale + W` and `ridge` becoming
`ridge/scale`. Everywhere else the scale is 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array, Indices, Mask, RealOrComplex
from giantstep.numerics.linear_systems import TINY, solve_small
from giantstep.numerics.newton import Iterates, NewtonSettings, solve_newton
from giantstep.numerics.packed_symmetric import triangle_of
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.bulk.interface import Bulk
from giantstep.theory.conditional_features import ConditionalFeatures

# Relative residual, and relative error of V as the next Newton step tells it, at which a point is
# done; and what rounding may leave of both where Newton can no longer improve them.
TOLERANCE, STEP_TOLERANCE = 1e-13, 1e-9
ACCEPTED, STEP_ACCEPTED = 1e-10, 1e-6
SETTINGS = NewtonSettings(max_iterations=300, shortest=1e-3)
_ROUNDING = 2.2e-16


@dataclass(frozen=True)
class Resolvent:
    """Solution of the non-linear part at S grid points.

    Attributes
    ----------
    alpha, ridge, scale : Array, shape (S,)
        The points, and the scale of all that follows.
    V, V_hat : Array, shape (S, K)
        (V1, V2) times the scale, and their hats over it.
    T : Array, shape (S, K, K)
        -d(V1, V2)/d(V1_hat, ridge + V2_hat), times the scale squared.
    H : Array, shape (S, K, K)
        -d(V1_hat, V2_hat)/d(V1, V2), over the scale squared.
    contraction : Array, shape (S, N')
        1/(1 + V(kappa)), over the scale, on the nodes that do (`ConditionalFeatures.half`).
    residual : Array, shape (S,)
        Largest relative residual of the equations.
    error : Array, shape (S,)
        Relative size of the next Newton step, or of what rounding in the equations does to their
        solution. It grows without bound where the solution does (no ridge to speak of, and as many
        samples as features).
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

    @property
    def converged(self) -> Mask:
        """Where the equations hold, at a point."""
        return (self.residual <= ACCEPTED) & (self.error <= STEP_ACCEPTED)


class Points(NamedTuple):
    """Grid points as the equations see them, arrays of shape (S,): alpha/beta, scale, ridge."""

    ratio: Array
    scale: Array
    ridge: Array

    @classmethod
    def of(cls, alpha: Array, ridge: Array, beta: float) -> Points:
        """Scale the points: see the head of this module."""
        scale = np.where((ridge == 0) & (alpha < beta), 0.0, 1.0)
        return cls(alpha / beta, scale, np.where(scale == 0, 1.0, ridge))

    def at(self, chosen: Indices) -> Points:
        """Choose some of the points."""
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
        How much the solution moves, in coordinates, if all equations are off by one.
    """

    V: Array
    T: Array
    H: Array
    newton: Array
    sensitivity: Array


class Equations:
    """hats = hats(variances(hats)), in coordinates in which the hats stay positive.

    The coordinates of a pair (V1_hat, V2_hat) are the logarithms of the diagonal of V1_hat, its
    correlations off the diagonal, and the logarithms of V2_hat. For one group the map is monotone
    in them with row sums of its Jacobian below one: the Newton matrix is never singular, and
    iterating the map never moves away from the solution.

    Parameters
    ----------
    features : ConditionalFeatures
    srf : SpikedFeatures
    bulk : Bulk
    """

    def __init__(self, features: ConditionalFeatures, srf: SpikedFeatures, bulk: Bulk) -> None:
        self.groups, self.beta, self.B, self.bulk = srf.groups, srf.beta, features.B, bulk
        self.triangle = triangle_of(self.B.shape[1])
        i, j = self.triangle.rows, self.triangle.columns
        # Coefficients of (V1, V2) in V(kappa), and how often each stands there.
        coefficients = np.concatenate([features.phi[i] * features.phi[j], features.mu2_squared])
        self.coefficients = features.half(coefficients)
        ones = np.ones(self.groups.c.size)
        self.multiplicity = np.concatenate([self.triangle.multiplicity, ones])
        self.weighted = features.fold(coefficients).T
        products = coefficients[:, None] * coefficients
        self.products = features.fold(products.reshape(len(coefficients) ** 2, -1)).T
        size = self.B.shape[1]
        # Entries that are logarithms, entries that are correlations and the two they are between.
        self.positive = np.flatnonzero(self.multiplicity == 1)
        self.mixed = np.flatnonzero(self.multiplicity == 2)
        self.between = np.searchsorted(i * size + j, [i * size + i, j * size + j])
        self.between = self.between[:, self.mixed]

    def start(self, points: Points) -> Array:
        """Give the hats of V = 0, from above."""
        start: Array = np.outer(points.ratio, self.weighted.sum(axis=0))
        return start

    def hats(self, V: RealOrComplex, points: Points) -> tuple[RealOrComplex, RealOrComplex]:
        """Compute the hats at V, and the contraction 1/(scale + V(kappa))."""
        contraction = (V * self.multiplicity) @ self.coefficients
        contraction += points.scale[:, None]
        np.reciprocal(contraction, out=contraction)
        return points.ratio[:, None] * (contraction @ self.weighted), contraction

    def slopes(self, contraction: RealOrComplex, points: Points) -> RealOrComplex:
        """Compute H = -d hats/dV, shape (S, K, K)."""
        size = self.multiplicity.size
        H = (contraction**2 @ self.products).reshape(-1, size, size)
        slopes: RealOrComplex = H * self.multiplicity * points.ratio[:, None, None]
        return slopes

    def respond(self, hats: Array, points: Points) -> tuple[Array, Array]:
        """Compute V at the hats, and T."""
        split = self.triangle.size
        L = points.ridge[:, None] + hats[:, split:]
        return self.bulk.variances(self.triangle.unpack(hats[:, :split]), L)

    def evaluate(self, hats: Array, points: Points) -> Iterates[_Details]:
        """Evaluate the equations, and the Newton step."""
        size = hats.shape[-1]
        V, T = self.respond(hats, points)
        mapped, contraction = self.hats(V, points)
        H = self.slopes(contraction, points)
        gap = self.coordinates(hats) - self.coordinates(mapped)
        jacobian = self._relative(H @ T, hats, mapped)
        both = np.stack([-gap, np.ones_like(gap)], axis=-1)
        newton, response = np.moveaxis(solve_small(np.eye(size) - jacobian, both), -1, 0)
        return Iterates(hats, mapped, _largest(gap), _Details(V, T, H, newton, _largest(response)))

    def units(self, V: Array) -> Array:
        """Give the natural size of each entry of V: itself, or the mean of its two diagonals."""
        units, means = self._sizes(np.abs(V))
        units[:, self.mixed] = means
        return units

    def _sizes(self, hats: Array) -> tuple[Array, Array]:
        """Give what logarithms are taken of, and the geometric means that correlations divide."""
        positive = np.maximum(hats, TINY)
        if not self.mixed.size:
            return positive, positive[:, :0]
        first, second = self.between
        return positive, np.sqrt(positive[:, first] * positive[:, second])

    def coordinates(self, hats: Array) -> Array:
        """Give the coordinates of hats, or of variances."""
        positive, means = self._sizes(hats)
        coordinates = np.log(positive)
        coordinates[:, self.mixed] = hats[:, self.mixed] / means
        return coordinates

    def _relative(self, slopes: Array, hats: Array, mapped: Array) -> Array:
        """Turn d mapped/d hats into a derivative between their coordinates."""
        if not self.mixed.size:  # all are logarithms
            return slopes * self._sizes(hats)[0][:, None, :] / self._sizes(mapped)[0][:, :, None]
        return solve_small(self.frame(mapped), slopes @ self.frame(hats))

    def frame(self, hats: Array) -> Array:
        """Give the derivative of the hats by the coordinates."""
        positive, means = self._sizes(hats)
        frame = np.zeros((*hats.shape, hats.shape[-1]))
        frame[:, self.positive, self.positive] = positive[:, self.positive]
        frame[:, self.mixed, self.mixed] = means
        for end in self.between:
            frame[:, self.mixed, end] = hats[:, self.mixed] / 2
        return frame

    def move(self, hats: Array, step: Array) -> Array:
        """Go from some hats along the coordinates."""
        positive, means = self._sizes(hats)
        moved = positive * np.exp(step)
        correlation = hats[:, self.mixed] / means + step[:, self.mixed]
        first, second = self.between
        moved[:, self.mixed] = correlation * np.sqrt(moved[:, first] * moved[:, second])
        return moved


def _largest(vectors: Array) -> Array:
    largest: Array = np.max(np.abs(vectors), axis=-1)
    return largest


@dataclass(frozen=True)
class _NewtonProblem:
    """The equations at some points, for `solve_newton`; the unknowns are the hats."""

    equations: Equations
    points: Points

    def evaluate(self, x: Array, places: Indices) -> Iterates[_Details]:
        return self.equations.evaluate(x, self.points.at(places))

    def newton_steps(self, at: Iterates[_Details], places: Indices) -> Array:
        return at.details.newton[places]

    def move(self, x: Array, step: Array) -> Array:
        return self.equations.move(x, step)

    def iterate_map(self, at: Iterates[_Details], places: Indices) -> Array:
        return at.mapped[places]

    def finished(self, at: Iterates[_Details], places: Indices) -> Mask:
        far = _largest(at.details.newton[places]) > STEP_TOLERANCE  # not if NaN: nothing helps then
        finished: Mask = ~((at.residual[places] > TOLERANCE) | far)
        return finished


def solve_resolvent(equations: Equations, alpha: Array, ridge: Array) -> Resolvent:
    """Solve equations (18)-(20) for V1, V2 and their hats at all points at once.

    `Resolvent.converged` says which points may be used.

    Parameters
    ----------
    equations : Equations
    alpha, ridge : Array, shape (S,)
        The points; alpha > 0, ridge >= 0.
    """
    points = Points.of(alpha, ridge, equations.beta)
    at = equations.evaluate(equations.start(points), points)
    iterations = solve_newton(_NewtonProblem(equations, points), at, SETTINGS)
    V, T, H, newton, sensitivity = at.details
    return Resolvent(
        alpha=alpha,
        ridge=ridge,
        scale=points.scale,
        V=V,
        V_hat=at.x,
        T=T,
        H=H,
        contraction=equations.hats(V, points)[1],
        residual=at.residual,
        error=np.maximum(_largest(newton), _ROUNDING * sensitivity),
        iterations=iterations,
    )
