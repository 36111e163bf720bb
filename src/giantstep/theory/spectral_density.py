"""The density of eigenvalues of the features' covariance K = Phi^T Phi: theory.md section 8.

The resolvent does not depend on the labels: `sum_g V2_g(ridge) = tr (K + ridge)^-1 / p`, and the
density of eigenvalues at x is its imaginary part at `ridge = -x - i0`, divided by pi. The complex
fixed point is followed from far above the real axis, where the equations are easy, down to it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array, Complex, Indices, Mask
from giantstep.numerics.linear_systems import solve_small
from giantstep.problems.bulk_kind import ISOTROPIC
from giantstep.problems.problem import Problem
from giantstep.theory.features.conditional_features import conditional_features
from giantstep.theory.kappa_path import on_path
from giantstep.theory.readout.fixed_point import Equations, Points
from giantstep.theory.readout.prepared_layer import prepare_layer

# Height above the real axis at which the density is read, relative to the eigenvalue; where points
# begin their way down to it, relative to the size of the equations; and the factor at each step.
_HEIGHT, _HIGHEST, _DESCENT = 1e-9, 50.0, 0.05
# Where a step down fails, the factor on the height is replaced by its square root; above this
# factor the point is given up.
_LEAST_DESCENT = 0.7
# At first, one of so many points begins far above. The others begin between known points, at these
# spacings in turn.
_SPACINGS = 32, 4, 1
# Newton's method at one height: most steps; the relative size of a step that ends it, on the way
# and at the end; and the largest last step after which its result is used.
_MAX_ITERATIONS, _ROUGH, _ACCURATE, _TRUSTED = 12, 1e-4, 1e-9, 1e-6
# Relative imaginary parts that quadrature may leave where there are no eigenvalues.
_SLACK = 1e-8


class SpectralDensity:
    """The density of eigenvalues of one problem at one sample complexity, as a function of x.

    Points begin from those that were solved before, which are kept. So the density at a point is
    the same to the solver's tolerance, whatever was asked for first; but a point that fails from a
    distant start may converge from a nearby one.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    alpha : float
    bulk : str
        As in `solve.solve`.
    dimension : float
        d, at which the equivalent features are taken.
    """

    def __init__(
        self, problem: Problem, alpha: float, bulk: str = ISOTROPIC, dimension: float = math.inf
    ) -> None:
        layer = prepare_layer(problem, bulk, dimension).first
        self.srf = layer.features
        # Nodes of several spikes stay on the axis, where poles may be near: there are more of them.
        self.features = conditional_features(self.srf, 2 if self.srf.further_spikes else 1)
        rows = layer.bulk(bulk, self.features)
        self.on_path = on_path(self.features, self.srf)
        self.equations = Equations(self.on_path, self.srf, rows)
        self.bulk = rows.continued()
        self.alpha, self.split = alpha, self.equations.triangle.size
        self._known: _Known | None = None  # what has been solved, from which the next points begin

    def __call__(self, x: Array) -> Array:
        """Compute the density at x > 0, shape (M,)."""
        # The sum of V2 is tr (K - x - i0)^-1 / p.
        return self.variances(x)[:, self.split :].sum(axis=-1).imag / np.pi

    def variances(self, x: Array) -> Complex:
        """Compute V = (V1, V2) at the ridge -x - i0, shape (M, K); NaN where it was not reached."""
        x = np.asarray(x, dtype=float)
        wanted = np.unique(x)
        with np.errstate(all="ignore"):  # a point that is lost is tried again, or NaN
            if self._known is None:
                self._known = self._descend(np.unique([*wanted[:: _SPACINGS[0]], *wanted[-2:]]))
            for spacing in _SPACINGS:
                if (new := np.setdiff1d(wanted, self._known.x)[::spacing]).size:
                    reached = self._newton(new, _HEIGHT, self._known.at_x(new))
                    self._known = self._known.joined(reached.at(reached.sound))
            if (lost := np.setdiff1d(wanted, self._known.x)).size:
                lowest = self._known.x[np.argmax(np.isfinite(self._known.V[:, 0]))]
                self._known = self._known.joined(self._descend(lost, lowest))
        return self._known.V[np.searchsorted(self._known.x, x)]

    def _descend(self, x: Array, lowest: float = 0.0) -> _Known:
        """Follow solutions from far above the real axis, where the equations are easy, down.

        Points below the lowest are given up: rounding is larger than their density.
        """
        found, height = self._far(x)
        factor, active = np.full(x.shape, _DESCENT), np.flatnonzero(x >= lowest)
        height = height / _DESCENT
        while active.size:
            lower = np.maximum(height[active] * factor[active], _HEIGHT)
            tolerance = np.where(lower > _HEIGHT, _ROUGH, _ACCURATE)
            reached = self._newton(x[active], lower, found.at(active), tolerance)
            there = active[reached.sound]
            found.overwrite(there, reached.at(reached.sound))
            height[there] = lower[reached.sound]
            # Where Newton's method failed or left the physical branch, the next step is smaller.
            factor[active] = np.where(reached.sound, _DESCENT, np.sqrt(factor[active]))
            active = active[(height[active] > _HEIGHT) & (factor[active] < _LEAST_DESCENT)]
        found.V[height > _HEIGHT] = np.nan * 1j  # these were not reached
        return found

    def _far(self, x: Array) -> tuple[_Known, Array]:
        """Approximate solutions far above the real axis, at heights relative to x."""
        hats = self.equations.initial_hats(self._points(x)).astype(complex)
        height = _HIGHEST * (1 + np.abs(hats).sum(axis=-1) / x)
        V1_hat = self.equations.triangle.unpack(hats)
        L = hats[:, self.split :] - (x * (1 + 1j * height))[:, None]
        response = self.bulk.far_response(V1_hat, L)
        V = np.concatenate([0 * hats[:, : self.split], self.srf.groups.pi / L], axis=-1)
        return _Known(x, hats, response, V, np.zeros(x.size, bool)), height

    def _points(self, x: Array) -> Points:
        return self.equations.points(np.full(x.shape, self.alpha), np.ones(x.shape))

    def _newton(
        self, x: Array, height: Array | float, start: _Known, tolerance: Array | float = _ACCURATE
    ) -> _Known:
        """Solve at the ridges `-x (1 + i height)`, starting from solutions nearby.

        Points leave the batch as their step becomes shorter than the tolerance.
        """
        ridge = (-x * (1 + 1j * np.asarray(height))).astype(complex)
        tolerance = np.broadcast_to(tolerance, x.shape)
        trusted = np.maximum(tolerance, _TRUSTED)
        active = np.arange(x.size)
        found = start.at(active)._replace(x=x, sound=np.zeros(x.size, dtype=bool))
        for _ in range(_MAX_ITERATIONS):
            at, change = self._step(ridge[active], found.at(active))
            found.overwrite(active, at._replace(sound=at.sound & (change < trusted[active])))
            active = active[(change > tolerance[active]) & np.isfinite(change)]
            if not active.size:
                break
        return found

    def _step(self, ridge: Complex, at: _Known) -> tuple[_Known, Array]:
        """Take a step of Newton's method; the size of the step is returned as well."""
        equations, split, points = self.equations, self.split, self._points(at.x)
        V1_hat = equations.triangle.unpack(at.hats)
        L = ridge[:, None] + at.hats[:, split:]
        V, T, response = self.bulk.variances_near(V1_hat, L, at.V, at.response)
        mapped, contraction = equations.hats(V, points)
        H = equations.hats_derivative(contraction, points)
        step = -solve_small(np.eye(T.shape[-1]) - H @ T, at.hats - mapped)
        hats = at.hats + step
        size = np.max(np.abs(step), axis=-1) / np.max(np.abs(hats), axis=-1)
        # Above the real axis V2 has a positive imaginary part, and the hats a negative one.
        V2, positive = V[:, split:], hats[:, equations.coordinates.logarithmic]
        physical = np.all(V2.imag > -_SLACK * np.abs(V2), axis=-1)
        physical &= np.all(positive.imag <= _SLACK * np.abs(hats).max(axis=-1)[:, None], axis=-1)
        V = V - np.einsum("sij,sj->si", T, step)
        return _Known(at.x, hats, response, V, physical), size


