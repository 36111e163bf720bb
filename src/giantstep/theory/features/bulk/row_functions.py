"""Traces and forms of the rows' resolvent as functions of t, step after step: `row_resolvent`.

They are analytic for t >= 0 and decay like 1/t. Interpolating polynomials in
x = (c t - 1)/(c t + 1) hold them, times 1 + c t, to rounding for all t.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.polynomial import chebyshev

from giantstep.arrays import Array
from giantstep.problems.protocol import Protocol
from giantstep.theory.features.bulk.covariance_step import CovarianceStep
from giantstep.theory.features.bulk.row_forms import Forms, forms_after
from giantstep.theory.features.bulk.row_resolvent import Traces, solve_self_energy
from giantstep.theory.features.complete_steps import complete_states

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
    coefficients : Array, shape (degree + 1, functions)
        Of the polynomials: of both traces, and of the forms if they are needed.

    Attributes
    ----------
    error : float
        Largest relative size of the last coefficients.
    """

    def __init__(self, scale: float, coefficients: Array) -> None:
        self._scale, self._degree = scale, len(coefficients) - 1
        size, last = (np.max(np.abs(part), axis=0) for part in (coefficients, coefficients[-3:]))
        self.error = float(np.max(last / np.maximum(size, 1)))
        slopes = np.zeros_like(coefficients)
        slopes[: max(1, self._degree)] = chebyshev.chebder(coefficients)
        self._values_and_slopes: Array = np.stack([coefficients.T, slopes.T])

    @classmethod
    def at_initialisation(cls) -> RowFunctions:
        """Return those of rows of covariance 1/d whose norms do not vary: all are 1/(1 + t)."""
        return cls(1.0, np.array([[1.0, 1, 1, 0, 0, 1, 0, 0, 1, 0, 1]]))

    @classmethod
    def fitted(
        cls, scale: float, functions: Callable[[Array], Array], tolerance: float
    ) -> RowFunctions:
        """Fit polynomials to functions of t, shape (S,), whose values have shape (S, functions).

        Of increasing degrees, until the `error` is below the tolerance.
        """
        for degree in _DEGREES:
            x = chebyshev.chebpts1(degree + 1)
            values = functions((1 + x) / (1 - x) / scale) * (2 / (1 - x))[:, None]
            fit = chebyshev.chebvander(x, degree).T @ values * 2 / (degree + 1)
            fit[0] /= 2
            rows = cls(scale, fit)
            if rows.error <= tolerance:
                break
        return rows

    def _evaluate(self, t: Array, chosen: slice = slice(None)) -> tuple[Array, Array]:
        """Compute functions and their derivatives by t, shapes (functions, S)."""
        c = self._scale
        weight = 1 / (1 + c * t)
        powers = chebyshev.chebvander((c * t - 1) * weight, self._degree).T
        values, slopes = self._values_and_slopes[:, chosen] @ powers
        values *= weight
        return values, slopes * 2 * c * weight**3 - c * weight * values

    def traces(self, t: Array) -> Traces:
        """Compute the traces at some t, shape (S,)."""
        values, slopes = self._evaluate(t, slice(2))
        return Traces(t, *values, *slopes)

    def forms(self, t: Array) -> tuple[Forms, Forms]:
        """Compute the forms at some t, shape (S,), and their derivatives by t."""
        first, second = (_as_forms(values) for values in self._evaluate(t, slice(2, None)))
        return first, second

    def covariance(self, norm_variance: float) -> Array:
        """Return Sigma, of which these functions know all but the variance of the norms."""
        at_zero, _ = self.forms(np.zeros(1))
        sigma: Array = at_zero.resolvent[0].copy()
        sigma[:2, :2], sigma[2, 2] = at_zero.filtered[0], norm_variance
        return sigma

    def after(self, step: CovarianceStep, scale: float) -> RowFunctions:
        """Compute the functions after a step; `scale` is c there."""
        step = replace(step, covariance=self.covariance(step.covariance[2, 2]))

        def functions(t: Array) -> Array:
            at = solve_self_energy(step, self, t)
            forms = forms_after(step, at, self.forms(at.before.t)[0])
            return np.column_stack([
                at.f, at.phi, forms.resolvent[:, *_TRIANGLE], forms.filtered[:, *_PAIR]
            ])  # fmt: skip

        return RowFunctions.fitted(scale, functions, _TOLERANCE)


def _as_forms(values: Array) -> Forms:
    resolvent, filtered = np.empty((values.shape[1], 3, 3)), np.empty((values.shape[1], 2, 2))
    resolvent[:, *_TRIANGLE] = resolvent[:, *_TRIANGLE[::-1]] = values[:6].T
    filtered[:, *_PAIR] = filtered[:, *_PAIR[::-1]] = values[6:].T
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
