"""The response q of the readout to the hats, and its derivatives: the same for every bulk.

A bulk's load on each group of neurons, `l_g(q)`, closes the equation `q_g (L_g + l_g(q)) = 1` of
theory.md section 4, with `L = ridge + V2_hat`. For an isotropic bulk the load is `c_g M_gg(q)`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array, RealOrComplex
from giantstep.numerics.linear_systems import solve_small
from giantstep.numerics.newton import iterate_newton
from giantstep.numerics.packed_symmetric import triangle_of
from giantstep.theory.rows.row_functions import Traces

# Newton's method for log q: most steps, a step after which 1e-11 is left, and the longest.
_MAX_ITERATIONS, _TOLERANCE, _LONGEST_STEP = 300, 1e-5, 3


def solve_self_consistency(
    L: RealOrComplex,
    q: RealOrComplex,
    load: Callable[[RealOrComplex], tuple[RealOrComplex, RealOrComplex]],
) -> RealOrComplex:
    """Solve `q (L + load(q)) = 1` for q of shape (S, G).

    Newton's method in the logarithms of q, in which the map is monotone and the rows of its
    Jacobian sum to less than one. Steps are bounded, so that a flat stretch cannot throw the
    iteration away.

    Parameters
    ----------
    L : array, shape (S, G)
    q : array, shape (S, G)
        Where to start: at the load of q = 0, or near a solution if they are complex.
    load : callable
        From q to the load, and to minus its derivative by q, shape (S, G, G).
    """

    def advance(q: RealOrComplex) -> tuple[RealOrComplex, Array]:
        at_q, decrease = load(q)
        inner = L + at_q
        jacobian = decrease * q[:, None] / inner[:, :, None]
        step = -solve_small(np.eye(L.shape[-1]) - jacobian, np.log(q * inner))
        size = np.abs(step)
        return q * np.exp(step * (_LONGEST_STEP / np.maximum(size, _LONGEST_STEP))), size

    # One iteration of the map gains the last digits, and spreads NaN where it belongs.
    return 1 / (L + load(iterate_newton(advance, q, _TOLERANCE, _MAX_ITERATIONS))[0])


class ResponseTerms(NamedTuple):
    """The terms of V and its derivative at some q, to be symmetrised; N = (I + beta P V1_hat)^-1.

    Attributes
    ----------
    V1 : shape (S, R, R)
        (P^-1 + beta V1_hat)^-1, which is B^T V1 B.
    load_gradient : shape (S, G, R, R)
        Derivative of the load of group g by V1_hat: `c_g (B N^T)_gi (B N^T)_gj`.
    load_decrease : shape (S, G, G)
        Minus the derivative of the load by q.
    products : shape (S, R, R, R, R)
        `V1_ia V1_jb`, at i, j, a, b.
    """

    V1: RealOrComplex
    load_gradient: RealOrComplex
    load_decrease: RealOrComplex
    products: RealOrComplex


def variances_from_terms(
    q: RealOrComplex, terms: ResponseTerms, pi: Array, beta: float
) -> tuple[RealOrComplex, RealOrComplex]:
    """Compute V = (V1, V2), equation (19), and T = -dV/d(V1_hat, L) once q solves its equation.

    Returns
    -------
    V : array, shape (S, K)
    T : array, shape (S, K, K)
        One column for each entry of (V1_hat, L); an off-diagonal entry of V1_hat moves both its
        places.
    """
    triangle = triangle_of(terms.V1.shape[-1])
    i, j, off = triangle.rows, triangle.columns, triangle.multiplicity == 2
    V1 = triangle.pack(terms.V1 + terms.V1.swapaxes(1, 2)) / 2
    V = np.concatenate([V1, pi * q], axis=-1)
    # Along each direction (dA, dL) of the hats: dq, then dX = N dP N^T - beta X dA X for X = V1.
    gradient = triangle.pack(terms.load_gradient + terms.load_gradient.swapaxes(2, 3)) / 2
    identity = np.broadcast_to(np.eye(q.shape[-1]), terms.load_decrease.shape)
    change = np.concatenate([gradient * triangle.multiplicity, identity], axis=-1)
    square = (q**2)[:, :, None]
    dq = -solve_small(identity - square * terms.load_decrease, square * change)
    dX = gradient.transpose(0, 2, 1) @ (pi[:, None] * dq)
    a, b = i[:, None], j[:, None]
    products = (terms.products + terms.products.transpose(0, 2, 1, 4, 3)) / 2
    straight, crossed = products[:, a, b, i, j], products[:, a, b, j, i]
    dX[:, :, : i.size] -= beta * (straight + np.where(off, crossed, 0))
    return V, -np.concatenate([dX, pi[:, None] * dq], axis=1)


def variances_at(
    A: RealOrComplex, L: RealOrComplex, at: Traces, beta: float
) -> tuple[RealOrComplex, RealOrComplex]:
    """Compute V, (19), and T from the traces at the t that belongs to L and A = V1_hat, (S,)."""
    q = 1 / (L + A * at.phi)
    slope = at.phi + at.t * at.dphi
    T20 = 1 / (1 / q**2 + beta * A**2 * at.dphi)
    T21 = slope * T20
    V, T = np.empty((q.size, 2), q.dtype), np.empty((q.size, 2, 2), q.dtype)
    V[:, 0], V[:, 1] = q * at.phi, q
    T[:, 0, 0], T[:, 0, 1] = slope * T21 - beta * q**2 * at.dphi, T21
    T[:, 1, 0], T[:, 1, 1] = T21, T20
    return V, T
