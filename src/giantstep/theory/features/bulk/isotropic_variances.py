"""The map from the hats to V1, V2 for an isotropic bulk: theory.md sections 4 and 5.

For G groups of neurons V1 and its hat are G x G. They enter only between the mu1 of the groups,
which may be (nearly) linearly dependent; V1 then has huge entries that cancel. So we write
`mu1 = B phi`, with R <= G independent functions phi of kappa: the hat is `B V1_hat B^T` with an
R x R matrix V1_hat, and `V1` below is `B^T V1 B`. A symmetric matrix and a vector are stored
together as one vector of K = R (R + 1)/2 + G entries, the upper triangle of V1 followed by V2, and
likewise their hats. A single group has R = 1, B = 1, K = 2 and is Result 3.3 of the paper.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array, Complex, RealOrComplex
from giantstep.numerics.contraction import contract
from giantstep.numerics.linear_systems import invert_symmetric, solve_small
from giantstep.numerics.newton import iterate_newton
from giantstep.problems.spiked_features import Groups
from giantstep.theory.features.bulk.response import (
    ResponseTerms,
    solve_self_consistency,
    variances_from_terms,
)

# Newton's method for q near a known one: most steps, and the relative step at which it converged.
_MAX_ITERATIONS, _TOLERANCE = 12, 1e-11


def variances(
    V1_hat: Array, L: Array, B: Array, groups: Groups, beta: float
) -> tuple[Array, Array]:
    """Map the hats to V = (V1, V2) and to T = -dV/d(V1_hat, L), `L = ridge + V2_hat`.

    Parameters
    ----------
    V1_hat : Array, shape (S, R, R)
    L : Array, shape (S, G)
    B : Array, shape (G, R)
        Combines the functions phi into mu1; the identity leaves V1 between groups.
    groups : Groups
    beta : float

    Returns
    -------
    V : Array, shape (S, K)
    T : Array, shape (S, K, K)
        One column for each entry of (V1_hat, L); an off-diagonal entry of V1_hat moves both its
        places.
    """
    if groups.c.size == 1:
        return variances_of_one_group(V1_hat[:, 0, 0], L[:, 0], float(groups.c[0]), beta)
    return variances_of_groups(V1_hat, L, B, groups, beta)


def variances_of_one_group(V1_hat: Array, L: Array, c: float, beta: float) -> tuple[Array, Array]:
    """Compute `variances` for one group in closed form, theory.md section 5.

    q solves `q (L + c M(q)) = 1`, a quadratic, whose positive root is computed without cancellation
    (`c V1_hat q` is section 5's Marchenko-Pastur resolvent g(s)); the traces of equation (19)
    follow as sums of positive terms.

    Parameters
    ----------
    V1_hat, L : Array, shape (S,)
    """
    load = c * V1_hat  # at q = 0
    a, b = beta * c * L * V1_hat, L + load * (1 - beta)
    root = np.sqrt(b**2 + 4 * a)
    with np.errstate(divide="ignore", invalid="ignore"):
        q = np.where(b >= 0, 2 / (b + root), (root - b) / (2 * a))
    shrink = 1 / (1 + beta * c * q * V1_hat)  # (1 + beta D V1_hat)^-1, D = c q
    V1 = c * q * shrink
    squared = shrink**2
    slope = L + load * squared
    T20 = q / slope
    T21 = V1 * shrink / slope
    T22 = beta * V1**2 + c * squared * T21
    V, T = np.empty((q.size, 2)), np.empty((q.size, 2, 2))
    V[:, 0], V[:, 1] = V1, q
    T[:, 0, 0], T[:, 0, 1], T[:, 1, 0], T[:, 1, 1] = T22, T21, T21, T20
    return V, T


def variances_of_groups(
    V1_hat: Array, L: Array, B: Array, groups: Groups, beta: float
) -> tuple[Array, Array]:
    """Compute `variances` for any number of groups, theory.md section 4."""

    def load(q: Array) -> tuple[Array, Array]:
        M = screened(q, V1_hat, B, groups, beta).M
        return groups.c * np.einsum("sgg->sg", M), load_decrease(M, groups, beta)

    diagonal = contract("gr,srt,gt->sg", B, V1_hat, B)
    q = solve_self_consistency(L, groups.c * diagonal, load)
    return variances_at(q, V1_hat, B, groups, beta)


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

    M: RealOrComplex
    BK: RealOrComplex
    X: RealOrComplex


def screened(
    q: RealOrComplex, V1_hat: RealOrComplex, B: Array, groups: Groups, beta: float
) -> Screened:
    """Compute the matrices of `Screened`; real or complex."""
    d = groups.pi * groups.c * q
    P_inverse = invert_symmetric((B.T * d[:, None, :]) @ B)
    X = invert_symmetric(P_inverse + beta * V1_hat)
    K = P_inverse @ X
    M = B @ (K @ V1_hat) @ B.T
    return Screened((M + M.transpose(0, 2, 1)) / 2, B @ K, X)


def load_decrease(M: RealOrComplex, groups: Groups, beta: float) -> RealOrComplex:
    """Compute minus the derivative of `c_g M_gg` by q: `beta c_g M_gh^2 pi_h c_h`, (S, G, G)."""
    return beta * M**2 * (groups.c[:, None] * groups.pi * groups.c)


def response_near(
    q: Complex, V1_hat: Complex, L: Complex, B: Array, groups: Groups, beta: float
) -> Complex:
    """Find the root q of `q (L + c M(q)) = 1` that is near a given q."""

    def advance(q: Complex) -> tuple[Complex, Array]:
        M = screened(q, V1_hat, B, groups, beta).M
        inner = L + groups.c * np.einsum("sgg->sg", M)
        # d(q inner) = inner dq - q c beta M^2 pi c dq
        slope = inner[:, :, None] * np.eye(q.shape[-1])
        slope = slope - (q * groups.c)[:, :, None] * beta * M**2 * (groups.pi * groups.c)
        step = solve_small(slope, 1 - q * inner)
        q = q + step
        return q, np.abs(step) / np.abs(q)

    return iterate_newton(advance, q, _TOLERANCE, _MAX_ITERATIONS)


def variances_at(
    q: RealOrComplex, V1_hat: RealOrComplex, B: Array, groups: Groups, beta: float
) -> tuple[RealOrComplex, RealOrComplex]:
    """Compute V and T of `variances` once q solves its equation; real or complex."""
    at = screened(q, V1_hat, B, groups, beta)
    return variances_from_terms(q, response_terms(at, at, groups, beta), groups.pi, beta)


def response_terms(one: Screened, other: Screened, groups: Groups, beta: float) -> ResponseTerms:
    """Compute what V of one, and the derivative that both have, are made of: `pairs`."""
    gradient = one.BK[:, :, :, None] * other.BK[:, :, None]
    products = one.X[:, :, None, :, None] * other.X[:, None, :, None]
    return ResponseTerms(
        V1=one.X,
        load_gradient=groups.c[:, None, None] * (gradient + gradient.swapaxes(2, 3)) / 2,
        load_decrease=beta * one.M * other.M * (groups.c[:, None] * groups.pi * groups.c),
        products=(products + products.transpose(0, 2, 1, 4, 3)) / 2,
    )
