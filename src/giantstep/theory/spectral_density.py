"""The density of eigenvalues of the features' covariance K = Phi^T Phi: theory.md section 8.

The resolvent does not depend on the labels: `sum_g V2_g(ridge) = tr (K + ridge)^-1 / p`, and the
density of eigenvalues at x is its imaginary part at `ridge = -x - i0`, divided by pi. The complex
fixed point is followed from far above the real axis, where the equations are easy, down to it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array, Complex, Mask
from giantstep.numerics.linear_systems import solve_small
from giantstep.numerics.newton import iterate_newton
from giantstep.problems.bulk_kind import ISOTROPIC, validate_bulk
from giantstep.problems.problem import Problem
from giantstep.theory.features.bulk.prepare import prepare_bulk
from giantstep.theory.features.conditional_features import check_resolution, conditional_features
from giantstep.theory.features.equivalent_features import equivalent_features
from giantstep.theory.readout.fixed_point import Equations, Points

# Points that are followed together; more would take too much memory.
_TOGETHER = 1000
# Height above the real axis at which the density is read, relative to the eigenvalue.
_HEIGHT = 1e-9
# Where a step down fails, the factor on the height is replaced by its square root; above this
# factor the point is given up.
_LEAST_DESCENT = 0.99
# Newton's method at one height: most steps, and the relative step up to which its result is used.
_MAX_ITERATIONS, _TRUSTED = 12, 1e-6
# Factor on the number of nodes over kappa: where mu2 vanishes with growing kappa the bulk has a
# tail towards zero, in which coarse nodes would show one by one.
FINENESS = 6


class Descent(NamedTuple):
    """How the solution is followed down to the real axis.

    Attributes
    ----------
    factor : float
        On the height, at each step.
    tolerance : float
        Relative Newton step at which a height is solved.
    """

    factor: float
    tolerance: float


ACCURATE = Descent(0.2, 1e-11)
# Three times as fast; enough to tell whether there are eigenvalues.
ROUGH = Descent(0.05, 1e-6)


class SpectralDensity:
    """The density of eigenvalues of one problem at one sample complexity, as a function of x.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    alpha : float
    bulk : str
        As in `solve.solve`.
    dimension : float
        d, at which the equivalent features are taken.
    fineness : int
        Multiplies the number of nodes over kappa.
    """

    def __init__(
        self,
        problem: Problem,
        alpha: float,
        bulk: str = ISOTROPIC,
        dimension: float = math.inf,
        fineness: int = FINENESS,
    ) -> None:
        self.srf = equivalent_features(problem, dimension)
        check_resolution(problem, self.srf)
        kind = validate_bulk(problem, bulk)
        self.features = conditional_features(self.srf, fineness)
        prepared = prepare_bulk(problem, self.srf, kind, B=self.features.B)[1]
        self.equations = Equations(self.features, self.srf, prepared)
        self.bulk = prepared.continued
        self.alpha = alpha

    def __call__(self, x: Array, descent: Descent = ACCURATE) -> Array:
        """Compute the density at x > 0, shape (M,)."""
        x = np.asarray(x, dtype=float)
        blocks = np.split(x, range(_TOGETHER, x.size, _TOGETHER))
        with np.errstate(all="ignore"):  # a point that is lost is tried again, or NaN
            V = np.concatenate([self.variances(block, descent) for block in blocks])
        # The sum of V2 is tr (K - x - i0)^-1 / p.
        density: Array = V[:, self.equations.triangle.size :].sum(axis=-1).imag / np.pi
        return density

    def variances(self, x: Array, descent: Descent = ACCURATE) -> Complex:
        """Compute V = (V1, V2) at the ridge -x - i0, shape (M, K); NaN where it was not reached."""
        equations = self.equations
        points = Points.of(np.full(x.shape, self.alpha), np.ones(x.shape), self.srf.beta)
        hats = equations.initial_hats(points).astype(complex)
        split = equations.triangle.size
        height = 10 * (x + hats.real.sum(axis=-1))
        response = self.bulk.far_response(hats[:, split:] - (x + 1j * height)[:, None])
        V = np.full(hats.shape, np.nan, dtype=complex)
        factor = np.full(x.shape, descent.factor)
        active = np.arange(x.size)
        while active.size:
            lower = np.maximum(height[active] * factor[active], _HEIGHT * x[active])
            sound = np.zeros(active.size, dtype=bool)
            start = _Reached(hats[active], response[active], V[active], sound)
            ridge = -x[active] - 1j * lower
            at_lower = self._newton(points.at(active), ridge, start, descent.tolerance)
            reached = active[at_lower.sound]
            hats[reached], response[reached] = (
                values[at_lower.sound] for values in (at_lower.hats, at_lower.response)
            )
            V[reached], height[reached] = at_lower.V[at_lower.sound], lower[at_lower.sound]
            # Where Newton's method failed or left the physical branch, the next step is smaller.
            factor[active] = np.where(at_lower.sound, descent.factor, np.sqrt(factor[active]))
            V[active[factor[active] > _LEAST_DESCENT]] = np.nan
            above = height[active] > _HEIGHT * x[active]
            active = active[above & (factor[active] < _LEAST_DESCENT)]
        V[height > _HEIGHT * x] = np.nan
        return V

    def _newton(
        self, points: Points, ridge: Complex, start: _Reached, tolerance: float
    ) -> _Reached:
        """Solve at complex ridges, shape (A,), starting from a solution nearby."""
        equations, split = self.equations, self.equations.triangle.size

        def advance(at: _Reached) -> tuple[_Reached, Array]:
            V1_hat = equations.triangle.unpack(at.hats[:, :split])
            L = ridge[:, None] + at.hats[:, split:]
            V, T, response = self.bulk.variances_near(V1_hat, L, at.response)
            mapped, contraction = equations.hats(V, points)
            H = equations.hats_derivative(contraction, points)
            step = -solve_small(np.eye(T.shape[-1]) - H @ T, at.hats - mapped)
            hats = at.hats + step
            response = self.bulk.moved(response, -np.einsum("sij,sj->si", T, step))
            change = np.max(np.abs(step), axis=-1) / np.max(np.abs(hats), axis=-1)
            # Above the real axis V2 has a positive imaginary part, and the hats a negative one.
            physical = np.all(V[:, split:].imag > 0, axis=-1)
            physical &= np.all(hats[:, equations.coordinates.logarithmic].imag <= 0, axis=-1)
            return _Reached(hats, response, V, physical & (change < _TRUSTED)), change

        return iterate_newton(advance, start, tolerance, _MAX_ITERATIONS)


class _Reached(NamedTuple):
    """Where Newton's method arrived, and whether that is a physical solution."""

    hats: Complex
    response: Complex
    V: Complex
    sound: Mask
