"""The bulk that one step on the first batch leaves: theory.md section 9, docs/trained-bulk.md."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.linear_systems import solve_small
from giantstep.numerics.packed_symmetric import triangle_of
from giantstep.problems.protocol import Protocol
from giantstep.theory.bulk.batch_covariance import FirstBatch
from giantstep.theory.bulk.eigenmodes import Modes, Root, Rows, product
from giantstep.theory.bulk.interface import GroupOverlaps
from giantstep.theory.bulk.response import (
    response_derivative,
    solve_self_consistency,
    variances_from_terms,
)


class TrainedBulk:
    """Rows of covariance `(I + omega^2 tau B)/d`, and norms that go with the spike.

    Parameters
    ----------
    protocol : Protocol
    B : Array, shape (G, R)
        What makes the mu1 of the functions phi.
    batch : FirstBatch
    norms : bool
        Whether the norms count.
    """

    def __init__(self, protocol: Protocol, B: Array, batch: FirstBatch, norms: bool) -> None:
        omega, pi = np.array(protocol.readout).T
        self.rows = Rows(B, pi, omega**2 * batch.tau, protocol.beta, batch)
        # How the norm of a neuron goes with its overlap with the spike; none is no channel.
        self.norms = omega * batch.coupling * norms

    @property
    def floats_per_point(self) -> int:
        """Size of the largest array at one point."""
        return int(self.rows.batch.squares.size * self.rows.B.shape[1] ** 2)

    def variances(self, V1_hat: Array, L: Array) -> tuple[Array, Array]:
        """Map the hats to V and T."""
        (B, pi, growth, beta, batch), root = self.rows, Root.of(V1_hat)

        def load(q: Array) -> tuple[Array, Array]:
            at = Modes(self.rows, q, root)
            return at.load, at.slope

        diagonal = np.einsum("gr,srt,gt->sg", B, V1_hat, B, optimize=True)
        q = solve_self_consistency(L, (1 + growth * batch.power) * diagonal, load)
        return variances_from_terms(q, Modes(self.rows, q, root).slopes(), pi, beta)

    def spike_response(self, V1_hat: Array, V: Array) -> TrainedResponse:
        """Compute how the readout responds at a solution."""
        return TrainedResponse(self, V1_hat, V)


class _Amplitudes(NamedTuple):
    """What the readout is made of, in modes.

    Attributes
    ----------
    bent : Array, shape (S, 2, R)
        Of what a row feels, `sum_k B u_k (...) Z_k`.
    straight : Array, shape (2, S, 2, R)
        Of what the rows make of it, `sum_k dual_k (...) Z_k`, as polynomials in B.
    normed : Array, shape (S, G)
        Along the change of norm of a group.
    lost : Array, shape (S, R)
        What lies along the spike's own direction, and is not in the covariance.
    """

    bent: Array
    straight: Array
    normed: Array
    lost: Array


class TrainedResponse:
    """Overlaps with a trained bulk; along the spike the functions phi come before the norms'."""

    def __init__(self, bulk: TrainedBulk, V1_hat: Array, V: Array) -> None:
        self.bulk, rows = bulk, bulk.rows
        self.triangle = triangle_of(rows.B.shape[1])
        self.root = Root.of(V1_hat)
        q = V[:, self.triangle.size :] / rows.pi
        self.shares = rows.pi * q
        self.modes = Modes(rows, q, self.root)
        self.forms = np.stack(rows.batch.forms(self.modes.theta, self.modes.single))
        size = self.triangle.order
        G = self._unprojected()
        # The spike's own direction is not in the covariance: it is taken out of the bulk.
        remaining = np.einsum(
            "sik,sjk,sk->sij", self.modes.dual, self.modes.dual, self.forms[0, :, :, 0, 0]
        )
        self.projection = solve_small(remaining, G[:, :size])
        K = G + G[:, :, :size] @ self.projection
        split = K.shape[-1] - size
        self.along, self.mixed = K[:, :split, :split], K[:, :split, split:]
        self.across = K[:, split:, split:]

    def _unprojected(self) -> Array:
        """Give K with the spike's direction left in, between (phi on v, norms, phi across)."""
        A, dual, F0 = self.modes.A, self.modes.dual, self.forms[0]
        beta, given = self.bulk.rows.beta, self.bulk.norms * self.shares
        phi = beta * np.einsum("sik,jskr,jskxy->sxiyr", dual, self.modes.numerators, self.forms)
        phi = (phi + phi.transpose(0, 1, 4, 3, 2)) / 2
        met = beta * np.einsum("sik,sgk,sg,skx->sxig", dual, A, given, F0[..., 0])
        own = -(beta**2) * np.einsum("sg,sh,sgk,shk,sk->sgh", given, given, A, A, F0[..., 0, 0])
        own += np.einsum("sg,gh->sgh", beta * self.bulk.norms * given, np.eye(given.shape[1]))
        if not self.bulk.norms.any():
            met, own = met[..., :0], own[:, :0, :0]
        swapped = met.transpose(0, 1, 3, 2)
        return np.block([
            [phi[:, 0, :, 0], met[:, 0], phi[:, 0, :, 1]],
            [swapped[:, 0], own, swapped[:, 1]],
            [phi[:, 1, :, 0], met[:, 1], phi[:, 1, :, 1]],
        ])  # fmt: skip

    def _amplitudes(self, along_hat: Array, across_hat: Array) -> _Amplitudes:
        """Resolve what drives the readout into modes, between (v, across)."""
        size, (A, dual) = self.triangle.order, (self.modes.A, self.modes.dual)
        drive = np.concatenate([along_hat, across_hat], axis=-1)
        spike = np.einsum("sij,sj->si", self.projection, drive)
        normed = np.zeros_like(self.shares)
        if self.bulk.norms.any():
            normed = self.bulk.norms * along_hat[:, size:]
        phi = np.stack([along_hat[:, :size] + spike, across_hat], axis=1)
        given = np.einsum("sgk,sg->sk", A, self.shares * normed)
        bent = np.einsum("srk,sxr->sxk", dual, phi)
        bent[:, 0] -= self.bulk.rows.beta * given
        straight = np.einsum("jskr,sxr->jsxk", self.modes.numerators, phi)
        straight[0, :, 0] += given
        lost = np.einsum("sij,skj,sk->si", self.root.dual, self.root.dual, spike)
        return _Amplitudes(bent, straight, normed, lost)

    def sources(self, along_hat: Array, across_hat: Array) -> tuple[Array, Array]:
        """Give minus the derivative of z K z: through q, and at fixed q."""
        beta, modes = self.bulk.rows.beta, self.modes
        at = self._amplitudes(along_hat, across_hat)
        lifted = np.einsum("sgk,sxk->sgxk", modes.A, at.bent)
        D = self.pair_forms
        squares = np.einsum(
            "jg,jsklxy,sgxk,sgyl->sg", modes.grown, D[:2], lifted, lifted, optimize=True
        )
        squares += 2 * at.normed * np.einsum("sgxk,skx->sg", lifted, self.forms[0, ..., 0])
        squares += at.normed**2
        thrown = np.einsum("srk,jsxk->jsrxk", modes.dual, at.straight)
        direct = beta**2 * sum(
            np.einsum(
                "sklxy,srxk,stly->srt", D[i + j], thrown[i], thrown[j].swapaxes(2, 3), optimize=True
            )
            for i in (0, 1)
            for j in (0, 1)
        )
        direct -= at.lost[:, :, None] * at.lost[:, None, :]
        nothing = np.zeros_like(self.triangle.pack(direct))
        return (
            np.concatenate([nothing, beta * squares], axis=-1),
            np.concatenate([self.triangle.pack(direct), np.zeros_like(squares)], axis=-1),
        )

    @cached_property
    def pair_forms(self) -> Array:
        """Forms of B^j Z_k Z_l between (v, across), shape (3, S, R, R, 2, 2)."""
        modes, batch = self.modes, self.bulk.rows.batch
        return np.stack(batch.pair_forms(modes.theta, modes.single, modes.pair))

    def of_groups(self, direction: Array, along_hat: Array, across_hat: Array) -> GroupOverlaps:
        """Give overlaps of each group of neurons, and pair of groups."""
        modes, shares = self.modes, self.shares
        beta, size = self.bulk.rows.beta, self.triangle.order
        at = self._amplitudes(along_hat, across_hat)
        lifted = np.einsum("sgk,sxk->sgxk", modes.A, at.bent)
        single = np.einsum("jg,jskxy,sgxk->sgy", modes.grown, self.forms, lifted)
        single[:, :, 0] += at.normed
        overlaps = beta * shares[:, :, None] * single
        zeta, psi = overlaps[:, :, 0], overlaps[:, :, 1]
        xi = np.zeros_like(zeta)
        if self.bulk.norms.any():
            xi = np.einsum("sij,sj->si", self.along, along_hat)
            xi = (xi + np.einsum("sij,sj->si", self.mixed, across_hat))[:, size:]
        V1, change = self._between_groups(direction)
        both = product(modes.grown, modes.grown)
        q1 = np.einsum(
            "jgh,jsklxy,sgxk,shyl->sgh", both, self.pair_forms, lifted, lifted, optimize=True
        )
        mixed = np.einsum(
            "jg,jskx,sgxk,sh->sgh", modes.grown, self.forms[..., 0], lifted, at.normed
        )
        q1 += mixed + mixed.transpose(0, 2, 1) + at.normed[:, :, None] * at.normed[:, None]
        q1 *= beta**2 * shares[:, :, None] * shares[:, None]
        q1 -= zeta[:, :, None] * zeta[:, None]
        return GroupOverlaps(V1, q1 - change, zeta, psi, xi)

    def _between_groups(self, direction: Array) -> tuple[Array, Array]:
        """Give V1 between groups, and its derivative along a direction of the hats.

        `V1 = E_b [D - beta D M D]` and, with `W = 1 - beta D M`,
        `dV1 = E_b [W dD W^T - beta D M V1_hat^-1 dV1_hat V1_hat^-1 M D]`.
        """
        (_, pi, growth, beta, batch), modes, shares = self.bulk.rows, self.modes, self.shares
        split, both = self.triangle.size, product(modes.grown, modes.grown)
        three = np.moveaxis(product(both, modes.grown), 3, 2)  # groups g, j, h
        dA, dL = self.triangle.unpack(direction[:, :split]), direction[:, split:]
        slopes = modes.slopes()
        bend = np.einsum("sgij,sij->sg", slopes.load_gradient, dA)
        slope = response_derivative(modes.q, bend[:, :, None], slopes.load_decrease)
        dq = pi * (slope[:, :, 0] + np.einsum("sgh,sh->sg", slope[:, :, 1:], dL))
        eye, norms = np.eye(pi.size), 1 + growth * batch.power
        A, pair = modes.A, np.stack(modes.pair.powers)
        met = np.einsum("jgh,jsk,sgk,shk->sgh", both, np.stack(modes.single.powers), A, A)
        V1 = eye * (norms * shares)[:, None] - beta * shares[:, :, None] * met * shares[:, None]
        once = beta * shares[:, :, None] * met * dq[:, None]
        turned = np.einsum("sik,sij,sjl->skl", modes.dual, dA, modes.dual)
        bent = np.einsum("jgh,jskl,sgk,shl,skl->sgh", both, pair[:3], A, A, turned, optimize=True)
        bent -= beta * np.einsum(
            "jgmh,jskl,sgk,smk,sml,shl,sm->sgh", three, pair, A, A, A, A, dq, optimize=True
        )
        bent *= beta * shares[:, :, None] * shares[:, None]
        return V1, eye * (norms * dq)[:, None] - once - once.transpose(0, 2, 1) - bent
