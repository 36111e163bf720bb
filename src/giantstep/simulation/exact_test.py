"""The test error of a given network over Gaussian inputs, without samples: theory.md section 27.

Over the inputs of a class, the input of neuron i is Gaussian. Its feature is a sum over orthonormal
Hermite functions h_k of the coefficients `C_ik = E sigma(b_i + |w_i| z) h_k(z)`, and two features
have the second moment `sum_k C_ik C_jk rho_ij^k`, where rho_ij is the correlation of their inputs.
Features have `E[phi_i | theta.x = s] = sum_k C_ik rho_i^k h_k(s)`, with the correlation rho_i of
the input and theta.x.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from giantstep.arrays import Array, Mask
from giantstep.numerics.function_table import ScalarFunction
from giantstep.numerics.gaussian import (
    expectation,
    gaussian_rule,
    hermite_coefficients,
    hermite_polynomials,
)
from giantstep.numerics.scalar_functions import CLASS, lookup, shifted
from giantstep.problems.inputs import GAUSSIAN, mixture_mean
from giantstep.problems.problem import Problem
from giantstep.problems.targets import teacher_of
from giantstep.simulation.first_layer import FirstLayer
from giantstep.simulation.measurements import products
from giantstep.simulation.threads import Workers

# Terms of the series. The size of the last few bounds the rest, unless neurons' inputs are nearly
# the same.
_TERMS, _LAST = 60, 6
# The rest may have this share of the test error, or of the root mean square output: sampling over
# 10,000 inputs leaves about a hundredth.
_TRUNCATED = 1e-4
# Neurons whose products with all others are in the processor's cache at once.
_BLOCK = 32
# A coefficient below this share of the largest vanishes by symmetry.
_ROUNDING = 1e-13


def has_series(problem: Problem, layer: FirstLayer) -> bool:
    """Tell whether features and target have series: not for the Gaussian features of the theory."""
    gaussian = problem.inputs == GAUSSIAN or mixture_mean(problem.inputs) is not None
    teacher = teacher_of(problem.target)
    return gaussian and layer.conditional is None and (teacher is None or teacher.is_polynomial)


def exact_test(
    problem: Problem, layer: FirstLayer, readouts: Array, values: Array, pool: Workers
) -> tuple[Array, Array, Mask]:
    """Compute test errors and learned functions of one network.

    Parameters
    ----------
    problem : Problem
        One that `has_series`.
    layer : FirstLayer
    readouts : Array, shape (R, p)
        Over sqrt(p).
    values : Array, shape (S,)
        Of theta.x.
    pool : Workers

    Returns
    -------
    error : Array, shape (R,)
    learned : Array, shape (R, S)
        Mean output at the values.
    resolved : boolean array, shape (R,)
        Whether the series have converged.
    """
    network = _Network(problem, layer)
    mean = mixture_mean(problem.inputs)
    error, power, left = np.zeros((3, len(readouts)))
    for label in (0.0,) if mean is None else (-1.0, 1.0):
        share, shift = 1.0 if mean is None else 0.5, label * (mean or 0.0)
        C, own = network.coefficients(shift)
        of_target, product = network.with_target(C, readouts, label, shift)
        square, last = _second_moments(readouts, C, own, network.directions, pool)
        error += share * (of_target - 2 * product + square)
        power, left = power + share * square, left + share * np.abs(last)
    if mean is not None:
        C, _ = network.coefficients(0.0)
    terms = products(readouts, (C * network.powers).T)
    functions = np.stack([*hermite_polynomials(values, _TERMS - 1)])
    learned = products(terms, functions)
    last = products(terms[:, -_LAST:], functions[-_LAST:])
    resolved = left < _TRUNCATED * np.abs(error)
    resolved &= np.abs(last).max(axis=1) < _TRUNCATED * np.sqrt(np.abs(power))
    return error, learned, resolved


class _Network:
    """A network's features over Gaussian inputs.

    Attributes
    ----------
    directions : Array, shape (p, d)
        Unit vectors along the weights.
    overlaps : Array, shape (p, D)
        rho of each with the target's directions.
    powers : Array, shape (K, p)
        rho^k with the first.
    """

    def __init__(self, problem: Problem, layer: FirstLayer) -> None:
        weights, targets = layer.weights.astype(float), layer.directions.astype(float)
        self.problem, self.bias = problem, layer.bias.astype(float)
        self.activation = lookup(problem.activation)
        self.norms = np.linalg.norm(weights, axis=1)
        self.directions = weights / self.norms[:, None]
        self.overlaps = self.directions @ (targets / np.linalg.norm(targets, axis=1)[:, None]).T
        self.powers = self.overlaps[:, 0] ** np.arange(_TERMS)[:, None]

    def coefficients(self, shift: float) -> tuple[Array, Array]:
        """Compute C, shape (K, p), and features' second moments (p,), at a shift along theta."""
        bias = self.bias + shift * self.norms * self.overlaps[:, 0]
        if not (any(self.activation.kinks) or np.any(bias)):  # one rule, split at the origin
            return _series(self.activation, np.zeros(1), self.norms, float(self.norms.max()))
        blocks = np.array_split(np.arange(bias.size), math.ceil(bias.size / _BLOCK))
        parts = [_series(self.activation, bias[i], self.norms[i], self.norms[i]) for i in blocks]
        C, own = (np.concatenate(part, axis=-1) for part in zip(*parts, strict=True))
        return C, own

    def with_target(
        self, C: Array, readouts: Array, label: float, shift: float
    ) -> tuple[float, Array]:
        """Compute E y^2 and E y f of each readout over inputs of a class."""
        if self.problem.target == CLASS:
            return 1.0, label * products(readouts, C[0, :, None])[:, 0]
        if teacher := teacher_of(self.problem.target):
            weights = sum(
                coefficient * math.sqrt(math.factorial(sum(powers))) * C[sum(powers)]
                * np.prod(self.overlaps ** np.array(powers), axis=1)
                for powers, coefficient in teacher.terms.items()
            )  # fmt: skip
            return teacher.second_moments()[0], products(readouts, weights[:, None])[:, 0]
        target = shifted(lookup(self.problem.target), shift)
        weights = hermite_coefficients(target, _TERMS - 1) @ (C * self.powers)
        second = expectation(target, lambda s: target.value(s) ** 2)
        return second, products(readouts, weights[:, None])[:, 0]


