"""The variances of one group of neurons at complex ridges, for rows of any covariance C/d.

theory.md sections 8 and 13.

As in `one_group`, t = beta V1_hat q is a function of L/V1_hat alone. Polynomials in t cannot
represent the traces of the rows' resolvent near its spectrum. So the equations of all steps
(`row_resolvent`) are solved together with that of t, by Newton's method from a solution nearby. The
unknowns are t and, for each step from the last to the first, G, theta and t before that step. With
t after it, theta = t f(t), and phi = (1 - f)/t.
"""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np

from giantstep.arrays import Complex
from giantstep.numerics.linear_systems import solve_small
from giantstep.theory.first_layer.covariance_step import CovarianceStep
from giantstep.theory.first_layer.fresh_step import FreshStep
from giantstep.theory.first_layer.row_resolvent import SelfEnergy
from giantstep.theory.rows.interface import Continued, ContinuedVariances
from giantstep.theory.rows.response import variances_at
from giantstep.theory.rows.row_functions import Traces

# Points times samples of a block whose arrays stay in the processor's cache.
_CACHED = 40_000


class ContinuedOneGroup(ContinuedVariances):
    """The map from complex hats to V and T, near a solution; the response holds the unknowns."""

    beta: float

    @abstractmethod
    def equations(self, unknowns: Complex, ratio: Complex) -> tuple[Complex, Complex]:
        """Evaluate `t (ratio + phi(t)) = beta` and all other equations, and their derivatives."""

    @abstractmethod
    def traces(self, unknowns: Complex, slope: Complex) -> Traces:
        """Compute the traces, and their derivatives as the unknowns move along a slope."""

    def variances_near(self, V1_hat: Complex, L: Complex, V: Complex, near: Complex) -> Continued:
        """Map complex hats to V and T by one Newton step."""
        A, L = V1_hat[:, 0, 0], L[:, 0]
        gap, jacobian = self.equations(near, L / A)
        both = np.zeros((*gap.shape, 2), dtype=complex)
        both[:, :, 0] = -gap
        both[:, 0, 1] = -near[:, 0]  # by L/V1_hat
        step, slope = np.moveaxis(solve_small(jacobian, both), -1, 0)
        reached = near + step
        return *variances_at(A, L, self.traces(reached, slope), self.beta), reached


class ContinuedRows(ContinuedOneGroup):
    """The map from complex hats to V and T, near a solution.

    Parameters
    ----------
    steps : list of FreshStep
    """

    def __init__(self, steps: list[FreshStep]) -> None:
        self.steps = [CovarianceStep(step, on_path=True) for step in reversed(steps)]
        self.beta = steps[0].protocol.beta
        nodes = sum(step.weight.size for step in self.steps)
        self._together = 1 + _CACHED // max(1, nodes)

    def far_response(self, V1_hat: Complex, L: Complex) -> Complex:
        """Compute the unknowns far above the real axis, where t is small: to first order in t."""
        t = self.beta * V1_hat[:, 0, 0] / L[:, 0]
        unknowns = [t]
        for step in self.steps:
            b, w = step.kept + step.weight @ step.eta, step.weight @ step.eta**2
            unknowns += [b * step.bulk_variance * t, t, t * (b**2 + step.inverse_alpha0 * w)]
            t = unknowns[-1]
        return np.stack(unknowns, axis=-1)

    def traces(self, unknowns: Complex, slope: Complex) -> Traces:
        """Compute the traces after all steps, and their derivatives along a slope by that of t."""
        t, before = unknowns[:, 0], self._before(unknowns, 0)
        along = slope[:, 2] / slope[:, 0]
        return before._replace(df=before.df + along / t, dphi=before.dphi - along / t**2)

    def equations(self, unknowns: Complex, ratio: Complex) -> tuple[Complex, Complex]:
        """Evaluate the equations of t and of all steps, for one block of points after another."""
        parts = np.array_split(np.arange(ratio.size), math.ceil(ratio.size / self._together))
        found = [self._equations(unknowns[part], ratio[part]) for part in parts]
        gap, jacobian = (np.concatenate(values) for values in zip(*found, strict=True))
        return gap, jacobian

    def _equations(self, unknowns: Complex, ratio: Complex) -> tuple[Complex, Complex]:
        """Evaluate `t (ratio + phi(t)) = beta` and the equations of all steps, and derivatives."""
        gap = np.zeros(unknowns.shape, dtype=complex)
        jacobian = np.zeros((*unknowns.shape, unknowns.shape[1]), dtype=complex)
        last = self._before(unknowns, 0)
        gap[:, 0] = last.t * (ratio + last.phi) - self.beta
        jacobian[:, 0, 0] = ratio + last.phi + last.t * last.dphi
        jacobian[:, 0, 2] = -1 / last.t
        for k, step in enumerate(self.steps):
            own, outer = slice(3 * k + 1, 3 * k + 4), 3 * k
            before = self._before(unknowns, own.stop - 1)
            at = SelfEnergy(step, unknowns[:, outer], unknowns[:, own], before)
            gap[:, own], (jacobian[:, own, own], by_t, by_f, by_phi) = at.gap, at.derivatives()
            jacobian[:, own, outer] = by_t
            if k + 1 < len(self.steps):
                t = before.t[:, None]
                jacobian[:, own, own.stop + 1] = by_f / t - by_phi / t**2
        return gap, jacobian

    def _before(self, unknowns: Complex, place: int) -> Traces:
        """Compute the traces at the t in some place; derivatives are at fixed theta."""
        if place + 2 < unknowns.shape[1]:
            t = unknowns[:, place]
            f = unknowns[:, place + 2] / t
            return Traces(t, f, (1 - f) / t, -f / t, (2 * f - 1) / t**2)
        t, f = unknowns[:, place], 1 / (1 + unknowns[:, place])
        return Traces(t, f, f, -(f**2), -(f**2))  # at initialisation
