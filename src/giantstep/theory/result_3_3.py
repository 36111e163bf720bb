"""Result 3.3 of the paper: the test error of spiked random features, equation by equation.

This page is for reading: one group of neurons, one sample complexity, one ridge, and SciPy's solver
for systems of equations. `readout.solve` computes the same for whole grids, for several groups, at
vanishing ridges, for other losses, for trained bulks and at finite dimension; the tests hold it
against this page.

Letters are the paper's, in the normalisation of docs/theory.md: `zeta` and `psi` are those of the
paper up to powers of beta and of 1 - gamma^2. Averages over the spectrum nu of the bulk, whose rows
have uniform directions, are over the law of Marchenko and Pastur; v and theta are in no special
position to its eigenvectors, so that tau^2 and pi^2 average out to one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import root

from giantstep.arrays import Array
from giantstep.numerics.gaussian import moments
from giantstep.numerics.quadrature import split_rule, unit_edges
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.inputs import mixture_mean
from giantstep.problems.problem import noise_power
from giantstep.problems.spiked_features import SpikedFeatures

# Width of the panels over kappa.
_PANEL_WIDTH = 0.125
# Number of nodes over the spectrum.
_SPECTRUM_NODES = 1000
# Damped iterations.
_ITERATIONS = 100
# Tolerance of SciPy's solver, and the largest relative residual that is accepted.
_TOLERANCE, _ACCEPTED = 1e-13, 1e-9


class SummaryStatistics(NamedTuple):
    """The unknowns, equation (17)."""

    V1: float
    V2: float
    m: float
    zeta: float
    psi: float
    q1: float
    q2: float


def result_3_3(srf: SpikedFeatures, alpha: float, ridge: float) -> tuple[SummaryStatistics, float]:
    """Solve the equations of Result 3.3, and compute the test error.

    Parameters
    ----------
    srf : SpikedFeatures
        With one group of neurons, a spike of one direction, labels that are not flipped and inputs
        without classes; `equivalent_features` (Result 3.1) has those of a protocol.
    alpha, ridge : float
        Both positive.

    Returns
    -------
    statistics : SummaryStatistics
    test_error : float

    Raises
    ------
    ValueError
        For other features.
    ArithmeticError
        If SciPy's solver does not find the solution, as for tiny ridges.

    Examples
    --------
    >>> from giantstep import Protocol
    >>> from giantstep.theory.first_layer.equivalent_features import equivalent_features
    >>> problem = Protocol("tanh", "sin", learning_rate=3, alpha0=20, beta=1)
    >>> statistics, test_error = result_3_3(equivalent_features(problem), alpha=0.9, ridge=0.1)
    >>> print(f"{statistics.zeta:.5f} {test_error:.5f}")
    0.04269 0.04250
    """
    if srf.further_spikes or srf.label_flips or mixture_mean(srf.inputs) is not None:
        raise ValueError("Result 3.3 has one spike, labels not flipped and inputs of one class")
    (c,), (u,), _, (bias,) = srf.groups
    beta, gamma, noise = srf.beta, srf.first_alignment, noise_power(srf)
    kappa, weight = split_rule(unit_edges(np.zeros(1), _PANEL_WIDTH))
    rho, nu = marchenko_pastur(beta, c)

    def average(values: Array) -> float:  # over kappa ~ N(0, 1)
        return float(weight @ values)

    # Equation (15), and the target given kappa = v.x: its mean, E y sigma_*, and what is left.
    activation = moments(lookup(srf.activation), bias + u * kappa, np.sqrt(c))
    mu0, mu1, mu2_squared = activation.mean, activation.slope / np.sqrt(c), activation.residual
    target = moments(lookup(srf.target), gamma * kappa, np.sqrt(1 - gamma**2))

    def equations(x: SummaryStatistics) -> tuple[SummaryStatistics, float]:
        # (21), (22): what a prediction gains from its own sample, and its variance given kappa.
        V = mu1**2 * x.V1 + mu2_squared * x.V2
        q = mu1**2 * (x.q1 - x.psi**2) + mu2_squared * x.q2
        # (23): b = sigma_* - mu0 m - kappa mu1 zeta - y mu1 psi, averaged over y ~ N(0, 1)
        b = target.mean - mu0 * x.m - kappa * mu1 * x.zeta
        y_b = target.slope - mu1 * x.psi
        b_squared = b**2 + y_b**2 + target.residual + noise
        # (18): the hats
        V1_hat = alpha / beta * average(mu1**2 / (1 + V))
        V2_hat = alpha / beta * average(mu2_squared / (1 + V))
        zeta_hat = alpha / beta * average(kappa * mu1 * b / (1 + V))
        psi_hat = alpha / beta * average((mu1 * y_b + mu1**2 * x.psi) / (1 + V))
        q1_hat = alpha / beta * average(mu1**2 * (b_squared + q) / (1 + V) ** 2)
        q2_hat = alpha / beta * average(mu2_squared * (b_squared + q) / (1 + V) ** 2)
        # (24): I(V1_hat, V2_hat), and the square of the same resolvent
        resolvent = 1 / (ridge + V1_hat * rho + V2_hat)
        integral = float(nu @ (rho * resolvent))
        T0, T1, T2 = (float(nu @ (rho**k * resolvent**2)) for k in range(3))
        spike = 1 - beta * V1_hat * integral
        # (19): how predictions respond, and their mean
        V1, V2 = float(nu @ (rho * resolvent)), float(nu @ resolvent)
        m = average(mu0 * (target.mean - kappa * mu1 * x.zeta) / (1 + V))
        m /= average(mu0**2 / (1 + V))
        zeta = beta * zeta_hat * (integral + beta * V1_hat * integral**2 / spike)
        psi = beta * psi_hat * integral
        # (20): their variances
        q1 = q1_hat * T2 + q2_hat * T1 + beta * psi_hat**2 * T2
        q1 += beta * zeta_hat**2 * (T2 - beta * integral**2) / spike**2
        q2 = q1_hat * T1 + q2_hat * T0 + beta * psi_hat**2 * T1 + beta * zeta_hat**2 * T1 / spike**2
        # (25): the test error
        return SummaryStatistics(V1, V2, m, zeta, psi, q1, q2), average(b_squared + q) - noise

    statistics = fixed_point(lambda x: equations(x)[0])
    return statistics, equations(statistics)[1]


def fixed_point(equations: Callable[[SummaryStatistics], SummaryStatistics]) -> SummaryStatistics:
    """Solve `equations(x) = x`."""

    def residual(x: Array) -> Array:
        return np.array(equations(SummaryStatistics(*x))) - x

    # Damped iteration of V1 and V2, which do not depend on the others; these are linear given V.
    start = SummaryStatistics(V1=1, V2=1, m=0, zeta=0, psi=0, q1=0, q2=0)
    for _ in range(_ITERATIONS):
        following = equations(start)
        start = start._replace(V1=(start.V1 + following.V1) / 2, V2=(start.V2 + following.V2) / 2)
    solution = root(residual, start, tol=_TOLERANCE)
    if np.max(np.abs(solution.fun)) > _ACCEPTED * np.max(np.abs(solution.x)):
        raise ArithmeticError("SciPy finds no solution: please take a larger ridge")
    return SummaryStatistics(*solution.x)


def marchenko_pastur(beta: float, c: float) -> tuple[Array, Array]:
    """Return nodes and weights over the eigenvalues of `W W^T`, beta d rows of squared norm c.

    Chebyshev's rule. The mass that it lacks is put at zero: the eigenvalues that vanish, if there
    are more rows than inputs, and the rule's error for the factor 1/rho, which matters near zero
    where beta is near one.
    """
    angle = np.pi * (np.arange(_SPECTRUM_NODES) + 0.5) / _SPECTRUM_NODES
    rho = 1 + beta + 2 * np.sqrt(beta) * np.cos(angle)
    nu = 2 * np.sin(angle) ** 2 / rho / _SPECTRUM_NODES
    return c * np.append(rho, 0.0), np.append(nu, 1 - nu.sum())
