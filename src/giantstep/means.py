"""The means of Result 3.3, and what they leave of the label: theory.md section 4, "Means"."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from giantstep.activations import Array
from giantstep.features import ConditionalFeatures
from giantstep.protocol import SpikedFeatures
from giantstep.resolvent import Resolvent
from giantstep.variances import solve_small, triangle_of

# Directions of a span of functions below this share of their size are rounding, not functions.
_INDEPENDENT = 1e-12
# Stands for zero where a ratio is taken.
_TINY = 1e-300


@dataclass(frozen=True)
class Means:
    """m, zeta, psi with the hats of the last two, each of shape (S, G)."""

    m: Array
    zeta: Array
    psi: Array
    zeta_hat: Array
    psi_hat: Array
    residual: Array


def solve_means(f: ConditionalFeatures, srf: SpikedFeatures, at: Resolvent) -> Means:
    """Solve the equations of theory.md section 4, "Means"."""
    groups, triangle = srf.groups, triangle_of(srf.groups.c.size)
    ratio = (at.alpha / srf.beta)[:, None]
    V1, V2 = triangle.unpack(at.V[:, : triangle.size]), at.V[:, triangle.size :]

    def expect(product: Array) -> Array:  # E[product / (1 + V)] at every point
        flat = f.fold(product.reshape(-1, f.weight.size))
        means: Array = (at.contraction @ flat.T).reshape(at.alpha.size, *product.shape[:-1])
        return means

    psi_hat = ratio * expect(f.mu1 * f.h_z)
    psi = srf.beta * np.einsum("sgh,sh->sg", V1, psi_hat)

    # mu0 in an orthonormal basis of its span: where the mu0 depend on one another (no spike, or
    # neurons of opposite sign) m is the solution of least norm.
    basis, to_m = _span(f)
    linear = f.kappa * f.mu1
    A = expect(basis[:, None] * basis)
    B = expect(basis[:, None] * linear)
    C = expect(linear[:, None] * linear)
    # With zeta = root * zeta' the system is symmetric, and positive.
    root = np.sqrt(ratio * srf.beta * groups.c * V2)
    B_root, C_root = B * root[:, None, :], C * root[:, :, None] * root[:, None, :]
    identity = np.eye(groups.c.size)
    upper = np.concatenate([A, B_root], axis=2)
    lower = np.concatenate([B_root.transpose(0, 2, 1), identity + C_root], axis=2)
    matrix = np.concatenate([upper, lower], axis=1)
    H0, H1 = expect(basis * f.h), expect(linear * f.h)
    right = np.concatenate([H0, root * H1], axis=-1)
    norm = 1 / np.sqrt(np.einsum("sii->si", matrix))
    scaled = matrix * norm[:, :, None] * norm[:, None, :]
    solution = norm * solve_small(scaled, norm * right)
    rank = basis.shape[0]
    coefficients, zeta = solution[:, :rank], root * solution[:, rank:]
    prediction = np.einsum("srg,sr->sg", B, coefficients) + np.einsum("sgh,sh->sg", C, zeta)
    gap = np.einsum("sij,sj->si", matrix, solution) - right
    size = np.einsum("sij,sj->si", np.abs(matrix), np.abs(solution)) + np.abs(right)
    return Means(
        m=coefficients @ to_m.T,
        zeta=zeta,
        psi=psi,
        zeta_hat=ratio * (H1 - prediction),
        psi_hat=psi_hat,
        residual=np.max(np.abs(gap) / np.maximum(size, _TINY), axis=-1),
    )


def _span(f: ConditionalFeatures) -> tuple[Array, Array]:
    """Give an orthonormal basis of span{mu0}, shape (rank, N), and its map back to m, (G, rank)."""
    left, size, right = np.linalg.svd(f.mu0 * np.sqrt(f.weight), full_matrices=False)
    power = np.sum(f.weight * (f.mu0**2 + f.mu1**2 + f.mu2_squared))
    kept = size > _INDEPENDENT * np.sqrt(power)
    with np.errstate(invalid="ignore", divide="ignore"):
        basis = right[kept] / np.sqrt(f.weight)
    # Where the weight underflows a basis function is what combines mu0 there.
    basis = np.where(np.isfinite(basis), basis, (left[:, kept] / size[kept]).T @ f.mu0)
    return basis, left[:, kept] / size[kept]


class Misfit:
    """What of the label a readout of given means leaves, as fixed functions of kappa.

    `h2 + M^2 - 2 M h - 2 P h_z` of theory.md section 4 is `target_residual + h_z^2 + (h - M)^2 -
    2 P h_z`. In an orthonormal basis e of span{mu0, kappa mu1} the target h has a part beyond the
    span and M none, so that h - M is that part plus `sum delta e`: nothing large cancels, and at
    each point only the few coefficients of products of functions need be computed.

    Parameters
    ----------
    f : ConditionalFeatures
    """

    def __init__(self, f: ConditionalFeatures) -> None:
        span = _expressible(f)
        root = np.sqrt(f.weight)
        left, size, _ = np.linalg.svd(span * root, full_matrices=False)
        kept = size > _INDEPENDENT * max(float(size[0]), _TINY)
        self.to_basis = left[:, kept] / np.maximum(size[kept], _TINY)
        basis = self.to_basis.T @ span
        self.of_means = (span * f.weight) @ basis.T
        self.of_target = (basis * f.weight) @ f.h
        self.rows, self.columns = np.triu_indices(basis.shape[0])

    def functions(self, f: ConditionalFeatures) -> Array:
        """Give the functions on the nodes of some rule, shape (J, N)."""
        basis = self.to_basis.T @ _expressible(f)
        beyond = f.h - self.of_target @ basis
        return np.concatenate([
            (f.target_residual + f.h_z**2 + beyond**2)[None],
            2 * beyond * basis,
            np.where(self.rows == self.columns, 1, 2)[:, None]
            * basis[self.rows] * basis[self.columns],
            -2 * f.h_z * f.mu1,
        ])  # fmt: skip

    def coefficients(self, mean: Means) -> Array:
        """Give the coefficients of the functions at every point, shape (S, J)."""
        means = np.concatenate([mean.m, mean.zeta], axis=-1)
        delta = self.of_target - means @ self.of_means
        ones = np.ones((delta.shape[0], 1))
        return np.concatenate(
            [ones, delta, delta[:, self.rows] * delta[:, self.columns], mean.psi], axis=-1
        )


def _expressible(f: ConditionalFeatures) -> Array:
    """Give the functions of kappa that the mean prediction combines, shape (2 G, N)."""
    return np.concatenate([f.mu0, f.kappa * f.mu1])
