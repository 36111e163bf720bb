"""What the theory leaves out of a test error, as estimated relative corrections.

All vanish as d -> infinity: an answer of that limit has those of a large dimension. docs/trust.md
has the reason for each. Fitted constants are named below, with the benchmark they were fitted to;
other numbers are Gaussian moments: 3/2 is half of the fourth, 15 the sixth.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtri

from giantstep.arrays import Array
from giantstep.numerics.contraction import combined
from giantstep.numerics.linear_systems import TINY
from giantstep.numerics.quadrature import WIDE
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.problem import noise_power
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.activation_averages import mean_third_derivative
from giantstep.theory.features.conditional_features import (
    ROUNDING,
    ConditionalFeatures,
    NodesOverKappa,
    mean_inputs,
)
from giantstep.theory.features.conditional_target import target_rule
from giantstep.theory.features.sparse_rows import norm_variance
from giantstep.theory.first_layer.interface import FirstLayer

# Stands for the dimension of networks where none is given: the largest that is usually simulated.
LARGE_DIMENSION = 1000
# Fitted to networks of benchmarks/hunt.py, seed 4141. The first is the share of `sparse` that
# counts: all of it raises 2 % more alarms, and finds nothing more. The second is the share of a
# correction of first order that stays doubtful although the test error contains it: with none, one
# of three wrong answers is missed.
_SPARSE, _BEYOND_MEAN = 1 / 2, 1 / 3
# The share of `quadratic` that counts, fitted to seeds 7001 and 7003: all of it raises 2 % more
# alarms.
_QUADRATIC = 2 / 3
# alpha, shape (S,); V2, shape (S, G); minus the slope of g_out given kappa, and its mean square
# times the weights, shape (S, N').
Fluctuation = tuple[Array, Array, Array, Array]


class MeanFluctuation:
    """The test error that the fluctuation of m, the mean of the readout, adds.

    Parameters
    ----------
    f : ConditionalFeatures
    rule : NodesOverKappa
    dimension : float
    """

    def __init__(self, f: ConditionalFeatures, rule: NodesOverKappa, dimension: float) -> None:
        self.dimension = dimension
        self.kappa = np.abs(rule.half(f.projections)).max(axis=0)
        self.mean_power, pairs = (f.mu0 * f.weight) @ f.mu0.T, f.mu0[:, None] * f.mu0
        pairs = pairs.reshape(-1, f.weight.size)
        self.pairs, self.folded_pairs = rule.half(pairs), rule.fold(pairs)

    def at(self, alpha: Array, V2: Array, minus_dg: Array, power: Array) -> Array:
        """Compute it at S points; shapes are those of `Fluctuation`.

        The stiffness of a fit to n samples comes from inputs that are common enough to be among
        them. A sample moves the fit by its residual over one plus its leverage, which is largest
        for rare inputs.
        """
        n = alpha * self.dimension
        seen = self.kappa <= -ndtri(np.minimum(0.5 / n, 0.5))[:, None]
        stiffness = n[:, None] * ((minus_dg * seen) @ self.folded_pairs.T)
        stiffness = stiffness.reshape(V2.shape + V2.shape[1:]) + np.eye(V2.shape[1]) / V2[:, None]
        inverse = np.linalg.pinv(np.where(np.isfinite(stiffness), stiffness, 0), hermitian=True)
        squares = inverse @ self.mean_power @ inverse
        leverage = minus_dg * combined(inverse.reshape(n.size, -1), self.pairs)
        left = power / (1 + leverage) ** 2
        return n * np.einsum("sk,sk->s", left @ self.pairs.T, squares.reshape(n.size, -1))


class Reliability:
    """The corrections of one problem on the nodes of one rule.

    Parameters
    ----------
    layer : FirstLayer
        Without a finite dimension, estimates are those of `LARGE_DIMENSION`.
    f, rule
        As in `MeanFluctuation`.
    """

    def __init__(self, layer: FirstLayer, f: ConditionalFeatures, rule: NodesOverKappa) -> None:
        self.is_finite, srf = math.isfinite(layer.dimension), layer.features
        self.dimension = layer.dimension if self.is_finite else LARGE_DIMENSION
        self.pi = srf.groups.pi
        self.leading_components = layer.leading_components(f, rule)
        self.mean = MeanFluctuation(f, rule, self.dimension)
        self.weight = rule.fold(np.ones(f.kappa.size))
        linear = f.mu0**2 + srf.groups.c[:, None] * f.mu1**2
        residual = np.where(f.mu2_squared > ROUNDING * linear, f.mu2_squared, 0)
        self.mu2_squared = rule.half(residual * f.row_norm)
        self.own_output = layer.own_output(self.dimension)
        self.overlap = layer.row_overlap()
        self.chance = layer.learned_by_chance(self.dimension)
        # There are several nodes of each kappa: `sparse_rows`.
        kappa, place = np.unique(f.kappa, return_inverse=True)
        labels, u, weight = target_rule(srf, kappa, panel=WIDE)
        quadratic = _quadratic_target(labels, u, weight)[place]
        functions = np.stack([f.curvature**2, f.curvature * quadratic])
        self.of_curvature, weighted = rule.fold(functions), f.curvature * f.weight
        self.curvature_averages = weighted @ f.curvature.T, weighted @ quadratic
        squares = labels * labels
        powers = (np.einsum("nz,nz->n", x, weight) for x in (squares, squares * squares))
        square, fourth = (float(power[place] @ f.weight) for power in powers)
        kurtosis = fourth / max(square**2, TINY)
        samples = max(layer.batch * self.dimension, 1.0)
        share = max(1 - 1 / float(self.pi @ srf.groups.c), 0.0)  # the batch's part of rows
        self.first_batch = share * math.sqrt(kurtosis) / samples
        # tr C^2 over (tr C)^2 of the rows' covariance: one over the number of directions they span.
        narrowness = share**2 * kurtosis / (samples + kurtosis)
        narrowness += layer.row_power()[1] / self.dimension
        # Overlaps of two rows have the variance `narrowness`, those of squares and cubes its
        # powers.
        kappa, place = np.unique(rule.half(f.kappa), return_inverse=True)
        of_squares = self.pi * srf.groups.c**2 / 2 @ rule.half(f.curvature) ** 2
        spread = 2 * of_squares**2 + 15 * narrowness * (self.pi @ _cubes(srf, kappa))[place] ** 2
        self.uneven = narrowness * np.sqrt(srf.beta * self.dimension * spread)
        spread = norm_variance(srf, kappa) / (srf.beta * self.dimension)
        self.sparseness = ((spread / (1 + spread)) ** 2)[place]
        self.noise = rule.fold(self.pi @ (f.mu2_squared * f.row_norm)) / srf.beta
        self.signal = square - float(f.weight @ f.h) ** 2
        self.label_power = square + noise_power(srf)

    def at(
        self, fluctuation: Fluctuation, error: Array, variance: Array, m: Array, slope: Array
    ) -> dict[str, Array]:
        """Compute the corrections at S points, by name, shape (S,).

        The fluctuation of the mean is added to the test error at finite dimension.

        Parameters
        ----------
        fluctuation : Fluctuation
            The slope of g_out given kappa is 1/(1 + V) for the square loss.
        error, variance : Array, shape (S,)
            The test error, and the part of it that is the variance of predictions given kappa.
        m : Array, shape (S, G)
        slope : Array, shape (S,)
            d log(test error)/d log(alpha) where classes may be separable, zero elsewhere.
        """
        alpha, V2, minus_dg, power = fluctuation
        n = alpha * self.dimension
        of_mean = self.mean.at(alpha, V2, minus_dg, power)
        whole = error + (of_mean if self.is_finite else 0)
        explained = np.minimum(whole, self.label_power)
        share = np.minimum(variance / whole, 1)
        quadratic = self._quadratic(alpha, V2, minus_dg, m)
        signal = np.maximum(self.signal - (error - variance), 0)
        largest, sparse, uneven = self._concentration(n, power)
        noise = np.minimum(alpha * (V2 @ self.pi) * (minus_dg @ self.noise), 1)
        clearer = noise * uneven**2 / (1 + uneven**2)
        clearer *= signal / whole + (1 - noise) * share
        return {
            "test_error": whole,
            "reliability_unseen": share * largest,
            "reliability_sparse": _SPARSE * share * sparse,
            "reliability_mean": of_mean / whole * (_BEYOND_MEAN if self.is_finite else 1),
            "reliability_quadratic": np.hypot(_QUADRATIC * quadratic / explained, clearer),
            "reliability_first_batch": share * self.first_batch,
            "reliability_own_output": np.full(n.shape, self.own_output),
            "reliability_chance": np.full(n.shape, self.chance),
            "reliability_threshold": slope**2 / (2 * n + slope**2),
        }

    def _concentration(self, n: Array, power: Array) -> tuple[Array, Array, Array]:
        """Compute how few samples, and how few neurons, make up q2_hat, and how uneven noise is.

        The first is x/(1 + x), where 1/x is the effective number of samples that make up q2_hat:
        below one where most training sets have no input of the kind that matters. The second is the
        average of (x/(1 + x))^2, where x is the variance of the squared norm of a sample's
        features: to first order it is in the equations (`sparse_rows`). The third is the standard
        deviation over the neurons of the eigenvalues of the noise's covariance, given kappa: rows
        that span few directions respond to the squares and cubes of these alone.
        """
        noise = self.pi @ self.mu2_squared
        total = np.maximum(power @ noise, TINY**0.25)  # squares of ratios are finite
        share = (power**2 @ (noise**2 / np.maximum(self.weight, TINY**0.5))) / (n * total**2)
        sparse = power @ (noise * self.sparseness) / total
        return share / (1 + share), sparse, power @ self.uneven / total

    def _quadratic(self, alpha: Array, V2: Array, minus_dg: Array, m: Array) -> Array:
        """Compute how much of the target features quadratic in its directions fit."""
        squares, products = (minus_dg @ folded.T for folded in self.of_curvature)
        strength = 1.5 * alpha[:, None] * V2 * squares * self.overlap**2 / self.dimension
        # Each group of neurons is taken to fit it alone. The mean of the readout, whose entries may
        # be large and cancel, multiplies the mean square of the rows' projections.
        alone = products / np.maximum(squares, TINY) * strength / (1 + strength)
        shared = m * self.overlap / (math.sqrt(2) * self.dimension)
        pairs, products = self.curvature_averages
        squares = alone**2 @ np.diag(pairs) + np.sum((2 * alone + shared) @ pairs * shared, axis=-1)
        return np.abs(2 * (alone + shared) @ products - squares)


def _cubes(srf: SpikedFeatures, kappa: Array) -> Array:
    """Compute the variance of features that is cubic in the bulk, given kappa, of each group."""
    groups = zip(mean_inputs(srf, kappa), srf.groups.c, strict=True)
    third = [mean_third_derivative(lookup(srf.activation), k, math.sqrt(c)) for k, c in groups]
    return srf.groups.c[:, None] ** 3 / 6 * np.square(third)


def _quadratic_target(labels: Array, u: Array, weight: Array) -> Array:
    """Compute the target's coefficient in He2 of u across the spike, given kappa."""
    if len(u) == 1:
        return np.einsum("nz,nz->n", labels, weight * (u[0] ** 2 - 1)) / math.sqrt(2)
    pairs = [(i, j) for i in range(len(u)) for j in range(len(u))]
    squares = [np.sum(labels * weight * (u[i] * u[j] - (i == j)), axis=-1) ** 2 for i, j in pairs]
    return np.sqrt(np.sum(squares, axis=0) / 2)
