"""The spectrum of the features' covariance K = Phi^T Phi: theory.md section 8, Figure 8.

The resolvent does not see the labels: `sum_g V2_g(ridge) = tr (K + ridge)^-1 / p`, and the density
of eigenvalues at x is its imaginary part at `ridge = -x - i0`, over pi. The complex fixed point
is continued from far above the real axis, where the equations are easy, down to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from giantstep.arrays import Array, Complex
from giantstep.numerics.linear_systems import solve_small
from giantstep.numerics.newton import iterate_newton
from giantstep.problems.problem import Problem
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.bulk.isotropic import IsotropicBulk
from giantstep.theory.bulk.isotropic_variances import screened, variances_at
from giantstep.theory.conditional_features import ConditionalFeatures, conditional_features
from giantstep.theory.equivalent_features import equivalent_features
from giantstep.theory.fixed_point import Equations, Points

# How far above the real axis the density is read, over the eigenvalue; and the step towards it.
_HEIGHT, _DESCENT = 1e-9, 0.2
# A step down this close to none means that the way is lost.
_STEEPEST = 0.99
# Newton's method at one height: most steps, the relative step at which it has converged, and that
# up to which its result is used.
_MAX_ITERATIONS, _TOLERANCE, _TRUSTED = 12, 1e-11, 1e-6
# A density in the logarithm of x below this counts as none.
_EMPTY = 2e-4
# Nodes are this much denser than elsewhere, and gaps in the bulk narrower than this ratio lie
# between nodes: where the features' noise mu2 dies out with kappa, the bulk has a tail towards zero
# in which the nodes would show one by one.
_FINENESS, _GAP = 6, 1.3
# Where the bulk is looked for, over its size; and from which ratio of its ends on it is wide.
_SMALLEST, _WIDE = 1e-12, 1e3
# Below this mean of mu2^2 the features have no noise of their own, and no rank above d.
_LINEAR = 1e-20


@dataclass(frozen=True)
class Spectrum:
    """Asymptotic spectrum of Phi^T Phi.

    Attributes
    ----------
    x, density : Array, shape (M,)
        Density of eigenvalues, of the p of them, at x > 0; NaN where the solver failed.
    mass_at_zero : float
        Share of eigenvalues that vanish.
    edges : Array, shape (B, 2)
        Ends of the intervals of the bulk.
    outliers : Array, shape (R,)
        Eigenvalues of order d, over d, largest first: equation (191).
    """

    x: Array
    density: Array
    mass_at_zero: float
    edges: Array
    outliers: Array


class SpectralDensity:
    """The density of eigenvalues of one problem at one sample complexity, as a function of x.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    alpha : float
    """

    def __init__(self, problem: Problem, alpha: float) -> None:
        self.srf: SpikedFeatures = equivalent_features(problem)
        self.features: ConditionalFeatures = conditional_features(self.srf, fineness=_FINENESS)
        bulk = IsotropicBulk(self.features.B, self.srf.groups, self.srf.beta)
        self.equations = Equations(self.features, self.srf, bulk)
        self.alpha = alpha

    def __call__(self, x: Array) -> Array:
        """Give the density at x > 0, shape (M,)."""
        trace = self.trace(np.asarray(x, dtype=float))
        density: Array = trace.imag / np.pi
        return density

    def trace(self, x: Array) -> Complex:
        """Compute tr (K - x - i0)^-1 / p, shape (M,); NaN where the way down was lost."""
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
            # Where Newton failed or left the physical branch, a smaller step down is taken next.
            descent[active] = np.where(found.sound, _DESCENT, np.sqrt(descent[active]))
            trace[active[descent[active] > _STEEPEST]] = np.nan
            active = active[(height[active] > _HEIGHT * x[active]) & (descent[active] < _STEEPEST)]
        trace[height > _HEIGHT * x] = np.nan
        return trace

    def _newton(self, points: Points, ridge: Complex, q: Complex, hats: Complex) -> _Reached:
        """Solve at some complex ridges, shape (A,), from a solution nearby."""
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
            # Above the real axis every V2 lies above it too, and the hats below.
            physical = np.all(V[:, split:].imag > 0, axis=-1)
            physical &= np.all(hats[:, equations.coordinates.logarithmic].imag <= 0, axis=-1)
            trace = V[:, split:].sum(axis=-1)
            return _Reached(hats, q, trace, physical & (change < _TRUSTED)), change

        nowhere = np.full(ridge.shape, np.nan, dtype=complex)
        start = _Reached(hats, q, nowhere, np.zeros(ridge.shape, dtype=bool))
        return iterate_newton(advance, start, _TOLERANCE, _MAX_ITERATIONS)


class _Reached(NamedTuple):
    """Where Newton arrived, and whether it may be trusted."""

    hats: Complex
    q: Complex
    trace: Complex
    sound: NDArray[np.bool_]


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


def mass_at_zero(density: SpectralDensity) -> float:
    """Compute the share of vanishing eigenvalues, from the rank min(n, p) of the features.

    Features without noise of their own (a linear activation) have rank d at most.
    """
    f, srf = density.features, density.srf
    noise = float(np.max(f.mu2_squared @ f.weight))
    rank = min(density.alpha, srf.beta) if noise > _LINEAR else min(density.alpha, srf.beta, 1.0)
    return 1 - rank / srf.beta


def outliers(density: SpectralDensity) -> Array:
    """Compute the eigenvalues of order d, over d: `alpha E mu0 mu0^T` in shares of neurons.

    Equation (191), for one group `n E mu0^2`; one a direction of span{mu0}, largest first.
    """
    f, share = density.features, np.sqrt(density.srf.groups.pi)
    mean = (f.mu0 * f.weight) @ f.mu0.T * np.outer(share, share)
    values = density.alpha * np.linalg.eigvalsh(mean)[::-1]
    return values[values > 1e-12 * density.alpha * max(1.0, float(values[0]))]


def bulk_edges(density: SpectralDensity, candidates: int = 400) -> Array:
    """Find the intervals on which the density does not vanish.

    Parameters
    ----------
    density : SpectralDensity
    candidates : int
        Points, in geometric progression, at which the bulk is looked for first.

    Returns
    -------
    Array, shape (B, 2)
    """
    scale = density.alpha / density.srf.beta * float(density.equations.folded.sum())
    spread = (1 + np.sqrt(density.srf.beta / density.alpha)) ** 2 * max(1.0, density.srf.beta)
    x = np.geomspace(
        _SMALLEST * scale, 100 * scale * spread * density.srf.groups.c.max(), candidates
    )
    inside = _occupied(density, x)
    ups = np.flatnonzero(~inside[:-1] & inside[1:])
    downs = np.flatnonzero(inside[:-1] & ~inside[1:])
    edges = _bisect(density, x, np.concatenate([ups, downs]))
    low, high = edges[: ups.size], edges[ups.size :]
    if inside[0]:  # a bulk that reaches zero
        low = np.concatenate([[0.0], low])
    real = low[1:] > _GAP * high[:-1]
    return np.stack([low[np.r_[True, real]], high[np.r_[real, True]]], axis=-1)


def _occupied(density: SpectralDensity, x: Array) -> NDArray[np.bool_]:
    occupied: NDArray[np.bool_] = x * density(x) > _EMPTY
    return occupied


def _bisect(density: SpectralDensity, x: Array, at: NDArray[np.int64]) -> Array:
    """Narrow down, between x[at] and x[at + 1], where the density begins or ends."""
    low, high = np.log(x[at]), np.log(x[at + 1])
    first = _occupied(density, x[at]) if at.size else np.empty(0, dtype=bool)
    for _ in range(24 if at.size else 0):
        middle = (low + high) / 2
        same = _occupied(density, np.exp(middle)) == first
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    edges: Array = np.exp((low + high) / 2)
    return edges


def spectrum(problem: Problem, alpha: float, points: int = 400, x: Array | None = None) -> Spectrum:
    """Compute the asymptotic spectrum of Phi^T Phi.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    alpha : float
        Sample complexity n/d, > 0.
    points : int
        Points at which the density is given, shared among the intervals of the bulk and denser
        towards their ends; in geometric progression where an interval (nearly) reaches zero.
    x : Array, optional
        Eigenvalues > 0 at which the density is given instead.

    Returns
    -------
    Spectrum
    """
    density = SpectralDensity(problem, alpha)
    edges = bulk_edges(density)
    x = _points(edges, points) if x is None else x
    return Spectrum(
        x=x,
        density=density(x),
        mass_at_zero=mass_at_zero(density),
        edges=edges,
        outliers=outliers(density),
    )


def _points(edges: Array, points: int) -> Array:
    """Share points among the intervals of the bulk: see `spectrum`."""
    each = max(8, points // max(1, len(edges)))
    angle = (np.arange(each) + 0.5) * np.pi / each
    pieces = [
        low + (high - low) * (1 - np.cos(angle)) / 2
        if low * _WIDE > high
        else np.geomspace(max(low, _SMALLEST * high), high, each + 2)[1:-1]
        for low, high in edges
    ]
    return np.concatenate(pieces) if pieces else np.empty(0)
