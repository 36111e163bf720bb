"""The means of Result 3.3, and what they leave of the label: theory.md section 4, "Means"."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from giantstep.activations import Array
from giantstep.features import ConditionalFeatures
from giantstep.protocol import SpikedFeatures
from giantstep.resolvent import Resolvent
from giantstep.variances import TINY, solve_certified, triangle_of

# Directions of a span of functions below this share of their size are rounding, not functions.
_INDEPENDENT = 1e-12


@dataclass(frozen=True)
class Means:
    """m and zeta of each group, and what the mean prediction is made from.

    Attributes
    ----------
    m, zeta : Array, shape (S, G)
    prediction : Array, shape (S, rank + R)
        Coefficients of the mean prediction M(kappa) in `Misfit.expressible`.
    slope : Array, shape (S, R)
        Coefficients in phi of P(kappa), its slope in z; `psi = beta V1 B psi_hat` for each group.
    zeta_hat, psi_hat : Array, shape (S, R)
        B times these are the hats of each group.
    residual : Array, shape (S,)
    """

    m: Array
    zeta: Array
    prediction: Array
    slope: Array
    zeta_hat: Array
    psi_hat: Array
    residual: Array


class Misfit:
    """What of the label a readout of given means leaves, as fixed functions of kappa.

    `h2 + M^2 - 2 M h - 2 P h_z` of theory.md section 4 is `target_residual + h_z^2 + (h - M)^2 -
    2 P h_z`. In an orthonormal basis e of what M can express the target h has a part beyond and M
    none, so that h - M is that part plus `sum delta e`: nothing large cancels, and at each point
    only the few coefficients of products of functions need be computed.

    Parameters
    ----------
    f : ConditionalFeatures

    Attributes
    ----------
    expressible : Array, shape (rank + R, N)
        The functions that M combines: an orthonormal basis of span{mu0}, and kappa phi.
    to_m : Array, shape (G, rank)
        From coefficients in that basis to m.
    functions : Array, shape (J, N)
        The fixed functions.
    """

    def __init__(self, f: ConditionalFeatures) -> None:
        # mu0 in an orthonormal basis of its span: where the mu0 depend on one another (no spike,
        # or neurons of opposite sign) m is the solution of least norm.
        power = float(np.sum(f.weight * (f.mu0**2 + f.mu1**2 + f.mu2_squared)))
        spanning, self.to_m = _orthonormal(f.mu0, f.weight, np.sqrt(power))
        self.expressible = np.concatenate([spanning, f.kappa * f.phi])
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


def solve_means(f: ConditionalFeatures, srf: SpikedFeatures, at: Resolvent, fit: Misfit) -> Means:
    """Solve the equations of theory.md section 4, "Means".

    Between the functions phi, `zeta_hat = B zeta'` and `B^T zeta = beta P zeta'` with
    `P = B^T D B`, D = diag(pi c q) = diag(c V2).
    """
    c, triangle = srf.groups.c, triangle_of(f.B.shape[1])
    ratio = (at.alpha / srf.beta)[:, None]
    V1, V2 = triangle.unpack(at.V[:, : triangle.size]), at.V[:, triangle.size :]

    def expect(product: Array) -> Array:  # E[product / (1 + V)] at every point
        flat = f.fold(product.reshape(-1, f.weight.size))
        means: Array = (at.contraction @ flat.T).reshape(at.alpha.size, *product.shape[:-1])
        return means

    psi_hat = ratio * expect(f.phi * f.h_z)
    functions, rank = fit.expressible, fit.to_m.shape[1]
    matrix, right = expect(functions[:, None] * functions), expect(functions * f.h)
    # With B^T zeta = root x, root root^T = alpha P, the system is symmetric, and positive.
    vectors, size = _root((f.B.T * (c * V2)[:, None, :]) @ f.B, srf.beta * ratio)
    root = vectors * size[:, None, :]
    turn = np.zeros_like(matrix)
    turn[:, np.arange(rank), np.arange(rank)] = 1
    turn[:, rank:, rank:] = root
    ridge = np.diag(np.arange(functions.shape[0]) >= rank).astype(float)
    system = turn.transpose(0, 2, 1) @ matrix @ turn + ridge
    turned = np.einsum("sij,si->sj", turn, right)
    x, residual = _solve_symmetric(system, turned)
    prediction = np.einsum("sij,sj->si", turn, x)
    # The residual of the prediction on kappa phi is root^-T x: no large terms cancel.
    zeta_hat = ratio * np.einsum("srt,st->sr", vectors, x[:, rank:] / np.maximum(size, TINY))
    return Means(
        m=prediction[:, :rank] @ fit.to_m.T,
        zeta=srf.beta * c * V2 * (zeta_hat @ f.B.T),
        prediction=prediction,
        slope=srf.beta * np.einsum("srt,st->sr", V1, psi_hat),
        zeta_hat=zeta_hat,
        psi_hat=psi_hat,
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
