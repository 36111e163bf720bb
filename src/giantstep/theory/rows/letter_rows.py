"""Rows of which each letter has a covariance of its own: docs/theory/larger-rank-spikes.md.

The covariance matters in the directions of the spikes and of the target; beyond them it is taken as
isotropic. What is left out: the covariance in the batches' other directions, and that of norms.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.linear_systems import solve_small
from giantstep.theory.rows.interface import GroupOverlaps, Hats, in_parts
from giantstep.theory.rows.isotropic import IsotropicBulk, IsotropicPair, IsotropicResponse


@dataclass(frozen=True, eq=False)
class LetterRowsBulk(IsotropicBulk):
    """An isotropic bulk, but for the directions that matter.

    Attributes
    ----------
    covariance : Array, shape (G, r + 1, r + 1)
        d times the covariance of rows, along the spikes' directions and the target's across them.
    """

    covariance: Array = field(default_factory=lambda: np.ones((1, 1, 1)))

    def spike_response(self, V1_hat: Array, V: Array) -> LetterRowsResponse:
        """Compute how the readout responds at a solution."""
        return LetterRowsResponse(self, V1_hat, V)


class LetterRowsResponse(IsotropicResponse):
    """Overlaps with such a bulk.

    The overlaps with projections of rows are `G z`, of `G = beta sum_g V2_g S_g x (B_g B_g^T)`, and
    z are the hats; but the readout on its own, V1_hat, acts against those across the spikes.
    """

    def __init__(self, bulk: LetterRowsBulk, V1_hat: Array, V: Array) -> None:
        super().__init__(bulk, V1_hat, V)
        self.covariance, self.R = bulk.covariance, self.triangle.order
        weights = bulk.beta * self.V2[:, :, None, None] * bulk.covariance
        G = np.einsum("sgij,ga,gb->siajb", weights, bulk.B, bulk.B)
        G = G.reshape(len(V), self.R * len(bulk.covariance[0]), -1)
        split = -self.R
        along, column, across = G[:, :split, :split], G[:, :split, split:], G[:, split:, split:]
        # (1 + G V1_hat)^-1 G across the spikes, and what that does to the other directions.
        system = np.eye(self.R) + across @ V1_hat
        both = solve_small(system, np.concatenate([across, column.swapaxes(1, 2)], axis=2))
        self.across, self.between = both[:, :, : self.R], both[:, :, self.R :].swapaxes(1, 2)
        self.mixed = self.between
        self.along = along - column @ V1_hat @ both[:, :, self.R :]

    def hats(self, hats: Hats) -> tuple[Array, Array]:
        """Compute psi, and the hats less what the readout does, by groups: (S, r + 1, G)."""
        psi = np.einsum("sat,st->sa", self.across, hats.psi)
        psi += np.einsum("sza,sz->sa", self.between, hats.zeta)
        left = hats.psi - np.einsum("sab,sb->sa", self.V1_hat, psi)
        every = np.concatenate([hats.zeta, left], axis=1)
        return psi, every.reshape(len(psi), -1, self.R) @ self.bulk.B.T

    def of_groups(self, direction: Array, q: Array, hats: Hats) -> GroupOverlaps:
        """Compute the overlaps of each group of neurons, and of each pair of groups."""
        isotropic = super().of_groups(direction, q, hats)
        _, of_groups = self.hats(hats)
        overlaps = np.einsum("gij,sjg->sig", self.covariance, of_groups)
        overlaps *= self.bulk.beta * self.V2[:, None]
        psi, xi = overlaps[:, -1], np.einsum("sjg,gj->sg", overlaps[:, 1:-1], self.bulk.beside)
        q1 = isotropic.q1 + psi[:, :, None] * psi[:, None, :]
        return GroupOverlaps(isotropic.V1, q1, overlaps[:, 0], psi, xi)

    def pair(self, other: IsotropicResponse) -> LetterRowsPair:
        """Pair it with the response of another readout, or with itself."""
        return LetterRowsPair(self, other)


class LetterRowsPair(IsotropicPair):
    """Two readouts on such a bulk."""

    one: LetterRowsResponse
    other: LetterRowsResponse

    def sources(self, hats: Hats, others: Hats) -> tuple[Array, Array]:
        """Compute what the overlaps add, through V2 and at fixed V2."""
        psi, left = self.one.hats(hats)
        phi, right = self.other.hats(others)
        squares = np.einsum("sig,gij,sjg->sg", left, self.one.covariance, right)
        return in_parts(self.triangle, self.bulk.beta * squares, psi[:, :, None] * phi[:, None])
