"""The bulk after several steps: its variances are isotropic, its overlaps are not.

Level 2 of theory.md section 13. The overlaps of the readout answer to Sigma, the covariance over
rows b of the bulk of (b.v, b.t, |b|^2/c - 1), where t are the target's directions across the spike.
With `G = beta V2 Sigma`, and the rows' parts across the spike screened by the readout's own
variance, `K = G - V1_hat G_.t (1 + V1_hat G_tt)^-1 G_t.`. In directions t in which G_tt is diagonal
this is a sum over them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from giantstep.arrays import Array
from giantstep.theory.features.bulk.interface import GroupOverlaps
from giantstep.theory.features.bulk.isotropic import IsotropicBulk, IsotropicResponse
from giantstep.theory.features.several_steps import NetworkState

_ALONG, _ACROSS, _NORM = 0, slice(1, -1), -1
_WITH_SPIKE = [_ALONG, _NORM]  # the functions of the mean prediction: kappa mu1 and E sigma''


@dataclass(frozen=True, eq=False)
class SteppedBulk:
    """Rows with the covariance and the norms that several steps leave; one group of neurons.

    Attributes
    ----------
    isotropic : IsotropicBulk
    covariance : Array, shape (D + 2, D + 2)
        Sigma, with the change of |b|^2/2 in place of |b|^2/c - 1.
    """

    isotropic: IsotropicBulk
    covariance: Array

    @cached_property
    def principal(self) -> Array:
        """Principal directions of Sigma across the spike, as columns of shape (D, D)."""
        vectors: Array = np.linalg.eigh(self.covariance[_ACROSS, _ACROSS])[1]
        return vectors

    @cached_property
    def principal_covariance(self) -> Array:
        """Sigma in these directions."""
        turn = np.eye(len(self.covariance))
        turn[_ACROSS, _ACROSS] = self.principal
        turned: Array = turn.T @ self.covariance @ turn
        return turned

    @classmethod
    def of(cls, isotropic: IsotropicBulk, state: NetworkState) -> SteppedBulk:
        """Prepare the bulk of a network in some state."""
        unit = np.ones(len(state.covariance))
        unit[_NORM] = state.bulk_variance / 2
        return cls(isotropic, state.covariance * np.outer(unit, unit))

    @property
    def floats_per_point(self) -> int:
        """Size of the largest array at one point."""
        return self.covariance.size

    def variances(self, V1_hat: Array, L: Array) -> tuple[Array, Array]:
        """Map the hats to V and T."""
        return self.isotropic.variances(V1_hat, L)

    @property
    def continued(self) -> IsotropicBulk:
        """The variances at complex ridges."""
        return self.isotropic

    def spike_response(self, V1_hat: Array, V: Array) -> SteppedResponse:
        """Compute how the readout responds at a solution."""
        return SteppedResponse(self, V1_hat, V)


class SteppedResponse(IsotropicResponse):
    """Overlaps along the spike, with the norms and across the spike."""

    def __init__(self, bulk: SteppedBulk, V1_hat: Array, V: Array) -> None:
        super().__init__(bulk.isotropic, V1_hat, V)
        self._principal = bulk.principal
        self._G = bulk.isotropic.beta * self.V2[:, :, None] * bulk.principal_covariance
        columns = self._G[:, :, _ACROSS].transpose(2, 0, 1)
        own = np.einsum("sdd->ds", self._G[:, _ACROSS, _ACROSS])
        self._screening = 1 + V1_hat * own[:, :, None, None]
        self._outer = columns[:, :, :, None] * columns[:, :, None, :]
        self.K = self._G - np.sum(V1_hat * self._outer / self._screening, axis=0)
        self.along = self.K[:, _WITH_SPIKE][:, :, _WITH_SPIKE]
        self.mixed = self.K[:, _WITH_SPIKE, _ACROSS] @ self._principal.T
        self.across = self._principal @ self.K[:, _ACROSS, _ACROSS] @ self._principal.T

    def sources(self, along_hat: Array, across_hat: Array) -> tuple[Array, Array]:
        """Compute minus the derivative of z K z by the hats: through V2, and at fixed V2."""
        z = self._hats(along_hat, across_hat)
        by_V1_hat = -np.sum(self._outer / self._screening**2, axis=0)
        by_V2 = self._G - np.sum(
            self.V1_hat * self._outer * (self._screening + 1) / self._screening**2, axis=0
        )
        zeros = np.zeros(len(z))
        through_V2 = np.einsum("si,sij,sj->s", z, by_V2 / self.V2[:, :, None], z)
        direct = -np.einsum("si,sij,sj->s", z, by_V1_hat, z)
        return np.stack([zeros, through_V2], axis=-1), np.stack([direct, zeros], axis=-1)

    def of_groups(self, direction: Array, along_hat: Array, across_hat: Array) -> GroupOverlaps:
        """Compute the overlaps of the one group of neurons."""
        of_isotropic = super().of_groups(direction, along_hat[:, :1], across_hat)
        overlaps = np.einsum("sij,sj->si", self.K, self._hats(along_hat, across_hat))
        first = self._principal.T @ self.bulk.first_across
        _, direct = self.sources(along_hat, across_hat)
        return of_isotropic._replace(
            q1=of_isotropic.q1 + direct[:, :1, None],
            zeta=overlaps[:, _ALONG, None],
            psi=overlaps[:, _ACROSS] @ first[:, None],
            xi=overlaps[:, _NORM, None],
        )

    def _hats(self, along_hat: Array, across_hat: Array) -> Array:
        """Order the hats as Sigma is, in its principal directions."""
        across = across_hat @ self._principal
        return np.concatenate([along_hat[:, :1], across, along_hat[:, 1:]], axis=-1)
