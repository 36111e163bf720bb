"""The means m, zeta, psi of Result 3.3, (19), and the label's residual: theory.md section 4."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from giantstep.arrays import Array, Indices
from giantstep.numerics.linear_systems import TINY, multiply, solve_certified
from giantstep.theory.features.conditional_features import ConditionalFeatures
from giantstep.theory.readout.fixed_point import Resolvent
from giantstep.theory.readout.mean_penalty import MeanPenalty
from giantstep.theory.rows.interface import Hats, SpikeResponse

# Singular values of a set of functions below this fraction of the largest are rounding.
_INDEPENDENT = 1e-12


@dataclass(frozen=True)
class Means(Hats):
    """m of each group with the hats of the overlaps, and coefficients of the mean prediction.

    Attributes
    ----------
    prediction : Array, shape (S, rank + Z)
        Coefficients of the mean prediction M(kappa) in `LabelResidual.expressible`.
    slope : Array, shape (S, D R)
        Coefficients in phi of P(kappa), the slope of the prediction in each z across the spike.
    residual : Array, shape (S,)
        Relative residual of the linear equations.
    """

    prediction: Array
    slope: Array
    residual: Array

    def at(self, chosen: Indices) -> Means:
        """Select some of the points."""
        return Means(**{name: values[chosen] for name, values in vars(self).items()})


class LabelResidual:
    """The squared residual of the label given kappa, `h2 + M^2 - 2 M h - 2 P.h_z`.

    It is the mean of (23) squared plus the part of (22) with psi: the rest of (22) is linear in the
    variances. It comes times the weights of the nodes of `f.half`.

    Parameters
    ----------
    f : ConditionalFeatures
    beta : float
    penalised : bool
        Whether there is a penalty on m, so that all its entries matter.

    Attributes
    ----------
    to_m : Array, shape (G, rank)
        Maps coefficients in an orthonormal basis of span{mu0} to m; the identity if m is penalised.
    expressible : Array, shape (rank + Z, N)
        The functions of which M is a combination: that basis or the mu0, and `f.along`.
    """

    def __init__(self, f: ConditionalFeatures, beta: float, penalised: bool = False) -> None:
        self.features, self.beta = f, beta
        self.to_m = np.eye(len(f.mu0)) if penalised else _to_independent(f)
        functions = self.expressible = np.concatenate([self.to_m.T @ f.mu0, f.along])
        root, beyond = np.sqrt(f.weight * (1 + f.mirrored)), f.target_residual + f.slope_power
        parts = list(zip(f.parts(root * f.h), f.parts(root * functions), strict=True))
        beyond = f.fold(beyond) + sum(h**2 for h, known in parts if not known.any())
        # What coefficients, after a one for the first, are multiplied with.
        self._beyond = np.vstack([beyond, -f.fold(f.across)])
        self._parts = [np.vstack([h, -known]) for h, known in parts if known.any()]
        self._spread = [] if f.mean_spread is None else f.parts(root * f.mean_spread)
        averaged = [functions[:, None] * functions, functions * f.h, f.across]
        if f.mean_spread is not None:
            averaged.append(f.mean_spread[:, None] * f.mean_spread)
        by_node = [(f.fold(x), x.shape[:-1]) for x in averaged]
        self._averaged = [(x.reshape(-1, x.shape[-1]).T, shape) for x, shape in by_node]

    def averages(self, at: Resolvent) -> list[Array]:
        """Average functions of kappa times the contraction, E[f/(1 + V)], at S points.

        They are the products of two expressible functions, of these and the label, `f.across` and,
        if there are any, the products of two functions `f.mean_spread`.
        """
        return [(at.contraction @ x).reshape(-1, *shape) for x, shape in self._averaged]

    def at(self, both: tuple[Means, Means]) -> Array:
        """Compute it at S points, shape (S, N'), on the nodes of `f.half`: averaged over +-kappa.

        For two readouts it is the product of their residuals. If the norms of inputs spread the
        means, the product of their `sum m mean_spread` is added; if the norms of features vary,
        `(1 - row_norm) P Q`, where P and Q are the slopes of the two.
        """
        f, different = self.features, both[:1] if both[0] is both[1] else both
        ones = np.ones(len(both[0].m))
        residual: Array = np.column_stack([ones, both[0].slope + both[1].slope]) @ self._beyond
        predictions = [np.column_stack([ones, one.prediction]) for one in different]
        for functions in self._parts:  # as a square of h - M, in which nothing large cancels
            missed = [one @ functions for one in predictions]
            residual += missed[0] * missed[-1]
        for spread in self._spread:
            products = [one.m @ spread for one in different]
            residual += products[0] * products[-1]
        if np.any(f.row_norm != 1):
            shape, phi = (len(residual), len(f.h_z), len(f.phi)), f.half(f.phi)
            P, Q = (one.slope.reshape(shape) @ phi for one in both)
            residual += f.fold(1 - f.row_norm) * np.sum(P * Q, axis=1)
        return residual


def _to_independent(f: ConditionalFeatures) -> Array:
    """Find combinations of the mu0, shape (G, rank), that are orthonormal.

    Where the mu0 are linearly dependent (no spike, or neurons of opposite sign) m is the solution
    of least norm.
    """
    left, size, _ = np.linalg.svd(f.mu0 * np.sqrt(f.weight), full_matrices=False)
    power = float(np.sum(f.weight * (f.mu0**2 + f.mu1**2 + f.mu2_squared)))
    kept = size > _INDEPENDENT * max(float(size.max(initial=0.0)), math.sqrt(power), TINY)
    return left[:, kept] / size[kept]


def solve_means(
    at: Resolvent, label_residual: LabelResidual, response: SpikeResponse, penalty: MeanPenalty
) -> Means:
    """Solve (19) for the means, for any bulk: theory.md section 4, and section 12 for finite d.

    The coefficients of the prediction on `f.along` are `along zeta_hat + mixed psi_hat`. The hats
    zeta_hat are unknowns, since digits would cancel in the expectation of h - M that they are.
    """
    ratio, Z = (at.alpha / label_residual.beta)[:, None], len(label_residual.features.along)
    (K, to_hats), rank = overlap_response(response, Z), label_residual.to_m.shape[1]
    matrix, right, slopes, *spread = label_residual.averages(at)
    psi_hat, offset = ratio * slopes, np.zeros(right.shape)
    offset[:, rank:] = np.einsum("szr,sr->sz", K[:, :Z, Z:], psi_hat)
    to_coefficients = np.zeros(matrix.shape)
    to_coefficients[:, :rank, :rank] = np.eye(rank)
    to_coefficients[:, rank:, rank:] = ratio[:, :, None] * K[:, :Z, :Z]
    system = multiply(matrix, to_coefficients)
    system[:, rank:, rank:] += np.eye(Z)
    if math.isfinite(penalty.width):
        system[:, :rank, :rank] += penalty.matrix(response) / ratio[:, :, None]
    for products in spread:
        system[:, :rank, :rank] += products
    x, residual = solve_certified(system, right - multiply(matrix, offset))
    prediction = multiply(to_coefficients, x) + offset
    hats = np.concatenate([ratio * x[:, rank:], psi_hat], axis=-1)
    slope = np.einsum("srx,sx->sr", K[:, Z:], hats)
    m = prediction[:, :rank] @ label_residual.to_m.T
    return Means(hats @ to_hats, m, prediction, slope, residual)


def overlap_response(response: SpikeResponse, functions: int) -> tuple[Array, Array]:
    """Return K for so many functions along the spike, and what maps their hats to those of K.

    Those beyond `response.along` are for overlaps across it, of inputs that have a mean there.
    """
    size = response.K.shape[-1]
    order = np.r_[:functions, response.along : size]
    return response.K[:, order][:, :, order], np.eye(size)[order]
