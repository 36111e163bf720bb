"""Result 3.3 for the square loss: overlaps and errors, by the linear algebra of section 4."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from giantstep.activations import Array
from giantstep.features import ConditionalFeatures, conditional_features
from giantstep.protocol import Grid, Problem, SpikedFeatures
from giantstep.resolvent import Resolvent, solve_resolvent, solve_two
from giantstep.srf import equivalent_features

# Below this share of the features' second moment mu0 is rounding, and m has no meaning.
_NO_MEAN = 1e-26
# Grid points solved together: bounds the memory of (points x nodes) arrays to some 100 MB.
_BATCH = 8192


class Status(IntEnum):
    """What may be done with a point of a solution."""

    CONVERGED = 0
    NOT_CONVERGED = 1
    UNSTABLE = 2

    @property
    def label(self) -> str:
        """The status as tables show it."""
        return self.name.lower()

    @property
    def advice(self) -> str:
        """What the user can do."""
        return {
            Status.CONVERGED: "every equation holds to rounding",
            Status.NOT_CONVERGED: (
                "the equations for V1, V2 have no finite solution that could be reached here;"
                " take a larger ridge, or move alpha away from beta"
            ),
            Status.UNSTABLE: (
                "the linear equations for the overlaps are singular to rounding here;"
                " take a larger ridge"
            ),
        }[self]


@dataclass(frozen=True)
class Solution:
    """Theory on a grid; every array has shape (alphas, ridges), and NaN where it failed.

    Attributes
    ----------
    test_error, training_error : Array
        Equation (25), and its counterpart on the training set.
    m, zeta, psi, q1, q2, V1, V2 : Array
        The overlaps, equation (17) and theory.md section 4.
    residual : Array
        Largest relative residual of all the equations.
    iterations, status : integer arrays
        Newton steps, and a `Status` per point.
    """

    test_error: Array
    training_error: Array
    m: Array
    zeta: Array
    psi: Array
    q1: Array
    q2: Array
    V1: Array
    V2: Array
    residual: Array
    iterations: NDArray[np.int64]
    status: NDArray[np.int64]


@dataclass(frozen=True)
class _Means:
    """m, zeta, psi with the hats of the last two, each of shape (S,)."""

    m: Array
    zeta: Array
    psi: Array
    zeta_hat: Array
    psi_hat: Array
    residual: Array


def _means(f: ConditionalFeatures, srf: SpikedFeatures, at: Resolvent) -> _Means:
    """Solve the equations of theory.md section 4, "Means"."""
    ratio = at.alpha / srf.beta
    V1, V2 = at.V.T

    def expect(values: Array) -> Array:  # E[values / (1 + V)] at every point
        return at.contraction @ (f.weight * values)

    psi_hat = ratio * expect(f.mu1 * f.h_z)
    linear = f.kappa * f.mu1
    A, B, C = expect(f.mu0**2), expect(f.mu0 * linear), expect(linear**2)
    H0, H1 = expect(f.mu0 * f.h), expect(linear * f.h)
    k = ratio * srf.beta * srf.bulk_variance * V2
    power = expect(f.mu0**2 + f.mu1**2 + f.mu2_squared)
    spiked = power * _NO_MEAN < A
    # Without a mean (no spike) the first equation is empty, and m = 0 the least solution.
    A, B, H0 = (np.where(spiked, x, e) for x, e in ((A, 1.0), (B, 0.0), (H0, 0.0)))
    matrix = np.stack([np.stack([A, B], -1), np.stack([k * B, 1 + k * C], -1)], -2)
    m, zeta = solve_two(matrix, np.stack([H0, k * H1], -1)).T
    zeta_hat = ratio * (H1 - B * m - C * zeta)
    gap = np.abs(A * m + B * zeta - H0) / (np.abs(A * m) + np.abs(B * zeta) + np.abs(H0) + 1e-300)
    return _Means(m, zeta, srf.beta * V1 * psi_hat, zeta_hat, psi_hat, gap)


def _solve_points(
    f: ConditionalFeatures, srf: SpikedFeatures, alpha: Array, ridge: Array
) -> dict[str, Array]:
    """Solve S points; every entry has shape (S,)."""
    at = solve_resolvent(f, srf, alpha, ridge)
    mean = _means(f, srf, at)
    beta, c = srf.beta, srf.bulk_variance
    # Residual of the mean prediction, squared, and what of the label the readout cannot see:
    # h2 + M^2 - 2 M h - 2 P h_z, without the cancellation of its largest terms.
    M = np.outer(mean.m, f.mu0) + np.outer(mean.zeta, f.kappa * f.mu1)
    P = np.outer(mean.psi, f.mu1)
    v0 = f.target_residual + f.h_z**2 + (f.h - M) ** 2 - 2 * P * f.h_z
    # Variances: (q1, q2) = T (q_hat + sources), where q_hat = b + N (q1, q2).
    coefficients = np.stack([f.mu1**2, f.mu2_squared])
    squared = (alpha / beta)[:, None] * at.contraction**2 * f.weight
    b = (squared * v0) @ coefficients.T
    N = np.einsum("sk,ik,jk->sij", squared, coefficients, coefficients, optimize=True)
    sources = beta * np.stack([mean.psi_hat**2, c * mean.zeta_hat**2], -1)
    right = np.einsum("sij,sj->si", at.T, b + sources)
    matrix = np.eye(2) - at.T @ N
    q = solve_two(matrix, right)
    v = v0 + q @ coefficients
    gap = np.max(np.abs(np.einsum("sij,sj->si", matrix, q) - right) / np.abs(q + 1e-300), axis=-1)
    with np.errstate(divide="ignore"):
        V = at.V / at.scale[:, None]
    return {
        "test_error": v @ f.weight - srf.noise,
        "training_error": at.scale**2 * ((at.contraction**2 * v) @ f.weight),
        "m": mean.m,
        "zeta": mean.zeta,
        "psi": mean.psi,
        "q1": q[:, 0],
        "q2": q[:, 1],
        "V1": V[:, 0],
        "V2": V[:, 1],
        "residual": np.maximum.reduce([at.residual, mean.residual, gap]),
        "iterations": at.iterations.astype(float),
        "converged": at.converged.astype(float),
    }


def solve(problem: Problem, grid: Grid) -> Solution:
    """Solve Result 3.3 on the whole grid at once.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
        A protocol is solved through its equivalent sRF (Result 3.1).
    grid : Grid
        Sample complexities and ridges.

    Returns
    -------
    Solution
        Arrays of shape (alphas, ridges). Points that failed hold NaN, and say so in `status`.
    """
    srf = equivalent_features(problem)
    features = conditional_features(srf)
    axes = np.meshgrid(np.asarray(grid.alpha), np.asarray(grid.ridge), indexing="ij")
    alpha, ridge = (axis.ravel() for axis in axes)
    with np.errstate(all="ignore"):  # what is not finite is marked as failed below
        parts = [
            _solve_points(features, srf, alpha[i : i + _BATCH], ridge[i : i + _BATCH])
            for i in range(0, alpha.size, _BATCH)
        ]
    return _collect({name: np.concatenate([p[name] for p in parts]) for name in parts[0]}, axes[0])


def _collect(flat: dict[str, Array], like: Array) -> Solution:
    """Shape the points into the grid, and blank out those that failed."""
    stable = np.isfinite(flat["test_error"]) & (flat["residual"] <= 1e-8)
    status = np.where(stable, Status.CONVERGED, Status.UNSTABLE)
    status = np.where(flat.pop("converged") > 0, status, Status.NOT_CONVERGED)
    iterations, residual = flat.pop("iterations"), flat.pop("residual")
    values = {
        name: np.where(status == Status.CONVERGED, value, np.nan).reshape(like.shape)
        for name, value in flat.items()
    }
    return Solution(
        **values,
        residual=residual.reshape(like.shape),
        iterations=iterations.astype(np.int64).reshape(like.shape),
        status=status.astype(np.int64).reshape(like.shape),
    )
