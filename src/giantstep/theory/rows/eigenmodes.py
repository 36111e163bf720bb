"""Averages over the eigenvalues b of the first batch's matrix B: docs/theory/trained-bulk.md.

At an eigenvalue b the rows of group g have variance `c_g(b) = c_g0 + c_g1 b`, and
everything is as for an isotropic bulk with `P(b) = P0 + b P1`. With the columns u_k and eigenvalues
ell_k of the generalised eigendecomposition of `V1_hat^-1 + beta P0` and `beta P1`,

    (V1_hat^-1 + beta P(b))^-1 = sum_k u_k u_k^T / (1 + ell_k b),

so that averages over b are traces that `FirstBatch` computes, at R values of ell.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array, RealOrComplex
from giantstep.numerics.contraction import contract
from giantstep.numerics.linear_systems import Factor, generalised_eigh
from giantstep.theory.rows.first_batch import FirstBatch
from giantstep.theory.rows.response import ResponseTerms

# The powers in products of two polynomials of degree one in b.
SUMS = np.add.outer(range(2), range(2))


class RowCovariance(NamedTuple):
    """The rows of a trained bulk: of covariance `(c_g0 I + c_g1 B)/d` in group g.

    Attributes
    ----------
    B : Array, shape (G, R)
        Combines the functions phi into mu1.
    pi : Array, shape (G,)
        Fractions of the neurons.
    norms : Array, shape (2, G)
        c_g(b) as a polynomial in b: one, with what a finite dimension adds (`OddStep.added_norms`),
        and omega^2 tau.
    beta : float
    batch : FirstBatch
    """

    B: Array
    pi: Array
    norms: Array
    beta: float
    batch: FirstBatch


def product(first: Array, second: Array) -> Array:
    """Multiply polynomials in b: the first axis is the power; the others form an outer product."""
    shape = (len(first) + len(second) - 1, *first.shape[1:], *second.shape[1:])
    total: Array = np.zeros(shape)
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            total[i + j] += np.multiply.outer(a, b)
    return total


class Modes:
    """The generalised eigendecomposition at S points, and the averages that follow from it.

    Parameters
    ----------
    rows : RowCovariance
    q : Array, shape (S, G)
    factor : Factor
        The factor of V1_hat.
    f : array, shape (S, R), optional
        tr Z of the modes of a solution nearby, which complex q and V1_hat need.

    Attributes
    ----------
    ell : Array, shape (S, R)
    A : Array, shape (S, G, R)
        `B u_k`.
    dual : Array, shape (S, R, R)
        Columns `V1_hat^-1 u_k`.
    single : BatchTraces
        Traces of Z_k.
    """

    def __init__(
        self, rows: RowCovariance, q: RealOrComplex, factor: Factor, f: RealOrComplex | None = None
    ) -> None:
        self.rows, self.q = rows, q
        B, pi, norms, beta, batch = rows
        BL, weight = B @ factor.L, (beta * pi * q)[:, :, None]
        fixed, linear = (BL.transpose(0, 2, 1) @ (c[:, None] * weight * BL) for c in norms)
        # In an order by which modes of points nearby are compared.
        self.ell, y = generalised_eigh(np.eye(B.shape[1]) + fixed, linear)
        self.A, self.dual = BL @ y, factor.dual @ y
        self.single = batch.traces(self.ell, f)

    @cached_property
    def _with_itself(self) -> RealOrComplex:
        return self.rows.batch.pair_traces(self.single, self.single)

    def pair(self, other: Modes) -> RealOrComplex:
        """Compute traces of B^j Z_k Z_l, j = 0 ... 3, for modes k of this one and l of the other.

        The other is that of another readout, for the derivative of a pair, or the same.
        """
        if self is other:
            return self._with_itself
        return self.rows.batch.pair_traces(self.single, other.single)

    @cached_property
    def numerators(self) -> RealOrComplex:
        """Numerators of X(b) = sum_k dual_k (...) / (1 + ell_k b) as polynomials in b.

        Shape (2, S, R, R).
        """
        weights = self.rows.pi * self.q * self.rows.norms[:, None]
        return np.einsum("sgk,jsg,gr->jskr", self.A, weights, self.rows.B)

    @property
    def load(self) -> RealOrComplex:
        """E c_g(b) M_gg(b), shape (S, G)."""
        return np.einsum("sgk,jg,jsk->sg", self.A**2, self.rows.norms, self.single.powers[:2])

    def load_decrease(self, other: Modes) -> RealOrComplex:
        """Compute minus the derivative of the load by q, `beta pi_h E c_g c_h M_gh^2`."""
        squares = product(self.rows.norms, self.rows.norms)
        M, N = (modes.A[:, :, None] * modes.A[:, None] for modes in (self, other))
        decrease = contract("jgh,jskl,sghk,sghl->sgh", squares, self.pair(other)[:3], M, N)
        return self.rows.beta * self.rows.pi * decrease

    def terms(self, other: Modes) -> ResponseTerms:
        """Compute the terms of V and of its derivative."""
        X = np.einsum("sik,jska,jsk->sia", self.dual, self.numerators, self.single.powers[:2])
        both, powers = (self, other), self.pair(other)
        BN, BL = (np.einsum("sgk,sik->sgik", at.A, at.dual) for at in both)  # B N^T, by modes
        gradient = contract("jg,jskl,sgik,sgml->sgim", self.rows.norms, powers[:2], BN, BL)
        # X(b), by modes
        parts, others = (np.einsum("sik,jska->jsika", at.dual, at.numerators) for at in both)
        products = contract("uvskl,usika,vsmlb->simab", powers[SUMS], parts, others)
        return ResponseTerms(X, gradient, self.load_decrease(other), products)
