"""The network after each of its gradient steps: theory.md sections 2 and 13.

With a uniform readout all neurons share one spike after every step on a fresh batch, so that the
network stays a spiked random features model. This is also true of activations that are not odd, and
of targets of several directions, in whose span the spike turns.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import numpy as np

from giantstep.arrays import Array
from giantstep.problems.domains import BULK_VARIANCE, SPIKE_STRENGTH
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.problems.targets import teacher_of
from giantstep.theory.features.conditional_target import across_basis
from giantstep.validation import refusal


@dataclass(frozen=True, eq=False)
class NetworkState:
    """A network with a uniform readout after some gradient steps.

    Attributes
    ----------
    bulk_variance, spike_strength : float
        c and r >= 0 of the equivalent spiked random features.
    alignment : Array, shape (D,)
        gamma: the overlaps of the spike's direction v with each of the target's.
    mean_row : float
        X: p times the squared norm of the bulk's mean row; c if rows are independent.
    covariance : Array, shape (D + 2, D + 2)
        Sigma: d times the covariance, over rows b of the bulk, of the projections on the spike and
        on the target's directions across it (`conditional_target`), and of |b|^2/c - 1.
    """

    bulk_variance: float
    spike_strength: float
    alignment: Array
    mean_row: float
    covariance: Array

    @classmethod
    @lru_cache(maxsize=32)  # one object for all, so that caches find its steps
    def at_initialisation(cls, target: str) -> NetworkState:
        """Describe a network before its first step."""
        D = teacher.directions if (teacher := teacher_of(target)) else 1
        return cls(1.0, 0.0, np.zeros(D), 1.0, np.diag([1.0] * (D + 1) + [0.0]))

    @property
    def targets(self) -> Array:
        """The target's directions along the spike and those across it, shape (D, D + 1)."""
        return np.column_stack([self.alignment, across_basis(self.alignment)])

    @property
    def bulk_overlaps(self) -> Array:
        """Variances, times d, of a bulk row's projection on each direction of the target, (D,)."""
        return np.einsum("ki,ij,kj->k", self.targets, self.covariance[:-1, :-1], self.targets)


def spiked_features(
    protocol: Protocol, bulk_variance: Array, spikes: Array, alignment: float | tuple[float, ...]
) -> SpikedFeatures:
    """Return the spiked random features of a protocol's network.

    Parameters
    ----------
    protocol : Protocol
    bulk_variance : Array, shape (G,)
    spikes : Array, shape (G, r)
        In coordinates of which the target's part is along the first.
    alignment : float or tuple of float
    """
    shared = {f.name for f in fields(Protocol)} & {f.name for f in fields(SpikedFeatures)}
    parameters: dict[str, Any] = {name: getattr(protocol, name) for name in shared}
    return SpikedFeatures(
        bulk_variance=tuple(bulk_variance),
        spike_strength=tuple(spikes[:, 0]),
        alignment=alignment,
        fraction=tuple(share for _, share in protocol.readout),
        further_spikes=tuple(map(tuple, spikes[:, 1:])),
        **parameters,
    )


@lru_cache(maxsize=32)
def features_in_state(protocol: Protocol, state: NetworkState) -> SpikedFeatures:
    """Return the spiked random features of a protocol's network in some state."""
    c, spikes = np.array([state.bulk_variance]), np.array([[state.spike_strength]])
    return spiked_features(protocol, c, spikes, tuple(state.alignment))


def spike_basis(spike: Array, targets: Array, otherwise: int) -> tuple[Array, Array]:
    """Find the spike's direction, and the target's across it.

    Those across the spike are the unit vectors nearest to the target's that are orthogonal to the
    spike and to one another. Where a target has no part across the spike, any such vector will do.

    Parameters
    ----------
    spike : Array, shape (M,)
        Along some directions.
    targets : Array, shape (D, M)
        The target's directions in these.
    otherwise : int
        Index of the direction in place of a spike that vanishes by symmetry, as for even
        activations. Rows have it, and the target does not depend on it.

    Returns
    -------
    alignment : Array, shape (D,)
    basis : Array, shape (1 + D, M)
    """
    strength = float(np.linalg.norm(spike))
    along = spike / strength if strength > 0 else np.eye(spike.size)[otherwise]
    orthogonal = np.linalg.svd(along[None])[2][1:]
    left, _, right = np.linalg.svd(targets @ orthogonal.T, full_matrices=False)
    return np.clip(targets @ along, -1, 1), np.vstack([along, left @ right @ orthogonal])


def check_weights(protocol: Protocol, bulk_variance: float, spike_strength: float) -> None:
    """Refuse a protocol whose rows are longer after a step than the rows of features may be.

    Parameters
    ----------
    protocol : Protocol
    bulk_variance, spike_strength : float
        Those of the neurons with the longest rows.

    Raises
    ------
    InvalidParametersError
        For the learning rate.
    """
    if bulk_variance in BULK_VARIANCE and spike_strength in SPIKE_STRENGTH:
        return
    allowed = f"so small that rows have a squared norm of at most {BULK_VARIANCE.upper:g}"
    raise refusal("learning_rate", protocol.learning_rate, allowed)
