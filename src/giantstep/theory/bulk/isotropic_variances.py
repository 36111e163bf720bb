"""From the hats to the variances V1, V2 and their derivative: theory.md sections 4 and 5.

For G groups of neurons V1 and its hat are G x G. But they are met only between the mu1 of the
groups, which may (nearly) depend on one another, and then V1 has huge entries that cancel there.
So with functions phi of kappa of rank R <= G, `mu1 = B phi`, the hat is `B V1_hat B^T` of an R x R
matrix, and `V1` below is `B^T V1 B`. Symmetric matrix and vector are held together as a vector of
K = R (R + 1)/2 + G entries: the upper triangle of V1, row by row, then V2; likewise their hats.
One group has R = 1, B = 1, K = 2 and is Result 3.3 of the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from giantstep.arrays import Array
from giantstep.problems.spiked_features import Groups

# Real on the theory's way, complex on that of the spectrum.
Values = NDArray[Any]

_MAX_ITERATIONS = 300
# Stands for zero where a logarithm or a ratio is taken.
TINY = 1e-300


class Triangle:
    """The upper triangle of symmetric G x G matrices as vectors, row by row.

    Attributes
    ----------
    rows, columns : integer arrays, shape (P,)
    multiplicity : Array, shape (P,)
        How often an entry stands in the matrix: 1 on the diagonal, 2 off it.
    """

    def __init__(self, groups: int) -> None:
        self.groups = groups
        self.rows, self.columns = np.triu_indices(groups)
        self.multiplicity = np.where(self.rows == self.columns, 1.0, 2.0)
        self.size = self.rows.size

    def pack(self, matrices: Values) -> Values:
        """Take the triangle of matrices, shape (..., G, G)."""
        packed: Values = matrices[..., self.rows, self.columns]
        return packed

    def unpack(self, vectors: Values) -> Values:
        """Make symmetric matrices of triangles, shape (..., P)."""
        shape = (*vectors.shape[:-1], self.groups, self.groups)
        matrices = np.empty(shape, dtype=vectors.dtype)
        matrices[..., self.rows, self.columns] = vectors
        matrices[..., self.columns, self.rows] = vectors
        return matrices


@cache
def triangle_of(groups: int) -> Triangle:
    """Give the triangle of a number of groups; they are made once."""
    return Triangle(groups)


def variances_of_one(V1_hat: Array, L: Array, c: float, beta: float) -> tuple[Array, Array]:
    """Give `variances` for one group in closed form, theory.md section 5.

    q solves `q (L + c M(q)) = 1`, a quadratic, whose positive root is taken without cancellation
    (`c V1_hat q` is section 5's Marchenko-Pastur resolvent g(s)); the traces of equation (19)
    follow as sums of positive terms.

    Parameters
    ----------
    V1_hat, L : Array, shape (S,)
    """
    a, b = beta * c * L * V1_hat, L + c * V1_hat * (1 - beta)
    root = np.sqrt(b**2 + 4 * a)
    with np.errstate(divide="ignore", invalid="ignore"):
        q = np.where(b >= 0, 2 / (b + root), (root - b) / (2 * a))
    shrink = 1 / (1 + beta * c * q * V1_hat)  # (1 + beta D V1_hat)^-1, D = c q
    V1 = c * q * shrink
    slope = L + c * V1_hat * shrink**2
    T20 = q / slope
    T21 = V1 * shrink / slope
    T22 = beta * V1**2 + c * shrink**2 * T21
    T = np.stack([T22, T21, T21, T20], axis=-1).reshape(-1, 2, 2)
    return np.stack([V1, q], axis=-1), T


class Screened(NamedTuple):
    """The matrices of theory.md section 4 at some q, between the functions phi.

    Attributes
    ----------
    M : shape (S, G, G)
        V1_hat (I + beta D V1_hat)^-1, between groups.
    BK : shape (S, G, R)
        B (I + beta V1_hat P)^-1, with P = B^T D B.
    X : shape (S, R, R)
        (P^-1 + beta V1_hat)^-1, which is B^T V1 B.
    """

    M: Values
    BK: Values
    X: Values


def screened(q: Values, V1_hat: Values, B: Array, groups: Groups, beta: float) -> Screened:
    """Compute the screened matrices; real or complex."""
    d = groups.pi * groups.c * q
    P_inverse = _inverse((B.T * d[:, None, :]) @ B)
    X = _inverse(P_inverse + beta * V1_hat)
    K = P_inverse @ X
    M = B @ (K @ V1_hat) @ B.T
    return Screened((M + M.transpose(0, 2, 1)) / 2, B @ K, X)


def _inverse(matrices: Values) -> Values:
    """Invert symmetric matrices whose entries may be of very different sizes."""
    size = np.sqrt(np.abs(np.einsum("srr->sr", matrices)))
    scale = size[:, :, None] * size[:, None, :]
    identity = np.broadcast_to(np.eye(matrices.shape[-1]), matrices.shape)
    inverse = solve_small(matrices / scale, identity) / scale
    symmetric: Values = (inverse + inverse.transpose(0, 2, 1)) / 2
    return symmetric


def response(V1_hat: Array, L: Array, B: Array, groups: Groups, beta: float) -> Array:
    """Solve `q_g (L_g + c_g M_gg(q)) = 1`, theory.md section 4, for q of shape (S, G)."""

    def load(q: Array) -> tuple[Array, Array]:
        M = screened(q, V1_hat, B, groups, beta).M
        return groups.c * np.einsum("sgg->sg", M), load_slope(M, groups, beta)

    diagonal = np.einsum("gr,srt,gt->sg", B, V1_hat, B, optimize=True)
    return settle(L, groups.c * diagonal, load)


def load_slope(M: Values, groups: Groups, beta: float) -> Values:
    """Give how the load `c_g M_gg` falls with q: `beta c_g M_gh^2 pi_h c_h`, shape (S, G, G)."""
    return beta * M**2 * (groups.c[:, None] * groups.pi * groups.c)


def settle(L: Array, most: Array, load: Callable[[Array], tuple[Array, Array]]) -> Array:
    """Solve `q (L + load(q)) = 1` for q of shape (S, G).

    Newton in the logarithms of q, where the map is monotone with row sums of its Jacobian below
    one. Steps are bounded, so that a flat stretch cannot throw the iteration away.

    Parameters
    ----------
    L : Array, shape (S, G)
    most : Array, shape (S, G)
        The load at q = 0, its largest value.
    load : callable
        From q to the load, and to minus its derivative by q, shape (S, G, G).
    """
    x = -np.log(L + most)
    for _ in range(_MAX_ITERATIONS):
        q = np.exp(x)
        carried, slope = load(q)
        filled = 1 / (L + carried)
        jacobian = filled[:, :, None] * slope * q[:, None]
        step = -solve_small(np.eye(L.shape[-1]) - jacobian, x - np.log(filled))
        x = x + np.clip(step, -3, 3)
        if not np.max(np.abs(step), initial=0.0, where=np.isfinite(step)) > 1e-14:
            break
    # One plain sweep squeezes the last digits, and spreads NaN where it belongs.
    settled: Array = 1 / (L + load(np.exp(x))[0])
    return settled


def variances(
    V1_hat: Array, L: Array, B: Array, groups: Groups, beta: float, closed_form: bool = True
) -> tuple[Array, Array]:
    """Map the hats to V = (V1, V2) and to T = -dV/d(V1_hat, L), `L = ridge + V2_hat`.

    Theory.md section 4; for one group, equation (19) with the traces of section 5.

    Parameters
    ----------
    V1_hat : Array, shape (S, R, R)
    L : Array, shape (S, G)
    B : Array, shape (G, R)
        What makes the mu1 of the functions phi; the identity leaves V1 between groups.
    groups : Groups
    beta : float
    closed_form : bool
        Whether a single group takes section 5's closed form rather than the general iteration.

    Returns
    -------
    V : Array, shape (S, K)
    T : Array, shape (S, K, K)
        A column per entry of (V1_hat, L); an off-diagonal entry of V1_hat stands for both places.
    """
    if groups.c.size == 1 and closed_form:
        return variances_of_one(V1_hat[:, 0, 0], L[:, 0], groups.c[0], beta)
    return from_response(response(V1_hat, L, B, groups, beta), V1_hat, B, groups, beta)


def from_response(
    q: Values, V1_hat: Values, B: Array, groups: Groups, beta: float
) -> tuple[Values, Values]:
    """Give V and T of `variances` once q solves its equation; real or complex."""
    M, BK, X = screened(q, V1_hat, B, groups, beta)
    bend = groups.c[:, None, None] * BK[:, :, :, None] * BK[:, :, None]
    slope = load_slope(M, groups, beta)
    squares = X[:, :, None, :, None] * X[:, None, :, None]
    return differentiated(q, Slopes(X, bend, slope, squares), groups.pi, beta)


class Slopes(NamedTuple):
    """What V and its derivative are made of at some q; N = (I + beta P V1_hat)^-1.

    Attributes
    ----------
    X : shape (S, R, R)
        (P^-1 + beta V1_hat)^-1, which is B^T V1 B.
    bend : shape (S, G, R, R)
        Of the load of group g, by V1_hat: `c_g (B N^T)_gi (B N^T)_gj`.
    slope : shape (S, G, G)
        Of the load, by q, and negative.
    squares : shape (S, R, R, R, R)
        `X_ia X_jb`, at i, j, a, b.
    """

    X: Values
    bend: Values
    slope: Values
    squares: Values


def differentiated(q: Values, at: Slopes, pi: Array, beta: float) -> tuple[Values, Values]:
    """Give V and T of `variances` once q solves its equation; real or complex."""
    triangle = triangle_of(at.X.shape[-1])
    i, j, off = triangle.rows, triangle.columns, triangle.multiplicity == 2
    V = np.concatenate([triangle.pack(at.X), pi * q], axis=-1)
    # Along each direction (dA, dL) of the hats, dq, then dX = N dP N^T - beta X dA X.
    bend = triangle.pack(at.bend)
    dq = response_slope(q, bend * triangle.multiplicity, at.slope)
    dX = bend.transpose(0, 2, 1) @ (pi[:, None] * dq)
    a, b = i[:, None], j[:, None]
    straight, crossed = at.squares[:, a, b, i, j], at.squares[:, a, b, j, i]
    dX[:, :, : i.size] -= beta * (straight + np.where(off, crossed, 0))
    return V, -np.concatenate([dX, pi[:, None] * dq], axis=1)


def response_slope(q: Values, bend: Values, slope: Values) -> Values:
    """Compute dq along directions of V1_hat and of each L, shape (S, G, directions + G).

    Parameters
    ----------
    q : shape (S, G)
    bend : shape (S, G, directions)
        How the load of each group rises along each direction of V1_hat.
    slope : shape (S, G, G)
        How it falls with q.
    """
    single = np.broadcast_to(np.eye(q.shape[-1]), slope.shape)
    both = np.concatenate([bend, single], axis=-1)
    square = (q**2)[:, :, None]
    return -solve_small(single - square * slope, square * both)


def solve_small(matrix: Values, right: Values) -> Values:
    """Solve small systems, shapes (S, K, K) and (S, K) or (S, K, R); singular ones give NaN."""
    vector = right.ndim == matrix.ndim - 1
    right = right[..., None] if vector else right
    if matrix.shape[-1] == 2:  # by Cramer's rule: one group's systems, and there are many
        (a, b), (c, d) = np.moveaxis(matrix[..., None], (-3, -2), (0, 1))
        x, y = np.moveaxis(right, -2, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            pair = np.stack([d * x - b * y, a * y - c * x], axis=-2) / (a * d - b * c)[..., None, :]
        solved: Values = pair[..., 0] if vector else pair
        return solved
    solution = solve_pivoted(matrix, right)
    return solution[..., 0] if vector else solution


def solve_pivoted(matrix: Values, right: Values) -> Values:
    """Solve as `solve_small` does, always by pivoted elimination."""
    vector = right.ndim == matrix.ndim - 1
    right = right[..., None] if vector else right
    try:
        solution: Values = np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        regular = np.abs(np.linalg.det(matrix)) > 0
        solution = np.full_like(right + matrix[..., :1], np.nan)
        solution[regular] = np.linalg.solve(matrix[regular], right[regular])
    return solution[..., 0] if vector else solution


def solve_certified(matrix: Array, right: Array) -> tuple[Array, Array]:
    """Solve systems, shapes (S, K, K) and (S, K), with one refinement by the residual.

    Returns
    -------
    solution : Array, shape (S, K)
    residual : Array, shape (S,)
        What is left of the residual, relative to the terms of its equation.
    """

    def residual(x: Array) -> Array:
        left: Array = right - np.einsum("sij,sj->si", matrix, x)
        return left

    solution = solve_pivoted(matrix, right)
    solution = solution + solve_pivoted(matrix, residual(solution))
    size = np.einsum("sij,sj->si", np.abs(matrix), np.abs(solution)) + np.abs(right)
    relative = np.abs(residual(solution)) / np.maximum(size, TINY)
    return solution, np.max(relative, axis=-1, initial=0.0)
