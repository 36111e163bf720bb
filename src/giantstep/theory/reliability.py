"""What the theory leaves out of a test error, as estimated relative corrections.

All vanish as d -> infinity: an answer of that limit has those of a large dimension. docs/trust.md
has the reason for each.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import ndtri

from giantstep.arrays import Array, Mask
from giantstep.numerics.gaussian import standard_moments
from giantstep.numerics.linear_systems import TINY
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.conditional_features import ConditionalFeatures, mean_curvatures
from giantstep.theory.features.conditional_target import target_rule
from giantstep.theory.features.network_state import NetworkState
from giantstep.theory.features.optimizers import plain_descent
from giantstep.theory.features.steps import network_states

# Stands for the dimension of networks where none is given: the largest that is usually simulated.
LARGE_DIMENSION = 1000
# Networks are off by about so much over the samples of the first batch: 4 samples by 15 %.
_FIRST_BATCH = 2 / 3


class Reliability:
    """The corrections of one problem on the nodes of one rule.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    srf : SpikedFeatures
        Those equivalent to it.
    f : ConditionalFeatures
    nodes : callable
        Chooses the nodes over kappa that are used, shape (..., N) to (..., N').
    fold : callable
        The same, times their weights.
    dimension : float
    """

    def __init__(
        self,
        problem: Problem,
        srf: SpikedFeatures,
        f: ConditionalFeatures,
        nodes: Callable[[Array], Array],
        fold: Callable[[Array], Array],
        dimension: float,
    ) -> None:
        self.is_finite = math.isfinite(dimension)
        self.dimension = LARGE_DIMENSION if math.isinf(dimension) else dimension
        self.pi = srf.groups.pi
        self.kappa = np.abs(nodes(f.projections)).max(axis=0)
        self.mu2_squared = nodes(f.mu2_squared * f.row_norm)
        self.mean_power = (f.mu0 * f.weight) @ f.mu0.T
        pairs = f.mu0[:, None] * f.mu0
        self.folded_pairs, self.pairs = fold(pairs), nodes(pairs)
        self.first_batch = _first_batch(problem, self.dimension)
        self.own_output = _own_output(problem, srf, self.dimension)
        self.overlap = _row_overlap(problem, srf)
        # There are several nodes of each kappa: `sparse_rows`.
        kappa, place = np.unique(f.kappa, return_inverse=True)
        curvature = np.zeros((self.pi.size, f.kappa.size))
        if lookup(srf.activation).continuous and f.beside.size:
            curvature = mean_curvatures(srf, f.kappa, 1, f.beside)
        elif lookup(srf.activation).continuous:
            curvature = mean_curvatures(srf, kappa)[:, place]
        functions = [curvature**2, curvature * _quadratic_target(srf, kappa)[place]]
        self.of_curvature = [fold(values) for values in functions]
        self.curvature_averages = [values @ f.weight for values in functions]
        self.label_power = float(f.weight @ (f.h**2 + f.slope_power + f.target_residual))

    def at(
        self,
        alpha: Array,
        V2: Array,
        minus_dg: Array,
        power: Array,
        test_error: Array,
        variance: Array,
    ) -> dict[str, Array]:
        """Compute the corrections at S points, by name, shape (S,).

        The fluctuation of the mean is added to the test error at finite dimension.

        Parameters
        ----------
        alpha, test_error : Array, shape (S,)
        V2 : Array, shape (S, G)
        minus_dg : Array, shape (S, N')
            The slope of g_out given kappa: 1/(1 + V) for the square loss.
        power : Array, shape (S, N')
            Its mean square, times the weights.
        variance : Array, shape (S,)
            What the variance of predictions given kappa has of the test error.
        """
        n = alpha * self.dimension
        seen = self.kappa <= -ndtri(np.minimum(0.5 / n, 0.5))[:, None]
        of_mean = self._of_mean(n, V2, minus_dg * seen, power * seen)
        whole = test_error + (of_mean if self.is_finite else 0)
        explained = np.minimum(whole, self.label_power)
        return {
            "test_error": whole,
            "reliability_unseen": self._lacking(power, seen) * np.minimum(variance / whole, 1),
            "reliability_mean": of_mean / whole,
            "reliability_quadratic": self._quadratic(alpha, V2, minus_dg) / explained,
            "reliability_first_batch": np.full(n.shape, self.first_batch),
            "reliability_own_output": np.full(n.shape, self.own_output),
        }

    def _lacking(self, power: Array, seen: Mask) -> Array:
        """Compute the share of q2_hat from inputs that a training set lacks.

        Where one is expected, beyond the n-th quantile of kappa, there is none with probability
        1/e.
        """
        of_kappa = power * (self.pi @ self.mu2_squared)
        share: Array = np.sum(of_kappa * ~seen, axis=-1)
        share /= math.e * np.maximum(of_kappa.sum(axis=-1), TINY)
        return share

    def _of_mean(self, n: Array, V2: Array, minus_dg: Array, power: Array) -> Array:
        """Compute what the fluctuation of m adds to the test error, from inputs that are seen."""
        stiffness = n[:, None, None] * np.einsum("sn,ghn->sgh", minus_dg, self.folded_pairs)
        stiffness = stiffness + np.eye(V2.shape[-1]) / V2[:, None, :]
        noise = n[:, None, None] * np.einsum("sn,ghn->sgh", power, self.pairs)
        inverse = np.linalg.pinv(np.where(np.isfinite(stiffness), stiffness, 0), hermitian=True)
        added: Array = np.einsum("sgh,shk,skl,lg->s", inverse, noise, inverse, self.mean_power)
        return added

    def _quadratic(self, alpha: Array, V2: Array, minus_dg: Array) -> Array:
        """Compute what features quadratic in the target's directions fit of the target."""
        squares, products = (minus_dg @ folded.T for folded in self.of_curvature)
        strength = 1.5 * alpha[:, None] * V2 * squares * self.overlap**2 / self.dimension
        x = products / np.maximum(squares, TINY) * strength / (1 + strength)
        squares, products = self.curvature_averages
        gain: Array = np.sum(2 * x * products - x**2 * squares, axis=-1)
        return np.abs(gain)


def _first_batch(problem: Problem, dimension: float) -> float:
    """Estimate what the fluctuating covariance of the first batch changes."""
    if not isinstance(problem, Protocol) or not 0 < problem.alpha0 < math.inf:
        return 0.0
    return _FIRST_BATCH / (problem.alpha0 * dimension)


def _own_output(problem: Problem, srf: SpikedFeatures, dimension: float) -> float:
    """Compute what the network's own output adds to rows in the first step, over their norm.

    With one letter and one step it is in the equations to first order. Several steps have it in
    the first of them.
    """
    if not isinstance(problem, Protocol) or problem.alpha0 == 0:
        return 0.0
    problem = plain_descent(problem)
    letters, fractions = np.array(problem.readout).T
    h1 = float(standard_moments(lookup(problem.activation)).slope)
    e, power = problem.learning_rate / problem.beta, float(fractions @ letters**2)
    c = float(srf.groups.pi @ srf.groups.c)
    if letters.size == 1:
        c = network_states(problem)[0].bulk_variance
    share = (e * h1**2) ** 2 * power / (problem.beta * dimension * max(c, 1))
    return share**2 if letters.size == problem.steps == 1 else share / problem.steps


def _row_overlap(problem: Problem, srf: SpikedFeatures) -> float:
    """Compute d times the variance of a bulk row's projection on the target: Sigma_tt."""
    c = float(np.max(srf.groups.c))
    if not isinstance(problem, Protocol) or len(problem.readout) > 1:
        return c
    state: NetworkState = network_states(plain_descent(problem))[-1]
    return float(np.max(np.linalg.eigvalsh(state.covariance[:-1, :-1])))


def _quadratic_target(srf: SpikedFeatures, kappa: Array) -> Array:
    """Compute the target's coefficient in He2 of u across the spike, given kappa."""
    labels, u, weight = target_rule(srf, kappa)
    if len(u) == 1:
        he2: Array = np.sum(labels * weight * (u[0] ** 2 - 1), axis=-1) / math.sqrt(2)
        return he2
    pairs = [(i, j) for i in range(len(u)) for j in range(len(u))]
    squares = [np.sum(labels * weight * (u[i] * u[j] - (i == j)), axis=-1) ** 2 for i, j in pairs]
    size: Array = np.sqrt(np.sum(squares, axis=0) / 2)
    return size
