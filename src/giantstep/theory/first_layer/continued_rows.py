"""The variances of one group of neurons at complex ridges, for rows of any covariance C/d.

theory.md sections 8 and 13.

As in `one_group`, t = beta V1_hat q is a function of L/V1_hat alone. Polynomials in t do not hold
the traces of the rows' resolvent near its spectrum. So the equations of all steps (`row_resolvent`)
are solved together with that of t, by Newton's method from a solution nearby. The unknowns are t
and, for each step from the last to the first, G, theta and t before that step. With t after it,
theta = s t f(t) where s stretches the rows, and phi = (1 - f)/t.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import partial

import numpy as np

from giantstep.arrays import Complex
from giantstep.numerics.differences import with_jacobian
from giantstep.numerics.linear_systems import solve_small
from giantstep.problems.protocol import Protocol
from giantstep.theory.first_layer.covariance_step import CovarianceStep
from giantstep.theory.first_layer.network_state import NetworkState
from giantstep.theory.first_layer.row_resolvent import SelfEnergy
from giantstep.theory.rows.interface import Continued
from giantstep.theory.rows.one_group import variances_at
from giantstep.theory.rows.row_functions import Traces


class ContinuedOneGroup(ABC):
    """The map from complex hats to V and T, near a solution; the response is the unknowns."""

    beta: float

    @abstractmethod
    def far_response(self, V1_hat: Complex, L: Complex) -> Complex:
        """Compute the unknowns far above the real axis, where t is small."""

    @abstractmethod
    def equations(self, unknowns: Complex, ratio: Complex) -> tuple[Complex, Complex]:
        """Evaluate `t (ratio + phi(t)) = beta` and all other equations, and their derivatives."""

    @abstractmethod
    def traces(self, unknowns: Complex, slope: Complex) -> Traces:
        """Compute the traces, and their derivatives as the unknowns move along a slope."""

    def variances_near(self, V1_hat: Complex, L: Complex, near: Complex) -> Continued:
        """Map complex hats to V and T by one Newton step."""
        A, L = V1_hat[:, 0, 0], L[:, 0]
        gap, jacobian = self.equations(near, L / A)
        both = np.zeros((*gap.shape, 2), dtype=complex)
        both[:, :, 0] = -gap
        both[:, 0, 1] = -near[:, 0]  # by L/V1_hat
        step, slope = np.moveaxis(solve_small(jacobian, both), -1, 0)
        reached = near + step
        return *variances_at(A, L, self.traces(reached, slope), self.beta), reached

    def moved(self, response: Complex, dV: Complex) -> Complex:
        """Leave the unknowns, which `variances_near` moves."""
        return response


class ContinuedRows(ContinuedOneGroup):
    """The map from complex hats to V and T, near a solution.

    Parameters
    ----------
    steps : iterable of (Protocol, float)
        Each by plain descent, and the factor on the squared length of all rows after it.
    before : tuple of NetworkState
        The network before each of its steps.
    """

    def __init__(
        self, steps: Iterable[tuple[Protocol, float]], before: tuple[NetworkState, ...]
    ) -> None:
        backwards = list(zip(steps, before, strict=True))[::-1]
        self.steps = [CovarianceStep(of, state, 1, on_path=True) for (of, _), state in backwards]
        self.stretches = [stretch for (_, stretch), _ in backwards]
        self.beta = backwards[0][0][0].beta

    def far_response(self, V1_hat: Complex, L: Complex) -> Complex:
        """Compute the unknowns far above the real axis, where t is small: to first order in t."""
        t = self.beta * V1_hat[:, 0, 0] / L[:, 0]
        unknowns = [t]
        for step, stretch in zip(self.steps, self.stretches, strict=True):
            t, eta, weight = stretch * t, step.samples.eta, step.samples.weight
            b, w = 1 + weight @ eta, weight @ eta**2
            unknowns += [b * step.bulk_variance * t, t, t * (b**2 + step.inverse_batch * w)]
            t = unknowns[-1]
        return np.stack(unknowns, axis=-1)

    def traces(self, unknowns: Complex, slope: Complex) -> Traces:
        """Compute the traces after all steps, and their derivatives along a slope by that of t."""
        t, (f, phi) = unknowns[:, 0], self._traces(unknowns, 0)
        df = (slope[:, 2] / slope[:, 0] / self.stretches[0] - f) / t
        return Traces(t, f, phi, -(df + phi) / t)

    def equations(self, unknowns: Complex, ratio: Complex) -> tuple[Complex, Complex]:
        """Evaluate `t (ratio + phi(t)) = beta` and the equations of all steps, and derivatives."""
        gap = np.zeros(unknowns.shape, dtype=complex)
        jacobian = np.zeros((*unknowns.shape, unknowns.shape[1]), dtype=complex)

        def closed(near: Complex) -> Complex:
            return (near[:, 0] * (ratio + self._traces(near, 0)[1]) - self.beta)[:, None]

        gap[:, :1], jacobian[:, :1, :3] = with_jacobian(closed, unknowns[:, :3])
        for k in range(len(self.steps)):
            own, near = slice(3 * k + 1, 3 * k + 4), slice(3 * k, 3 * k + 6)
            of_step = with_jacobian(partial(self._of_step, k), unknowns[:, near])
            gap[:, own], jacobian[:, own, near] = of_step
        return gap, jacobian

    def _of_step(self, k: int, near: Complex) -> Complex:
        """Evaluate the equations of a step, given t after it, its unknowns and those before it."""
        t, own, before = self.stretches[k] * near[:, 0], near[:, 1:4], near[:, 3:]
        return SelfEnergy(self.steps[k], t, own, *self._traces(before, k + 1)).gap

    def _traces(self, near: Complex, k: int) -> tuple[Complex, Complex]:
        """Compute f and phi at a t, after which come the unknowns of step k."""
        t = near[:, 0]
        if k == len(self.steps):  # at initialisation
            return 1 / (1 + t), 1 / (1 + t)
        f = near[:, 2] / self.stretches[k] / t
        return f, (1 - f) / t
