"""Many small linear systems at once."""

from __future__ import annotations

import numpy as np

from giantstep.arrays import Array, RealOrComplex

# Stands for zero where a logarithm or a ratio is taken.
TINY = 1e-300
# More systems than this of two equations are solved faster together than one by one.
_MANY = 30


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
