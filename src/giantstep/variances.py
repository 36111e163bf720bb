"""From the hats to the variances V1, V2 and their derivative: theory.md sections 4 and 5.

For G groups of neurons V1 is a symmetric matrix and V2 a vector. They are held together as a
vector of K = G (G + 1)/2 + G entries: the upper triangle of V1, row by row, then V2; likewise
their hats. One group has K = 2 and is Result 3.3 of the paper.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from giantstep.activations import Array
from giantstep.protocol import Groups

# Real on the theory's way, complex on that of the spectrum.
Values = NDArray[Any]

_MAX_ITERATIONS = 300


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


def response(V1_hat: Array, L: Array, groups: Groups, beta: float) -> Array:
    """Solve `q_g (L_g + c_g M_gg(q)) = 1`, theory.md section 4, for q of shape (S, G).

    Newton in the logarithms of q, where the map is monotone with row sums of its Jacobian below
    one. Steps are bounded, so that a flat stretch cannot throw the iteration away.
    """
    count = L.shape[1]
    x = -np.log(L + groups.c * np.einsum("sgg->sg", V1_hat))
    for _ in range(_MAX_ITERATIONS):
        q = np.exp(x)
        M = _screened(V1_hat, groups.pi * groups.c * q, beta)[0]
        filled = 1 / (L + groups.c * np.einsum("sgg->sg", M))
        jacobian = (
            (filled * groups.c)[:, :, None] * beta * M**2 * (groups.pi * groups.c * q)[:, None]
        )
        gap = x - np.log(filled)
        step = -solve_small(np.eye(count) - jacobian, gap)
        x = x + np.clip(step, -3, 3)
        if not np.max(np.abs(step), initial=0.0, where=np.isfinite(step)) > 1e-14:
            break
    q = np.exp(x)
    # One plain sweep squeezes the last digits, and spreads NaN where it belongs.
    M = _screened(V1_hat, groups.pi * groups.c * q, beta)[0]
    settled: Array = 1 / (L + groups.c * np.einsum("sgg->sg", M))
    return settled


def _screened(V1_hat: Values, d: Values, beta: float) -> tuple[Values, Values]:
    """Give M = A (I + beta D A)^-1 and K = (I + beta A D)^-1, for A = V1_hat and D = diag(d)."""
    identity = np.eye(d.shape[-1])
    K = np.linalg.inv(identity + beta * V1_hat * d[:, None, :])
    M = K @ V1_hat
    return (M + M.transpose(0, 2, 1)) / 2, K


def variances(
    V1_hat: Array, L: Array, groups: Groups, beta: float, closed_form: bool = True
) -> tuple[Array, Array]:
    """Map the hats to V = (V1, V2) and to T = -dV/d(V1_hat, L), `L = ridge + V2_hat`.

    Theory.md section 4; for one group, equation (19) with the traces of section 5.

    Parameters
    ----------
    V1_hat : Array, shape (S, G, G)
    L : Array, shape (S, G)
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
    return from_response(response(V1_hat, L, groups, beta), V1_hat, groups, beta)


def from_response(q: Values, V1_hat: Values, groups: Groups, beta: float) -> tuple[Values, Values]:
    """Give V and T of `variances` once q solves its equation; real or complex."""
    triangle, pi, c = triangle_of(groups.c.size), groups.pi, groups.c
    i, j, off = triangle.rows, triangle.columns, triangle.multiplicity == 2
    M, K = _screened(V1_hat, pi * c * q, beta)
    shrink = K.transpose(0, 2, 1)  # (I + beta D V1_hat)^-1
    V1 = shrink * (pi * c * q)[:, None, :]
    V = np.concatenate([triangle.pack((V1 + V1.transpose(0, 2, 1)) / 2), pi * q], axis=-1)

    # Along each direction (dA, dL) of the hats, implicitly: dq, then dV1 and dV2 = pi dq.
    bent = c[:, None] * K[:, :, i] * K[:, :, j] * triangle.multiplicity  # c diag(K dA K^T)
    single = np.broadcast_to(np.eye(pi.size), M.shape)
    right = (q**2)[:, :, None] * np.concatenate([bent, single], axis=-1)
    feedback = single - (q**2 * c)[:, :, None] * (beta * M**2) * (pi * c)
    dq = -solve_small(feedback, right)  # (S, G, K)
    # dV1 = V1 (D^-1 dD D^-1 - beta dA) V1, where V1 D^-1 = shrink.
    dV1 = (shrink[:, i, :] * shrink[:, j, :]) @ ((pi * c)[:, None] * dq)
    a, b = i[:, None], j[:, None]
    straight, crossed = V1[:, a, i] * V1[:, b, j], V1[:, a, j] * V1[:, b, i]
    dV1[:, :, : i.size] -= beta * (straight + np.where(off, crossed, 0))
    return V, -np.concatenate([dV1, pi[:, None] * dq], axis=1)


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
    try:
        solution: Values = np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        regular = np.abs(np.linalg.det(matrix)) > 0
        solution = np.full(np.broadcast_shapes(right.shape, (*matrix.shape[:-1], 1)), np.nan)
        solution[regular] = np.linalg.solve(matrix[regular], right[regular])
    return solution[..., 0] if vector else solution
