"""The density of eigenvalues of the features' covariance K = Phi^T Phi: theory.md section 8.

The resolvent does not depend on the labels: `sum_g V2_g(ridge) = tr (K + ridge)^-1 / p`, and the
density of eigenvalues at x is its imaginary part at `ridge = -x - i0`, divided by pi. The complex
fixed point is followed from far above the real axis, where the equations are easy, down to it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array, Complex, Mask
from giantstep.numerics.linear_systems import solve_small
from giantstep.numerics.newton import iterate_newton
from giantstep.problems.problem import Problem
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.bulk.isotropic import IsotropicBulk
from giantstep.theory.bulk.isotropic_variances import screened, variances_at
from giantstep.theory.conditional_features import ConditionalFeatures, conditional_features
from giantstep.theory.equivalent_features import equivalent_features
from giantstep.theory.fixed_point import Equations, Points

# Points that are followed together; more would take too much memory.
_TOGETHER = 1000
# Height above the real axis at which the density is read, relative to the eigenvalue.
_HEIGHT = 1e-9
# Factor on the height at each step down; where a step fails it is replaced by its square root, and
# above the second factor the point is given up.
_DESCENT, _LEAST_DESCENT = 0.2, 0.99
# Newton's method at one height: most steps, the relative step at which it has converged, and that
# up to which its result is used.
_MAX_ITERATIONS, _TOLERANCE, _TRUSTED = 12, 1e-11, 1e-6
# Factor on the number of nodes over kappa: where mu2 vanishes with growing kappa the bulk has a
# tail towards zero, in which coarse nodes would show one by one.
FINENESS = 6


class SpectralDensity:
    """The density of eigenvalues of one problem at one sample complexity, as a function of x.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    alpha : float
    """

    def __init__(self, problem: Problem, alpha: float) -> None:
        self.srf: SpikedFeatures = equivalent_features(problem)
        self.features: ConditionalFeatures = conditional_features(self.srf, fineness=FINENESS)
        bulk = IsotropicBulk(self.features.B, self.srf.groups, self.srf.beta)
        self.equations = Equations(self.features, self.srf, bulk)
        self.alpha = alpha

    def __call__(self, x: Array) -> Array:
        """Compute the density at x > 0, shape (M,)."""
        x = np.asarray(x, dtype=float)
        blocks = np.split(x, range(_TOGETHER, x.size, _TOGETHER))
        density: Array = np.concatenate([self.trace(block) for block in blocks]).imag / np.pi
        return density

    def trace(self, x: Array) -> Complex:
        """Compute tr (K - x - i0)^-1 / p, shape (M,); NaN where it could not be reached."""
        equations = self.equations
        points = Points.of(np.full(x.shape, self.alpha), np.ones(x.shape), self.srf.beta)
        hats = equations.initial_hats(points).astype(complex)
        split = equations.triangle.size
        height = 10 * (x + hats.real.sum(axis=-1))
        q = 1 / (hats[:, split:] - (x + 1j * height)[:, None])
        trace = np.full(x.shape, np.nan, dtype=complex)
        descent = np.full(x.shape, _DESCENT)
        active = np.arange(x.size)
        while active.size:
            lower = np.maximum(height[active] * descent[active], _HEIGHT * x[active])
            ridge = -x[active] - 1j * lower
            found = self._newton(points.at(active), ridge, q[active], hats[active])
            reached = active[found.sound]
            hats[reached], q[reached] = found.hats[found.sound], found.q[found.sound]
            trace[reached], height[reached] = found.trace[found.sound], lower[found.sound]
            # Where Newton's method failed or left the physical branch, the next step is smaller.
            descent[active] = np.where(found.sound, _DESCENT, np.sqrt(descent[active]))
            trace[active[descent[active] > _LEAST_DESCENT]] = np.nan
            above = height[active] > _HEIGHT * x[active]
            active = active[above & (descent[active] < _LEAST_DESCENT)]
        trace[height > _HEIGHT * x] = np.nan
        return trace

    def _newton(self, points: Points, ridge: Complex, q: Complex, hats: Complex) -> _Reached:
        """Solve at complex ridges, shape (A,), starting from a solution nearby."""
        equations, split = self.equations, self.equations.triangle.size

        def advance(at: _Reached) -> tuple[_Reached, Array]:
            V1_hat = equations.triangle.unpack(at.hats[:, :split])
            L = ridge[:, None] + at.hats[:, split:]
            q = _response_near(at.q, V1_hat, L, equations.B, self.srf)
            V, T = variances_at(q, V1_hat, equations.B, self.srf.groups, self.srf.beta)
            mapped, contraction = equations.hats(V, points)
            H = equations.hats_derivative(contraction, points)
            step = -solve_small(np.eye(T.shape[-1]) - H @ T, at.hats - mapped)
            hats = at.hats + step
            change = np.max(np.abs(step), axis=-1) / np.max(np.abs(hats), axis=-1)
            # Above the real axis V2 has a positive imaginary part, and the hats a negative one.
            physical = np.all(V[:, split:].imag > 0, axis=-1)
            physical &= np.all(hats[:, equations.coordinates.logarithmic].imag <= 0, axis=-1)
            trace = V[:, split:].sum(axis=-1)
            return _Reached(hats, q, trace, physical & (change < _TRUSTED)), change

        nowhere = np.full(ridge.shape, np.nan, dtype=complex)
        start = _Reached(hats, q, nowhere, np.zeros(ridge.shape, dtype=bool))
        return iterate_newton(advance, start, _TOLERANCE, _MAX_ITERATIONS)


class _Reached(NamedTuple):
    """Where Newton's method arrived, and whether that is a physical solution."""

    hats: Complex
    q: Complex
    trace: Complex
    sound: Mask


def _response_near(
    q: Complex, V1_hat: Complex, L: Complex, B: Array, srf: SpikedFeatures
) -> Complex:
    """Find the root q of `q (L + c M(q)) = 1` that is near a given q."""
    groups, beta = srf.groups, srf.beta

    def advance(q: Complex) -> tuple[Complex, Array]:
        M = screened(q, V1_hat, B, groups, beta).M
        inner = L + groups.c * np.einsum("sgg->sg", M)
        # d(q inner) = inner dq - q c beta M^2 pi c dq
        slope = inner[:, :, None] * np.eye(q.shape[-1])
        slope = slope - (q * groups.c)[:, :, None] * beta * M**2 * (groups.pi * groups.c)
        step = solve_small(slope, 1 - q * inner)
        q = q + step
        return q, np.abs(step) / np.abs(q)

    return iterate_newton(advance, q, _TOLERANCE, _MAX_ITERATIONS)