def _series(
    activation: ScalarFunction, bias: Array, norms: Array, std: Array | float
) -> tuple[Array, Array]:
    """Compute the coefficients of neurons, shape (K, p), and the second moments of features.

    The rule is that for `bias` and `std`: on panels, since Hermite functions vary faster than what
    the trapezoidal rule is made for.
    """
    z, weights = gaussian_rule(replace(activation, strip=None, degree=None), bias, std)
    values = activation.value(bias[:, None] + norms[:, None] * z)
    functions, weighted = np.stack([*hermite_polynomials(z, _TERMS - 1)]), weights * values
    same = functions.shape[1] == 1
    C = functions[:, 0] @ weighted.T if same else np.einsum("kpn,pn->kp", functions, weighted)
    return C, np.sum(weighted * values, axis=-1)


def _second_moments(
    readouts: Array, C: Array, own: Array, directions: Array, pool: Workers
) -> tuple[Array, Array]:
    """Compute E f^2 of each readout, and the part of the last terms."""
    some = np.abs(C).max(axis=1) > _ROUNDING * np.abs(C).max()  # by symmetry half may vanish

    def block(start: int) -> Array:
        rows, others = slice(start, start + _BLOCK), slice(start, None)
        rho = directions[rows] @ directions[others].T
        kernel, term, last = np.zeros_like(rho), np.empty_like(rho), np.zeros_like(rho)
        for k in range(_TERMS - 1, -1, -1):  # Horner's rule
            kernel *= rho
            if some[k]:
                kernel += np.multiply.outer(C[k, rows], C[k, others], out=term)
            if k == _TERMS - _LAST:
                last = kernel * rho**k
        place = np.arange(len(rho))
        kernel[place, place], last[place, place] = own[rows], 0.0
        # Pairs with later neurons count for both.
        twice = np.where(np.arange(rho.shape[1]) < len(rho), 1.0, 2.0)
        of_rows, of_others = readouts[:, rows], readouts[:, others]
        parts = [products(of_rows, part * twice) * of_others for part in (kernel, last)]
        return np.sum(parts, axis=2)

    parts = pool.map_ahead(block, range(0, own.size, _BLOCK))
    square, last = np.sum(list(parts), axis=0)
    return square, last
