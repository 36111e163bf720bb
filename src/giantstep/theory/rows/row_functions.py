"""Traces and forms of the rows' resolvent as functions of t: theory.md section 13.

They are analytic for t >= 0 and decay like 1/t: polynomials hold them for all t, on the scale of
c t.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from scipy.linalg import block_diag

from giantstep.arrays import Array, RealOrComplex
from giantstep.numerics.half_line import HalfLineFunctions
from giantstep.numerics.packed_symmetric import triangle_of

# Norms with a smaller relative difference are one number computed in two ways.
_ROUNDING = 1e-9


class Traces(NamedTuple):
    """Normalised traces of the resolvent at some t, and their derivatives by t; shape (S,).

    Attributes
    ----------
    t : array
    f, phi : array
        Traces of `(1 + t C)^-1` and of `C (1 + t C)^-1`.
    df, dphi : array
    """

    t: RealOrComplex
    f: RealOrComplex
    phi: RealOrComplex
    df: RealOrComplex
    dphi: RealOrComplex


class Forms(NamedTuple):
    """Quadratic forms at some t, in the spike v, the directions across it, and a: `row_forms`.

    Attributes
    ----------
    resolvent : Array, shape (S, m + 1, m + 1)
        Forms of `(1 + t C)^-1`.
    filtered : Array, shape (S, m, m)
        Forms of `C (1 + t C)^-1`, without a.
    """

    resolvent: RealOrComplex
    filtered: RealOrComplex


class RowFunctions(HalfLineFunctions):
    """Traces and quadratic forms of `(1 + t C)^-1` and `C (1 + t C)^-1` for all t >= 0.

    The functions are both traces and, if they are needed, the forms: see `as_columns`.
    """

    def __init__(self, scale: float, coefficients: Array) -> None:
        super().__init__(scale, coefficients)
        self._of_traces = np.zeros((4, self.degree + 1))  # and of their slopes
        self._of_traces[:2] = self.coefficients[:2]
        self._of_traces[2:, : max(1, self.degree)] = chebyshev.chebder(coefficients[:, :2]).T

    @classmethod
    @lru_cache(maxsize=32)  # one object for all, so that caches find rows after its steps
    def at_initialisation(cls, directions: int) -> RowFunctions:
        """Return those of rows of covariance 1/d whose norms do not vary: all are 1/(1 + t)."""
        forms = np.diag([1.0] * (directions + 1) + [0.0])[None]
        return cls(1.0, as_columns(np.ones(1), np.ones(1), Forms(forms, forms[:, :-1, :-1])))

    def traces(self, t: RealOrComplex) -> Traces:
        """Compute the traces at some t, shape (S,)."""
        (weight, powers), c = self.basis(t), self.scale
        both = self._of_traces @ powers * weight
        values = both[:2]
        return Traces(t, *values, *(c * weight * (2 * weight * both[2:] - values)))

    def forms(self, t: RealOrComplex) -> Forms:
        """Compute the forms at some t, shape (S,)."""
        weight, powers = self.basis(t)
        return _as_forms(self.coefficients[2:] @ powers * weight)

    def covariance(self, norm_variance: float) -> Array:
        """Return Sigma of `NetworkState`; the functions determine all but the variance of norms."""
        (sigma,), (filtered,) = self.forms(np.zeros(1))
        sigma[:-1, :-1], sigma[-1, -1] = filtered, norm_variance
        return sigma

    def with_norm(self, norm: float, before: float) -> RowFunctions:
        """Return the functions for rows that noise lengthens, or shorter ones: c, and c before."""
        added = norm - before
        if abs(added) <= _ROUNDING * before:
            return self
        if added < 0:
            return self.turned(np.eye(math.isqrt(len(self.coefficients) - 2) - 1), norm / before)

        def functions(t: Array) -> Array:
            own = 1 / (1 + added * t)
            at, (R, filtered) = self.traces(t * own), self.forms(t * own)
            filtered = filtered + added * R[:, :-1, :-1]
            columns = as_columns(at.f, at.phi + added * at.f, Forms(R, filtered))
            return columns * own[:, None]

        return RowFunctions.fitted(self.scale + added, functions)

    def turned(self, turn: Array, factor: float = 1.0) -> RowFunctions:
        """Turn the basis; further columns of `turn` are along generic directions.

        Rows become longer by the root of the factor.
        """
        f, phi, *triangles = self.coefficients
        R, filtered = _as_forms(np.array(triangles))
        known, beyond = np.split(turn, filtered.shape[-1:], axis=1)
        other = beyond @ beyond.T
        with_a = block_diag(known, math.sqrt(factor))
        R = with_a @ R @ with_a.T
        R[:, :-1, :-1] += f[:, None, None] * other
        filtered = factor * (known @ filtered @ known.T + phi[:, None, None] * other)
        return RowFunctions(factor * self.scale, as_columns(f, factor * phi, Forms(R, filtered)))


def as_columns(f: Array, phi: Array, forms: Forms) -> Array:
    """Put the triangles of the forms beside the traces, shape (S, functions)."""
    triangles = [triangle_of(form.shape[-1]).pack(form) for form in forms]
    return np.column_stack([f, phi, *triangles])


def _as_forms(values: RealOrComplex) -> Forms:
    """Unpack the triangles of the forms, of shape (functions, S)."""
    m = math.isqrt(len(values)) - 1  # (m + 1)(m + 2)/2 + m (m + 1)/2 are (m + 1)^2
    resolvent, filtered = np.split(values, [triangle_of(m + 1).size])
    return Forms(triangle_of(m + 1).unpack(resolvent.T), triangle_of(m).unpack(filtered.T))
