"""What the theory asks of the bulk of the first layer, and the isotropic bulk of the paper.

A bulk maps the hats to the variances V1, V2 (theory.md section 4, "Resolvent"), and tells how the
readout answers along the directions of neurons that have a mean: overlaps with the spike v, and
with the unit vector across it towards the target. Everything else of the theory is the same for
all bulks.

Directions along the spike are met between functions of kappa, `ConditionalFeatures.along`; those
across it between the functions phi. With the hats of both, z, the overlaps are K z, and what they
add to the variances is minus the derivative of z K z by the hats.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from giantstep.arrays import Array
from giantstep.problems.problem import Problem
from giantstep.problems.spiked_features import Groups, SpikedFeatures
from giantstep.theory.bulk.isotropic_variances import (
    load_slope,
    response_slope,
    screened,
    triangle_of,
    variances,
)
from giantstep.validation import Fault, InvalidParametersError

# As the paper has it; with the covariance that the first batch gives to the rows, theory.md section
# 9; and with neurons whose norms go with their overlaps with the spike, besides.
ISOTROPIC, TRAINED, TRAINED_NORMS = BULKS = ("isotropic", "trained", "trained_norms")


def settled_bulk(problem: Problem, bulk: str) -> str:
    """Check which bulk a problem is to be solved with.

    Weights that no step has moved are isotropic.

    Raises
    ------
    InvalidParametersError
        For an unknown bulk, or a trained one of features that are given directly.
    """
    if bulk not in BULKS:
        raise InvalidParametersError([Fault("bulk", bulk, f"one of {', '.join(BULKS)}")])
    if bulk == ISOTROPIC:
        return ISOTROPIC
    if isinstance(problem, SpikedFeatures):
        allowed = f"{ISOTROPIC} for spiked random features given directly"
        raise InvalidParametersError([Fault("bulk", bulk, allowed)])
    return bulk if problem.alpha0 > 0 and problem.learning_rate > 0 else ISOTROPIC


class GroupOverlaps(NamedTuple):
    """Overlaps between groups of neurons; those with the norms vanish for an isotropic bulk.

    Attributes
    ----------
    V1, q1 : Array, shape (S, G, G)
    zeta, psi, xi : Array, shape (S, G)
        With the spike, across it, and with the change of the neurons' norms.
    """

    V1: Array
    q1: Array
    zeta: Array
    psi: Array
    xi: Array


class Channels(Protocol):
    """How the readout answers along the spike (Z functions) and across it (R functions).

    Attributes
    ----------
    along : Array, shape (S, Z, Z)
    mixed : Array, shape (S, Z, R), or None where it vanishes
    across : Array, shape (S, R, R)
        The blocks of K.
    """

    @property
    def along(self) -> Array: ...  # noqa: D102
    @property
    def mixed(self) -> Array | None: ...  # noqa: D102
    @property
    def across(self) -> Array: ...  # noqa: D102

    def sources(self, along_hat: Array, across_hat: Array) -> tuple[Array, Array]:
        """Give what the overlaps add to the variances: `T @ first + second`, shapes (S, K).

        Parameters
        ----------
        along_hat : Array, shape (S, Z)
        across_hat : Array, shape (S, R)
        """

    def of_groups(self, direction: Array, along_hat: Array, across_hat: Array) -> GroupOverlaps:
        """Give overlaps of each group of neurons, and pair of groups.

        Parameters
        ----------
        direction : Array, shape (S, K)
            Of the hats, along which V changes by minus (q1, q2).
        along_hat, across_hat : Array
            As in `sources`.
        """


class Bulk(Protocol):
    """The bulk of the first layer: see the head of this module."""

    @property
    def weight(self) -> int:
        """How many numbers a point takes in memory."""

    def variances(self, V1_hat: Array, L: Array) -> tuple[Array, Array]:
        """Map the hats to V and T as `variances.variances` does."""

    def channels(self, V1_hat: Array, V: Array) -> Channels:
        """Tell how the readout answers at a solution.

        Parameters
        ----------
        V1_hat : Array, shape (S, R, R)
        V : Array, shape (S, K)
        """


@dataclass(frozen=True, eq=False)
class IsotropicBulk:
    """Rows uniform on spheres, of squared radius c a group: theory.md sections 4 and 5.

    Attributes
    ----------
    B : Array, shape (G, R)
        What makes the mu1 of the functions phi.
    groups : Groups
    beta : float
    """

    B: Array
    groups: Groups
    beta: float

    @property
    def weight(self) -> int:
        """How many numbers a point takes in memory."""
        return self.B.size**2

    def variances(self, V1_hat: Array, L: Array) -> tuple[Array, Array]:
        """Map the hats to V and T."""
        return variances(V1_hat, L, self.B, self.groups, self.beta)

    def channels(self, V1_hat: Array, V: Array) -> IsotropicChannels:
        """Tell how the readout answers at a solution."""
        return IsotropicChannels(self, V1_hat, V)


class IsotropicChannels:
    """Overlaps with an isotropic bulk: `zeta = beta c V2 zeta_hat`, `psi = beta V1 psi_hat`."""

    mixed = None

    def __init__(self, bulk: IsotropicBulk, V1_hat: Array, V: Array) -> None:
        self.bulk, self.V1_hat = bulk, V1_hat
        self.triangle = triangle_of(bulk.B.shape[1])
        self.V1, self.V2 = (
            self.triangle.unpack(V[:, : self.triangle.size]),
            V[:, self.triangle.size :],
        )
        B = bulk.B
        self.along = bulk.beta * ((B.T * (bulk.groups.c * self.V2)[:, None, :]) @ B)
        self.across = bulk.beta * self.V1

    def sources(self, along_hat: Array, across_hat: Array) -> tuple[Array, Array]:
        """Give `beta (psi_hat psi_hat^T, c zeta_hat^2)`, theory.md section 4, "Variances"."""
        bulk = self.bulk
        spread = self.triangle.pack(across_hat[:, :, None] * across_hat[:, None, :])
        squares = bulk.groups.c * (along_hat @ bulk.B.T) ** 2
        direction = bulk.beta * np.concatenate([spread, squares], axis=-1)
        return direction, np.zeros_like(direction)

    def of_groups(self, direction: Array, along_hat: Array, across_hat: Array) -> GroupOverlaps:
        """Give V1, q1 and the overlaps between groups from those between the functions phi."""
        (c, _, pi, _), B, beta = self.bulk.groups, self.bulk.B, self.bulk.beta
        q, split = self.V2 / pi, self.triangle.size
        dA, dL = self.triangle.unpack(direction[:, :split]), direction[:, split:]
        M, BK, _ = screened(q, self.V1_hat, B, self.bulk.groups, beta)
        bend = c * np.einsum("sgr,srt,sgt->sg", BK, dA, BK)
        slope = response_slope(q, bend[:, :, None], load_slope(M, self.bulk.groups, beta))
        dq = slope[:, :, 0] + np.einsum("sgh,sh->sg", slope[:, :, 1:], dL)
        d = pi * c * q
        W = np.eye(c.size) - beta * d[:, :, None] * M  # (I + beta D V1_hat)^-1
        V1B = d[:, :, None] * BK
        V1 = W * d[:, None, :]
        dV1 = (W * (pi * c * dq)[:, None, :]) @ W.transpose(0, 2, 1)
        dV1 -= beta * V1B @ dA @ V1B.transpose(0, 2, 1)
        zeta = beta * c * self.V2 * (along_hat @ B.T)
        psi = beta * np.einsum("sgr,sr->sg", V1B, across_hat)
        return GroupOverlaps((V1 + V1.transpose(0, 2, 1)) / 2, -dV1, zeta, psi, np.zeros_like(zeta))
