"""The means of Result 3.3, and what they leave of the label: theory.md section 4, "Means"."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.linear_systems import TINY, solve_certified
from giantstep.theory.bulk.interface import SpikeResponse
from giantstep.theory.conditional_features import ConditionalFeatures
from giantstep.theory.fixed_point import Resolvent

# Directions of a span of functions below this share of their size are rounding, not functions.
_INDEPENDENT = 1e-12


@dataclass(frozen=True)
class Means:
    """m of each group, and what the mean prediction is made from.

    Attributes
    ----------
    m : Array, shape (S, G)
    prediction : Array, shape (S, rank + Z)
        Coefficients of the mean prediction M(kappa) in `LabelResidual.expressible`.
    slope : Array, shape (S, R)
        Coefficients in phi of P(kappa), its slope in z.
    along_hat : Array, shape (S, Z)
    across_hat : Array, shape (S, R)
        The hats of the overlaps along the spike and across it: zeta_hat and psi_hat.
    residual : Array, shape (S,)
    """

    m: Array
    prediction: Array
    slope: Array
    along_hat: Array
    across_hat: Array
    residual: Array


class LabelResidual:
    """What of the label a readout of given means leaves, as fixed functions of kappa.

    `h2 + M^2 - 2 M h - 2 P h_z` of theory.md section 4 is `target_residual + h_z^2 + (h - M)^2 -
    2 P h_z`. In an orthonormal basis e of what M can express the target h has a part beyond and M
    none, so that h - M is that part plus `sum delta e`: nothing large cancels, and at each point
    only the few coefficients of products of functions need be computed.

    Parameters
    ----------
    f : ConditionalFeatures
    beta : float

    Attributes
    ----------
    expressible : Array, shape (rank + Z, N)
        The functions that M combines: an orthonormal basis of span{mu0}, and `f.along`.
    to_m : Array, shape (G, rank)
        From coefficients in that basis to m.
    functions : Array, shape (J, N)
        The fixed functions.
    """

    def __init__(self, f: ConditionalFeatures, beta: float) -> None:
        self.beta = beta
        # mu0 in an orthonormal basis of its span: where the mu0 depend on one another (no spike,
        # or neurons of opposite sign) m is the solution of least norm.
        power = float(np.sum(f.weight * (f.mu0**2 + f.mu1**2 + f.mu2_squared)))
        spanning, self.to_m = _orthonormal(f.mu0, f.weight, np.sqrt(power))
        self.expressible = np.concatenate([spanning, f.along])
        basis, _ = _orthonormal(self.expressible, f.weight, 0.0)
        self.of_means = (self.expressible * f.weight) @ basis.T
        self.of_target = (basis * f.weight) @ f.h
        self.rows, self.columns = np.triu_indices(basis.shape[0])
        beyond = f.h - self.of_target @ basis
        self.functions = np.concatenate([
            (f.target_residual + f.h_z**2 + beyond**2)[None],
            2 * beyond * basis,
            np.where(self.rows == self.columns, 1, 2)[:, None]
            * basis[self.rows] * basis[self.columns],
            -2 * f.h_z * f.phi,
        ])  # fmt: skip

    def coefficients(self, mean: Means) -> Array:
        """Give the coefficients of the functions at every point, shape (S, J)."""
        delta = self.of_target - mean.prediction @ self.of_means
        ones = np.ones((delta.shape[0], 1))
        return np.concatenate(
            [ones, delta, delta[:, self.rows] * delta[:, self.columns], mean.slope], axis=-1
        )


def _orthonormal(functions: Array, weight: Array, least: float) -> tuple[Array, Array]:
    """Give an orthonormal basis of a span under the weight, and how to combine it.

    Returns
    -------
    basis : Array, shape (rank, N)
    combinations : Array, shape (F, rank)
        `basis = combinations^T functions`, up to the rounding that small combinations magnify: the
        basis itself is that of a span that differs from the given one by rounding only.
    """
    left, size, right = np.linalg.svd(functions * np.sqrt(weight), full_matrices=False)
    kept = size > _INDEPENDENT * max(float(size.max(initial=0.0)), least, TINY)
    combinations: Array = left[:, kept] / size[kept]
    with np.errstate(invalid="ignore", divide="ignore"):
        basis = right[kept] / np.sqrt(weight)
    # Far out, where the weight is nothing, the combinations say what the functions are.
    return np.where(weight > TINY, basis, combinations.T @ functions), combinations


def solve_means(
    f: ConditionalFeatures, at: Resolvent, fit: LabelResidual, response: SpikeResponse
) -> Means:
    """Solve the equations of theory.md section 4, "Means", for any bulk.

    The prediction's coefficients on `f.along` are `x = along zeta_hat + mixed psi_hat`. With
    `along = root root^T/ratio` the system in `root^-1 (x - mixed psi_hat)` is symmetric, and
    positive.
    """
    ratio = (at.alpha / fit.beta)[:, None]

    def expect(product: Array) -> Array:  # E[product / (1 + V)] at every point
        flat = f.fold(product.reshape(-1, f.weight.size))
        means: Array = (at.contraction @ flat.T).reshape(at.alpha.size, *product.shape[:-1])
        return means

    psi_hat = ratio * expect(f.phi * f.h_z)
    functions, rank = fit.expressible, fit.to_m.shape[1]
    matrix, right = expect(functions[:, None] * functions), expect(functions * f.h)
    vectors, size = _root(response.along, ratio)
    root = vectors * size[:, None, :]
    turn = np.zeros_like(matrix)
    turn[:, np.arange(rank), np.arange(rank)] = 1
    turn[:, rank:, rank:] = root
    offset = np.zeros_like(right)
    if response.mixed is not None:
        offset[:, rank:] = np.einsum("szr,sr->sz", response.mixed, psi_hat)
        right = right - np.einsum("sij,sj->si", matrix, offset)
    ridge = np.diag(np.arange(functions.shape[0]) >= rank).astype(float)
    system = turn.transpose(0, 2, 1) @ matrix @ turn + ridge
    turned = np.einsum("sij,si->sj", turn, right)
    x, residual = _solve_symmetric(system, turned)
    # The residual of the prediction on `f.along` is root^-T x: no large terms cancel.
    along_hat = ratio * np.einsum("srt,st->sr", vectors, x[:, rank:] / np.maximum(size, TINY))
    slope = np.einsum("srt,st->sr", response.across, psi_hat)
    if response.mixed is not None:
        slope = slope + np.einsum("szr,sz->sr", response.mixed, along_hat)
    prediction = np.einsum("sij,sj->si", turn, x) + offset
    return Means(
        m=prediction[:, :rank] @ fit.to_m.T,
        prediction=prediction,
        slope=slope,
        along_hat=along_hat,
        across_hat=psi_hat,
        residual=residual,
    )


def _root(P: Array, factor: Array) -> tuple[Array, Array]:
    """Give orthogonal U and sizes s, factor P = U diag(s^2) U^T; NaN where P is not finite."""
    if P.shape[-1] == 1:
        return np.ones_like(P), np.sqrt(P[:, 0] * factor)
    values, vectors = np.linalg.eigh(np.where(np.isfinite(P), P, 0.0))
    size = np.sqrt(np.maximum(values, 0.0) * factor)
    sound = np.all(np.isfinite(P), axis=(1, 2), keepdims=True)[:, :, 0]
    return vectors, np.where(sound, size, np.nan)


def _solve_symmetric(system: Array, right: Array) -> tuple[Array, Array]:
    """Solve positive systems, scaled by their diagonals; give also the relative residual."""
    norm = 1 / np.sqrt(np.maximum(np.einsum("sii->si", system), TINY))
    scaled = system * norm[:, :, None] * norm[:, None, :]
    x, residual = solve_certified(scaled, norm * right)
    return norm * x, residual
