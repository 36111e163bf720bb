"""Many small linear systems at once."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array, RealOrComplex

# Stands for zero where a logarithm or a ratio is taken.
TINY = 1e-300
# More systems than this of two equations are solved faster together than one by one.
_MANY = 30
# A direction with a smaller share of the total variance is rounding.
_ROUNDING = 1e-12


def solve_small(matrix: RealOrComplex, right: RealOrComplex) -> RealOrComplex:
    """Solve small systems; singular ones yield NaN.

    Parameters
    ----------
    matrix : array, shape (S, K, K)
    right : array, shape (S, K) or (S, K, R)

    Returns
    -------
    array, of the shape of `right`
    """
    vector = right.ndim == matrix.ndim - 1
    right = right[..., None] if vector else right
    if matrix.shape[-1] <= 2 and len(matrix) > _MANY:
        solution = _solve_by_columns(matrix, right)
    else:
        try:
            solution = np.linalg.solve(matrix, right)
        except np.linalg.LinAlgError:
            regular = np.abs(np.linalg.det(matrix)) > 0
            solution = np.full_like(right + matrix[..., :1], np.nan)
            solution[regular] = np.linalg.solve(matrix[regular], right[regular])
    return solution[..., 0] if vector else solution


def _solve_by_columns(matrix: RealOrComplex, right: RealOrComplex) -> RealOrComplex:
    """Solve one or two equations each by elimination, of all systems at once."""
    if matrix.shape[-1] < 2:
        return right / np.where(matrix == 0, np.nan, matrix)
    (a, b), (c, d) = matrix.transpose(1, 2, 0)
    swap, solution = np.abs(c) > np.abs(a), np.empty(right.shape, np.result_type(matrix, right))

    def ordered(one: RealOrComplex, other: RealOrComplex) -> tuple[RealOrComplex, RealOrComplex]:
        return np.where(swap, other, one), np.where(swap, one, other)

    with np.errstate(all="ignore"):
        (a, c), (b, d) = ordered(a, c), ordered(b, d)
        factor = c / a
        pivot = d - factor * b
        pivot[pivot == 0] = np.nan
        for x, column in zip(solution.T, right.T, strict=True):
            e, f = ordered(*column)
            x[1] = y = (f - factor * e) / pivot
            x[0] = (e - b * y) / a
    return solution


def solve_certified(matrix: Array, right: Array) -> tuple[Array, Array]:
    """Solve systems, shapes (S, K, K) and (S, K), and refine once by the residual.

    Returns
    -------
    solution : Array, shape (S, K)
    residual : Array, shape (S,)
        The largest residual that remains, relative to the terms of its equation.
    """

    def residual(x: Array) -> Array:
        return right - multiply(matrix, x)

    solution = solve_small(matrix, right)
    solution = solution + solve_small(matrix, residual(solution))
    size = multiply(np.abs(matrix), np.abs(solution)) + np.abs(right)
    relative = np.abs(residual(solution)) / np.maximum(size, TINY)
    return solution, largest(relative)


def multiply(matrices: Array, others: Array) -> Array:
    """Multiply matrices, shape (S, K, K), with others or with vectors, shape (S, K).

    For K = 2, NumPy loops over the points; looping over the entries takes a tenth of the time.
    """
    if matrices.shape[-1] == 2:
        return np.einsum("...js,jis->...is", others.T.copy(), matrices.T.copy()).T
    return np.einsum("sij,sj->si", matrices, others) if others.ndim == 2 else matrices @ others


def largest(vectors: Array) -> Array:
    """Return the largest size of an entry of each vector, shape (S,) of (S, K).

    NumPy takes maxima of many short rows several times as long as those of few columns.
    """
    return np.abs(vectors.T, order="C").max(axis=0, initial=0.0)


def invert_symmetric(matrices: RealOrComplex) -> RealOrComplex:
    """Invert symmetric matrices, shape (S, K, K), whose entries may differ widely in size."""
    size = np.sqrt(np.abs(np.einsum("srr->sr", matrices)))
    scale = size[:, :, None] * size[:, None, :]
    identity = np.broadcast_to(np.eye(matrices.shape[-1]), matrices.shape)
    inverse = solve_small(matrices / scale, identity) / scale
    return (inverse + inverse.transpose(0, 2, 1)) / 2


def eigh_or_nan(matrices: RealOrComplex) -> tuple[RealOrComplex, RealOrComplex]:
    """Decompose symmetric matrices, `M V = V diag(values)` with `V^T V = I`, real or complex.

    Where a matrix is not finite its eigenvalues are NaN.
    """
    finite = np.all(np.isfinite(matrices), axis=(1, 2))
    kept = np.where(finite[:, None, None], matrices, 0.0)
    if np.iscomplexobj(kept):
        values, vectors = np.linalg.eig(kept)
        vectors = vectors / np.sqrt(np.sum(vectors**2, axis=1))[:, None, :]
    else:
        values, vectors = np.linalg.eigh(kept)
    return np.where(finite[:, None], values, np.nan), vectors


def triangular_root(covariance: Array) -> Array:
    """Compute the Cholesky factor, with a zero column for a direction of vanishing variance."""
    rest, scale = covariance.copy(), np.trace(covariance)
    root = np.zeros_like(rest)
    for j in range(len(rest)):
        if rest[j, j] > _ROUNDING * scale:
            root[:, j] = rest[:, j] / math.sqrt(rest[j, j])
            rest -= np.outer(root[:, j], root[:, j])
    return root


def gram_factor(gram: Array, least: int = 0) -> Array:
    """Factorise a Gram matrix, `R R^T`, into as many columns as its rank, or the least number."""
    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    kept = values > 1e-11 * max(float(values.max(initial=0.0)), 1e-3)
    kept[kept.size - least :] = True
    return vectors[:, kept] * np.sqrt(np.maximum(values[kept], 0))


class Factor(NamedTuple):
    """`M = L L^T` and `dual = L^-T`, (S, R, R); NaN where a real M is not positive."""

    L: RealOrComplex
    dual: RealOrComplex

    @classmethod
    def of(cls, M: RealOrComplex) -> Factor:
        """Factor symmetric matrices, real or complex, whose entries may differ widely in size."""
        size = np.sqrt(np.einsum("srr->sr", M))
        values, vectors = eigh_or_nan(M / (size[:, :, None] * size[:, None, :]))
        half = np.sqrt(values)[:, None, :]
        return cls(size[:, :, None] * vectors * half, vectors / (half * size[:, :, None]))


def generalised_eigh(
    fixed: RealOrComplex, linear: RealOrComplex
) -> tuple[RealOrComplex, RealOrComplex]:
    """Decompose two symmetric matrices: `y^T fixed y = 1` and `y^T linear y = diag(values)`.

    Real values are at least zero; complex ones are in the order of their size.
    """
    if fixed.shape[-1] == 1:
        return (linear / fixed)[:, :, 0], 1 / np.sqrt(fixed)
    values, vectors = eigh_or_nan(fixed)
    half = vectors / np.sqrt(values)[:, None, :]
    values, rotation = eigh_or_nan(half.transpose(0, 2, 1) @ linear @ half)
    if not np.iscomplexobj(values):
        return np.maximum(values, 0), half @ rotation
    order = np.argsort(np.abs(values), axis=-1)
    values = np.take_along_axis(values, order, axis=-1)
    return values, half @ np.take_along_axis(rotation, order[:, None], axis=-1)
