"""Responses of one readout, or of two at different ridges: docs/theory/early-stopping.md.

Variances of one readout depend on squares of what the ridge decides, and on derivatives. Those of
two, on the same features and samples, depend on products in their place, and on divided
differences. One readout is a pair of the same.

A pair of any bulk has

- `response`, T of `Resolvent` for the two together;
- `sources`, what the overlaps add to the variances, minus the derivative of the hats' form K: first
  and second, each of shape (S, K), of `T @ first + second`;
- `screened_sources`, in the same form, the derivative of `w screened(rows) v` by the hats, with w
  and v of shape (S, G).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.contraction import contract
from giantstep.numerics.packed_symmetric import Triangle, triangle_of
from giantstep.theory.features.bulk.eigenmodes import product
from giantstep.theory.features.bulk.interface import SpikeResponse
from giantstep.theory.features.bulk.isotropic import IsotropicResponse
from giantstep.theory.features.bulk.letter_rows import LetterRowsResponse
from giantstep.theory.features.bulk.letters import LettersResponse
from giantstep.theory.features.bulk.response import variances_from_terms
from giantstep.theory.features.bulk.trained import TrainedResponse, order_hats


class Hats(NamedTuple):
    """The hats of a readout's overlaps along the spike and across it, and its means.

    Attributes
    ----------
    zeta : Array, shape (S, Z)
    psi : Array, shape (S, D R)
    m : Array, shape (S, G)
    """

    zeta: Array
    psi: Array
    m: Array


def _parts(triangle: Triangle, through_q: Array, direct: Array | None) -> tuple[Array, Array]:
    """Arrange what acts through q, shape (S, G), and what acts at fixed q, (S, R, R)."""
    first = np.concatenate([np.zeros((len(through_q), triangle.size)), through_q], axis=-1)
    second = np.zeros_like(first)
    if direct is not None:
        second[:, : triangle.size] = triangle.pack(direct + direct.swapaxes(1, 2)) / 2
    return first, second


class _IsotropicPair:
    def __init__(self, one: IsotropicResponse, other: IsotropicResponse) -> None:
        self.one, self.other, self.bulk, self.triangle = one, other, one.bulk, one.triangle

    @cached_property
    def response(self) -> Array:
        """T of `Resolvent`, for the two together."""
        pi, beta = self.bulk.groups.pi, self.bulk.beta
        terms = self.bulk.response_terms(self.one.matrices, self.other.matrices)
        q = np.sqrt(self.one.V2 * self.other.V2) / pi
        return variances_from_terms(q, terms, pi, beta)[1]

    def sources(self, hats: Hats, others: Hats) -> tuple[Array, Array]:
        """Compute `beta (psi_hat psi_hat^T, c zeta_hat^2)`, theory.md section 4, "Variances"."""
        psi, phi = (self.one.by_direction(each.psi) for each in (hats, others))
        zeta, eta = (self.one.by_spike(each.zeta) for each in (hats, others))
        squares = self.bulk.groups.c * np.sum(zeta * eta, axis=1)
        # Both act through the hats.
        first, of_psi = _parts(self.triangle, squares, psi.swapaxes(1, 2) @ phi)
        return self.bulk.beta * (first + of_psi), np.zeros_like(first)

    def screened_sources(self, rows: Array, w: Array, v: Array) -> tuple[Array, Array]:
        """Compute the derivative of `w screened(rows) v`: through q, and at fixed q."""
        (M, BK, _), (N, BL, _) = self.one.matrices, self.other.matrices
        slopes = np.einsum("sgr,sg,sht,sh->srt", BK, w, BL, v)
        Mw, Nv = np.einsum("sgh,sh->sg", M, w), np.einsum("sgh,sh->sg", N, v)
        through_q = self.bulk.beta * self.bulk.groups.c * Mw * Nv
        return _parts(self.triangle, rows.sum() * through_q, rows.sum() * slopes)


class _LetterRowsPair(_IsotropicPair):
    one: LetterRowsResponse
    other: LetterRowsResponse

    def sources(self, hats: Hats, others: Hats) -> tuple[Array, Array]:
        """Compute what the overlaps add, through V2 and at fixed V2."""
        psi, left = self.one.hats(hats.zeta, hats.psi)
        phi, right = self.other.hats(others.zeta, others.psi)
        squares = np.einsum("sig,gij,sjg->sg", left, self.one.covariance, right)
        return _parts(self.triangle, self.bulk.beta * squares, psi[:, :, None] * phi[:, None])


class _TrainedPair:
    """Of one group of neurons: functions of t alone, of which there are divided differences."""

    def __init__(self, one: TrainedResponse, other: TrainedResponse) -> None:
        self.one, self.other, self.beta, self.triangle = one, other, one.beta, triangle_of(1)
        self.qq, self.AA = one.V2 * other.V2, (one.A * other.A)[:, None]

    def _divided(self, f: Array, g: Array, slope: Array) -> tuple[Array, Array]:
        """Compute the divided differences of f(t) and of t f(t)."""
        t, s = (at.t.reshape(-1, *[1] * (f.ndim - 1)) for at in (self.one.at, self.other.at))
        gap = np.where(t == s, 1, t - s)
        divided = np.where(t == s, slope, (f - g) / gap)
        return divided, (f + g) / 2 + (t + s) / 2 * divided

    @cached_property
    def response(self) -> Array:
        """T of `Resolvent`, for the two together."""
        at, by = self.one.at, self.other.at
        dphi, slope = (x[:, None] for x in self._divided(at.phi, by.phi, at.dphi))
        T20 = 1 / (1 / self.qq + self.beta * self.AA * dphi)
        T22 = slope**2 * T20 - self.beta * self.qq * dphi
        return np.stack([T22, slope * T20, slope * T20, T20], axis=-1).reshape(-1, 2, 2)

    def sources(self, hats: Hats, others: Hats) -> tuple[Array, Array]:
        """Compute minus the derivative of z K z by the hats: through V2, and at fixed V2."""
        z, y = (order_hats(each.zeta, each.psi) for each in (hats, others))
        both = self._divided(self.one.psi, self.other.psi, self.one.psi_slope)
        slope, through_V2 = (np.einsum("si,sij,sj->s", z, part, y)[:, None] for part in both)
        direct = -(self.beta**2) * self.qq * slope
        return _parts(self.triangle, self.beta * through_V2, direct[:, :, None])

    def screened_sources(self, rows: Array, w: Array, v: Array) -> tuple[Array, Array]:
        """Compute the derivative of `w screened(rows) v`: through q, and at fixed q."""
        at, by = (each.bulk.mean_row(each.at) for each in (self.one, self.other))
        squares = rows.sum() * w * v
        df, direct = (x[:, None] for x in self._divided(at.f, by.f, at.df))
        through_q = -squares * self.beta * self.AA * df
        return _parts(self.triangle, through_q, (squares * direct)[:, :, None])


class _LettersPair:
    """The modes of both readouts together are modes of the same batch."""

    def __init__(self, one: LettersResponse, other: LettersResponse) -> None:
        self.one, self.other, self.rows, self.triangle = one, other, one.bulk.rows, one.triangle

    @cached_property
    def _traces(self) -> tuple[Array, Array]:
        """Traces and forms of B^j Z_k Z_l, for the modes k of one and l of the other."""
        if self.one is self.other:
            return np.stack(self.one.modes.pair.powers), self.one.pair_forms
        batch, R = self.rows.batch, self.triangle.order
        theta = np.concatenate([self.one.modes.theta, self.other.modes.theta], axis=-1)
        single = batch.traces(theta)
        pair = batch.pair_traces(theta, single)
        forms = np.stack(batch.pair_forms(theta, single, pair))
        return np.stack(pair.powers)[:, :, :R, R:], forms[:, :, :R, R:]

    @cached_property
    def response(self) -> Array:
        """T of `Resolvent`, for the two together."""
        terms = self.one.modes.terms(self.other.modes, self._traces[0])
        q = np.sqrt(self.one.modes.q * self.other.modes.q)
        return variances_from_terms(q, terms, self.rows.pi, self.rows.beta)[1]

    def sources(self, hats: Hats, others: Hats) -> tuple[Array, Array]:
        """Compute minus the derivative of z K z by the hats: through q, and at fixed q."""
        (one, other), beta, forms = (self.one, self.other), self.rows.beta, self._traces[1]
        drive, driven = one.drives(hats.zeta, hats.psi), other.drives(others.zeta, others.psi)
        left = np.einsum("sgk,sxk->sgxk", one.modes.A, drive.rows)
        right = np.einsum("sgk,sxk->sgxk", other.modes.A, driven.rows)
        c = one.modes.row_norms
        squares = contract("jg,jsklxy,sgxk,sgyl->sg", c, forms[:2], left, right)
        squares += driven.norms * np.einsum("sgxk,skx->sg", left, one.forms[0, ..., 0])
        squares += drive.norms * np.einsum("sgxk,skx->sg", right, other.forms[0, ..., 0])
        squares += drive.norms * driven.norms
        left = np.einsum("srk,jsxk->jsrxk", one.modes.dual, drive.functions)
        right = np.einsum("srk,jsxk->jsrxk", other.modes.dual, driven.functions)
        direct = beta**2 * sum(
            contract("sklxy,srxk,styl->srt", forms[i + j], left[i], right[j])
            for i in (0, 1)
            for j in (0, 1)
        )
        direct -= drive.spike[:, :, None] * driven.spike[:, None, :]
        return _parts(self.triangle, beta * squares, direct)

    def screened_sources(self, rows: Array, w: Array, v: Array) -> tuple[Array, Array]:
        """Compute the derivative of `w screened(rows) v`: through q, and at fixed q."""
        one, other, powers = self.one.modes, self.other.modes, self._traces[0]
        polynomial = self.one.polynomial(rows)
        drive, driven = np.einsum("sgk,sg->sk", one.A, w), np.einsum("sgk,sg->sk", other.A, v)
        powers = powers * drive[:, :, None] * driven[:, None, :]
        norms = product(polynomial, one.row_norms)
        through_q = contract("jg,jskl,sgk,sgl->sg", norms, powers[:3], one.A, other.A)
        between = np.einsum("j,jskl->skl", polynomial, powers[:2])
        direct = np.einsum("skl,sik,sjl->sij", between, one.dual, other.dual)
        return _parts(self.triangle, self.rows.beta * through_q, direct)


# How two readouts respond together.
Pair = _IsotropicPair | _TrainedPair | _LettersPair


def pair_of(one: SpikeResponse, other: SpikeResponse) -> Pair:
    """Pair the responses of two readouts on the same bulk, or of one readout twice."""
    kinds: dict[type, Any] = {
        IsotropicResponse: _IsotropicPair,
        LetterRowsResponse: _LetterRowsPair,
        TrainedResponse: _TrainedPair,
        LettersResponse: _LettersPair,
    }
    return kinds[type(one)](one, other)
