"""What the theory leaves out of a test error, as estimated relative corrections.

All vanish as d -> infinity: an answer of that limit has those of a large dimension. docs/trust.md
has the reason for each.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import ndtri

from giantstep.arrays import Array
from giantstep.numerics.gaussian import standard_moments
from giantstep.numerics.linear_systems import TINY
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.coloured_step import coloured_step
from giantstep.theory.features.conditional_features import ConditionalFeatures
from giantstep.theory.features.conditional_target import target_rule
from giantstep.theory.features.network_state import NetworkState
from giantstep.theory.features.optimizers import plain_descent
from giantstep.theory.features.sparse_rows import norm_variance
from giantstep.theory.features.steps import network_states

# Stands for the dimension of networks where none is given: the largest that is usually simulated.
LARGE_DIMENSION = 1000
# What random problems beside networks have left of each estimate.
_UNSEEN, _SPARSE, _BEYOND_MEAN, _OWN_OUTPUT = 1 / 8, 1 / 4, 1 / 3, 1 / 10


class MeanFluctuation:
    """What the fluctuation of m, the mean of the readout, adds to the test error.

    Parameters
    ----------
    f : ConditionalFeatures
    nodes : callable
        Chooses the nodes over kappa that are used, shape (..., N) to (..., N').
    fold : callable
        The same, times their weights.
    dimension : float
    """

    def __init__(
        self,
        f: ConditionalFeatures,
        nodes: Callable[[Array], Array],
        fold: Callable[[Array], Array],
        dimension: float,
    ) -> None:
        self.dimension = dimension
        self.kappa = np.abs(nodes(f.projections)).max(axis=0)
        self.mean_power = (f.mu0 * f.weight) @ f.mu0.T
        pairs = f.mu0[:, None] * f.mu0
        self.folded_pairs, self.pairs = fold(pairs), nodes(pairs)

    def at(self, alpha: Array, V2: Array, minus_dg: Array, power: Array) -> Array:
        """Compute it at S points, from inputs that are seen; shapes are those of `Reliability`."""
        n = alpha * self.dimension
        seen = self.kappa <= -ndtri(np.minimum(0.5 / n, 0.5))[:, None]
        stiffness = n[:, None, None] * np.einsum("sn,ghn->sgh", minus_dg * seen, self.folded_pairs)
        stiffness = stiffness + np.eye(V2.shape[-1]) / V2[:, None, :]
        noise = n[:, None, None] * np.einsum("sn,ghn->sgh", power * seen, self.pairs)
        inverse = np.linalg.pinv(np.where(np.isfinite(stiffness), stiffness, 0), hermitian=True)
        return np.einsum("sgh,shk,skl,lg->s", inverse, noise, inverse, self.mean_power)


class Reliability:
    """The corrections of one problem on the nodes of one rule.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    srf : SpikedFeatures
        Those equivalent to it.
    f, nodes, fold
        As in `MeanFluctuation`.
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
        self.mean = MeanFluctuation(f, nodes, fold, self.dimension)
        self.weight = fold(np.ones(f.kappa.size))
        self.mu2_squared = nodes(f.mu2_squared * f.row_norm)
        self.own_output = _own_output(problem, srf, self.dimension)
        self.overlap = _row_overlap(problem, srf)
        # There are several nodes of each kappa: `sparse_rows`.
        kappa, place = np.unique(f.kappa, return_inverse=True)
        spread = norm_variance(srf, kappa) / (srf.beta * self.dimension)
        self.sparseness = nodes(((spread / (1 + spread)) ** 2)[place])
        labels, u, weight = target_rule(srf, kappa)
        quadratic = _quadratic_target(labels, u, weight)[place]
        functions = [f.curvature**2, f.curvature * quadratic]
        self.of_curvature = [fold(values) for values in functions]
        self.curvature_averages = [values @ f.weight for values in functions]
        squares = labels**2
        square, fourth = (
            float(f.weight @ np.sum(powers * weight, axis=-1)[place])
            for powers in (squares, squares**2)
        )
        kurtosis = fourth / max(square, TINY) ** 2
        share, samples = _first_batch(problem, srf, self.dimension)
        self.first_batch = share * math.sqrt(kurtosis) / samples
        self.label_power = float(f.weight @ (f.h**2 + f.slope_power + f.target_residual))

    def at(
        self,
        alpha: Array,
        V2: Array,
        minus_dg: Array,
        power: Array,
        test_error: Array,
        variance: Array,
        amplified: Array | float = 1.0,
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
        amplified : Array, shape (S,), or float
            How much larger it is for the noise that the readout itself adds to residuals.
        """
        n = alpha * self.dimension
        of_mean = self.mean.at(alpha, V2, minus_dg, power)
        whole = test_error + (of_mean if self.is_finite else 0)
        explained = np.minimum(whole, self.label_power)
        share = amplified * np.minimum(variance / whole, 1)
        largest, sparse = self._concentration(n, power)
        return {
            "test_error": whole,
            "reliability_unseen": _UNSEEN * share * largest,
            "reliability_sparse": _SPARSE * share * sparse,
            "reliability_mean": of_mean / whole * (_BEYOND_MEAN if self.is_finite else 1),
            "reliability_quadratic": self._quadratic(alpha, V2, minus_dg) / explained,
            "reliability_first_batch": np.minimum(share, 1) * self.first_batch,
            "reliability_own_output": np.full(n.shape, self.own_output),
        }

    def _concentration(self, n: Array, power: Array) -> tuple[Array, Array]:
        """Compute how few samples, and how few neurons, q2_hat is made of.

        The first is x/(1 + x), where x is the share of a sample on which q2_hat is expected to
        come: above one where a training set mostly has no input of this kind. The second is the
        average of the same of the variance of the squared norm of a sample's features, squared,
        since to first order it is in the equations: `sparse_rows`.
        """
        of_kappa = power * (self.pi @ self.mu2_squared)
        total = np.maximum(of_kappa.sum(axis=-1), TINY)
        share = (of_kappa**2 @ (1 / np.maximum(self.weight, TINY))) / (n * total**2)
        return share / (1 + share), of_kappa @ self.sparseness / total

    def _quadratic(self, alpha: Array, V2: Array, minus_dg: Array) -> Array:
        """Compute what features quadratic in the target's directions fit of the target."""
        squares, products = (minus_dg @ folded.T for folded in self.of_curvature)
        strength = 1.5 * alpha[:, None] * V2 * squares * self.overlap**2 / self.dimension
        x = products / np.maximum(squares, TINY) * strength / (1 + strength)
        squares, products = self.curvature_averages
        gain: Array = np.sum(2 * x * products - x**2 * squares, axis=-1)
        return np.abs(gain)


def _first_batch(problem: Problem, srf: SpikedFeatures, dimension: float) -> tuple[float, float]:
    """Compute the share of a row that batches make up, and the number of their samples."""
    if not isinstance(problem, Protocol) or not 0 < problem.alpha0 < math.inf:
        return 0.0, math.inf
    share = max(1 - 1 / float(srf.groups.pi @ srf.groups.c), 0.0)
    return share, problem.alpha0 * dimension * problem.steps


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
    one = letters.size == problem.steps == 1
    return _OWN_OUTPUT * (share**2 if one else share / problem.steps)


def _row_overlap(problem: Problem, srf: SpikedFeatures) -> float:
    """Compute d times the variance of a bulk row's projection on the target: Sigma_tt."""
    c = float(np.max(srf.groups.c))
    if isinstance(problem, Protocol) and problem.has_covariance:
        step = coloured_step(problem)
        return float(step.weights @ step.bulk)
    if not isinstance(problem, Protocol) or len(problem.readout) > 1:
        return c
    state: NetworkState = network_states(plain_descent(problem))[-1]
    return float(np.max(np.linalg.eigvalsh(state.covariance[:-1, :-1])))


def _quadratic_target(labels: Array, u: Array, weight: Array) -> Array:
    """Compute the target's coefficient in He2 of u across the spike, given kappa."""
    if len(u) == 1:
        return np.sum(labels * weight * (u[0] ** 2 - 1), axis=-1) / math.sqrt(2)
    pairs = [(i, j) for i in range(len(u)) for j in range(len(u))]
    squares = [np.sum(labels * weight * (u[i] * u[j] - (i == j)), axis=-1) ** 2 for i, j in pairs]
    return np.sqrt(np.sum(squares, axis=0) / 2)
