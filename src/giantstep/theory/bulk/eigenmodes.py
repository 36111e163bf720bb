"""Averages over the eigenvalues b of the first batch's matrix B: docs/trained-bulk.md.

At an eigenvalue b a group of neurons has rows of squared norm `c_g(b) = 1 + growth_g b`, and
everything is as for an isotropic bulk with `P(b) = P0 + b P1`. The columns u_k of a generalised
eigendecomposition of `V1_hat^-1 + beta P0` and `beta P1`, with eigenvalues theta_k, turn

    (V1_hat^-1 + beta P(b))^-1 = sum_k u_k u_k^T / (1 + theta_k b),

so that averages over b are those that `batch` has at R values of theta.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array
from giantstep.theory.bulk.batch_covariance import FirstBatch, Traces
from giantstep.theory.bulk.response import ResponseTerms


class Rows(NamedTuple):
    """The rows of a trained bulk.

    Attributes
    ----------
    B : Array, shape (G, R)
        What makes the mu1 of the functions phi.
    pi : Array, shape (G,)
        Shares of the neurons.
    growth : Array, shape (G,)
        omega^2 tau
    beta : float
    batch : FirstBatch
    """

    B: Array
    pi: Array
    growth: Array
    beta: float
    batch: FirstBatch


class Root(NamedTuple):
    """`V1_hat = L L^T`, and `dual = L^-T`; NaN where V1_hat is not positive. Shapes (S, R, R)."""

    L: Array
    dual: Array

    @classmethod
    def of(cls, V1_hat: Array) -> Root:
        """Take the root of matrices whose entries may be of very different sizes."""
        size = np.sqrt(np.einsum("srr->sr", V1_hat))
        if size.shape[-1] == 1:
            return cls(size[:, :, None], 1 / size[:, :, None])
        values, vectors = _eigh(V1_hat / (size[:, :, None] * size[:, None, :]))
        half = np.sqrt(values)[:, None, :]
        return cls(size[:, :, None] * vectors * half, vectors / (half * size[:, :, None]))


def _eigh(matrices: Array) -> tuple[Array, Array]:
    """Decompose symmetric matrices; eigenvalues are NaN where these are not finite."""
    sound = np.all(np.isfinite(matrices), axis=(1, 2))
    values, vectors = np.linalg.eigh(np.where(sound[:, None, None], matrices, 0.0))
    return np.where(sound[:, None], values, np.nan), vectors


def product(first: Array, second: Array) -> Array:
    """Multiply polynomials in b: arrays whose first axis counts powers, outer in all others."""
    shape = (len(first) + len(second) - 1, *first.shape[1:], *second.shape[1:])
    total: Array = np.zeros(shape)
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            total[i + j] += np.multiply.outer(a, b)
    return total


class Modes:
    """The eigendecomposition at S points, and the averages that follow.

    Parameters
    ----------
    rows : Rows
    q : Array, shape (S, G)
    root : Root

    Attributes
    ----------
    theta : Array, shape (S, R)
    A : Array, shape (S, G, R)
        `B u_k`.
    dual : Array, shape (S, R, R)
        `V1_hat^-1 u_k`, in columns.
    single : Traces
        Of Z_k.
    grown : Array, shape (2, G)
        c_g(b) as a polynomial in b.
    """

    def __init__(self, rows: Rows, q: Array, root: Root) -> None:
        self.rows, self.q = rows, q
        B, pi, growth, beta, batch = rows
        BL, shares = B @ root.L, (beta * pi * q)[:, :, None]
        fixed = np.eye(B.shape[1]) + BL.transpose(0, 2, 1) @ (shares * BL)
        linear = BL.transpose(0, 2, 1) @ (growth[:, None] * shares * BL)
        self.theta, y = _pencil(fixed, linear)
        self.A, self.dual = BL @ y, root.dual @ y
        self.single = batch.singles(self.theta)
        self.grown = np.stack([np.ones_like(growth), growth])

    @cached_property
    def pair(self) -> Traces:
        """Traces of Z_k Z_l."""
        return self.rows.batch.pairs(self.theta, self.single)

    @cached_property
    def numerators(self) -> Array:
        """Of X(b) = sum_k dual_k (...) / (1 + theta_k b), as polynomials: shape (2, S, R, R)."""
        shares = self.rows.pi * self.q * self.grown[:, None]
        numerators: Array = np.einsum("sgk,jsg,gr->jskr", self.A, shares, self.rows.B)
        return numerators

    @property
    def load(self) -> Array:
        """E c_g(b) M_gg(b), shape (S, G)."""
        load: Array = np.einsum("sgk,jg,jsk->sg", self.A**2, self.grown, self.single.powers[:2])
        return load

    @property
    def slope(self) -> Array:
        """Minus the derivative of the load by q, `beta pi_h E c_g c_h M_gh^2`: (S, G, G)."""
        squares = product(self.grown, self.grown)
        both = self.A[:, :, None] * self.A[:, None]
        slope: Array = np.einsum(
            "jgh,jskl,sghk,sghl->sgh", squares, self.pair.powers[:3], both, both, optimize=True
        )
        return self.rows.beta * self.rows.pi * slope

    def slopes(self) -> ResponseTerms:
        """Give what V and its derivative are made of."""
        X = np.einsum("sik,jska,jsk->sia", self.dual, self.numerators, self.single.powers[:2])
        lifted = np.einsum("sgk,sik->sgik", self.A, self.dual)
        bend = np.einsum(
            "jg,jskl,sgik,sgml->sgim",
            self.grown, self.pair.powers[:2], lifted, lifted, optimize=True,
        )  # fmt: skip
        terms = np.einsum("sik,jska->jsika", self.dual, self.numerators)
        squares = sum(
            np.einsum(
                "skl,sika,smlb->simab", self.pair.powers[i + j], terms[i], terms[j], optimize=True
            )
            for i in (0, 1)
            for j in (0, 1)
        )
        return ResponseTerms((X + X.transpose(0, 2, 1)) / 2, bend, self.slope, squares)


def _pencil(fixed: Array, linear: Array) -> tuple[Array, Array]:
    """Give theta and y with `y^T fixed y = 1` and `y^T linear y = diag(theta)`."""
    if fixed.shape[-1] == 1:
        return (linear / fixed)[:, :, 0], 1 / np.sqrt(fixed)
    values, vectors = _eigh(fixed)
    half = vectors / np.sqrt(values)[:, None, :]
    theta, turn = _eigh(half.transpose(0, 2, 1) @ linear @ half)
    return np.maximum(theta, 0), half @ turn
