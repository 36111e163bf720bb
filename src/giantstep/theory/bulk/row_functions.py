"""Traces and forms of the rows' resolvent as functions of t, step after step: `row_resolvent`.

They are analytic for t >= 0 and decay like 1/t. Interpolating polynomials in
x = (c t - 1)/(c t + 1) hold them, times 1 + c t, to rounding for all t.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.polynomial import chebyshev

from giantstep.arrays import Array
from giantstep.problems.protocol import Protocol
from giantstep.theory.bulk.covariance_step import CovarianceStep
from giantstep.theory.bulk.row_forms import Forms, forms_after
from giantstep.theory.bulk.row_resolvent import Traces, solve_self_energy
from giantstep.theory.complete_steps import complete_states

# Degrees of the polynomials in order of trial, and the relative size of the last coefficients that
# ends it.
_DEGREES, _TOLERANCE = (24, 48, 96), 1e-10
_TRIANGLE, _PAIR = np.triu_indices(3), np.triu_indices(2)


class RowFunctions:
    """Traces and quadratic forms of `(1 + t C)^-1` and `C (1 + t C)^-1` for all t >= 0.

    Parameters
    ----------
    scale : float
        c, which sets the scale of t.
    degree : int
        Of the polynomials.
    """

    def __init__(self, scale: float, degree: int) -> None:
        self._scale, self._degree = scale, degree
        x = chebyshev.chebpts1(degree + 1)
        self.nodes = (1 + x) / (1 - x) / scale
        self._coefficients: Array = np.empty((0, 0))
        self._slopes: Array = np.empty((0, 0))

    @classmethod
    def at_initialisation(cls) -> RowFunctions:
        """Return those of rows of covariance 1/d whose norms do not vary."""
        rows = cls(1.0, 1)
        one = 1 / (1 + rows.nodes)
        unit = np.diag([1.0, 1.0, 0.0])
        resolvent = one[:, None, None] * unit
        return rows.fitted(one, one, Forms(resolvent, resolvent[:, :2, :2]))

    def fitted(self, f: Array, phi: Array, forms: Forms) -> RowFunctions:
        """Fit the polynomials to values at the nodes, and return the functions."""
        values = np.column_stack([
            f, phi, forms.resolvent[:, *_TRIANGLE], forms.filtered[:, *_PAIR]
        ])  # fmt: skip
        values *= (1 + self._scale * self.nodes)[:, None]
        x = chebyshev.chebpts1(self._degree + 1)
        fit: Array = chebyshev.chebvander(x, self._degree).T @ values * 2 / (self._degree + 1)
        fit[0] /= 2
        self._coefficients = fit
        self._slopes = np.asarray(chebyshev.chebder(fit), dtype=np.float64)
        return self

    def _evaluate(self, t: Array) -> tuple[Array, Array]:
        """Compute all functions and their derivatives by t, shapes (functions, S)."""
        c = self._scale
        weight = 1 / (1 + c * t)
        x = (c * t - 1) * weight
        values = chebyshev.chebval(x, self._coefficients) * weight
        slopes = chebyshev.chebval(x, self._slopes) * 2 * c * weight**3 - c * weight * values
        return values, slopes

    def traces(self, t: Array) -> Traces:
        """Compute the traces at some t, shape (S,)."""
        values, slopes = self._evaluate(t)
        return Traces(t, values[0], values[1], slopes[0], slopes[1])

    def forms(self, t: Array) -> tuple[Forms, Forms]:
        """Compute the forms at some t, shape (S,), and their derivatives by t."""
        first, second = (_as_forms(values) for values in self._evaluate(t))
        return first, second

    def covariance(self, norm_variance: float) -> Array:
        """Return Sigma, of which these functions know all but the variance of the norms."""
        at_zero, _ = self.forms(np.zeros(1))
        sigma: Array = at_zero.resolvent[0].copy()
        sigma[:2, :2], sigma[2, 2] = at_zero.filtered[0], norm_variance
        return sigma

    @property
    def resolved(self) -> bool:
        """Whether the last coefficients are small."""
        size = np.max(np.abs(self._coefficients), axis=0)
        last = np.max(np.abs(self._coefficients[-3:]), axis=0)
        return bool(np.all(last <= _TOLERANCE * np.maximum(size, 1)))

    def after(self, step: CovarianceStep, scale: float) -> RowFunctions:
        """Compute the functions after a step; `scale` is c there."""
        step = replace(step, covariance=self.covariance(step.covariance[2, 2]))
        for degree in _DEGREES:
            rows = RowFunctions(scale, degree)
            at = solve_self_energy(step, self, rows.nodes)
            forms, _ = self.forms(at.before.t)
            rows.fitted(at.f, at.phi, forms_after(step, at, forms))
            if rows.resolved:
                break
        return rows


def _as_forms(values: Array) -> Forms:
    resolvent, filtered = np.empty((values.shape[1], 3, 3)), np.empty((values.shape[1], 2, 2))
    resolvent[:, *_TRIANGLE] = resolvent[:, *_TRIANGLE[::-1]] = values[2:8].T
    filtered[:, *_PAIR] = filtered[:, *_PAIR[::-1]] = values[8:].T
    return Forms(resolvent, filtered)


@lru_cache(maxsize=64)
def row_functions(protocol: Protocol, fineness: int = 1) -> RowFunctions:
    """Compute the functions after the last step of a protocol.

    Parameters
    ----------
    protocol : Protocol
        With a uniform readout and fresh batches.
    fineness : int
        Multiplies the number of nodes of all rules.
    """
    states, rows = complete_states(protocol, fineness), RowFunctions.at_initialisation()
    for before, after in pairwise(states):
        step = CovarianceStep.of(protocol, before, fineness)
        rows = rows.after(step, after.bulk_variance)
    return rows