class _Known(NamedTuple):
    """Solutions at some eigenvalues x, and whether they are physical; arrays of shape (A, ...)."""

    x: Array
    hats: Complex
    response: Complex
    V: Complex
    sound: Mask

    def at(self, chosen: Indices | Mask) -> _Known:
        """Select some of the points."""
        return _Known._make(values[chosen] for values in self)

    def overwrite(self, places: Indices | Mask, other: _Known) -> None:
        """Replace the points at some places."""
        for mine, theirs in zip(self, other, strict=True):
            mine[places] = theirs

    def joined(self, other: _Known) -> _Known:
        """Add points, in ascending order."""
        both = _Known._make(np.concatenate(pair) for pair in zip(self, other, strict=True))
        return both.at(np.argsort(both.x))

    def at_x(self, x: Array) -> _Known:
        """Interpolate between the points below and above each x by a power of x."""
        finite = np.isfinite(self.V[:, 0])
        sound = self.at(finite) if finite.sum() > 1 else self
        right = np.searchsorted(sound.x, x).clip(1, sound.x.size - 1)
        low, high = sound.at(right - 1), sound.at(right)
        share = (np.log(x / low.x) / np.log(high.x / low.x)).clip(None, 1)[:, None]
        ends = zip(low[1:4], high[1:4], strict=True)
        hats, response, V = (first * (last / first) ** share for first, last in ends)
        return _Known(x, hats, response, V, high.sound)
