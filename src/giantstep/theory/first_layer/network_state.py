"""The network after each of its gradient steps: theory.md sections 2 and 13.

With a uniform readout all neurons share one spike after every step on a fresh batch, so that the
network stays a spiked random features model. It holds for activations that are not odd, and for
targets of several directions, in whose span the spike turns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any

import numpy as np

from giantstep.arrays import Array
from giantstep.problems.domains import BULK_VARIANCE, SPIKE_STRENGTH
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.problems.targets import teacher_of
from giantstep.theory.features.conditional_target import across_basis
from giantstep.theory.rows.row_functions import RowFunctions, wider_spike
from giantstep.validation import refusal

# Bulk variances that differ by less are the same, computed in two ways.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class NetworkState:
    """A network with a uniform readout after some gradient steps.

    Attributes
    ----------
    bulk_variance, spike_strength : float
        c and r >= 0 of the equivalent spiked random features.
    alignment : float or tuple of float
        gamma: the overlap of the spike's direction v with the target's; for a teacher of D
        directions a tuple of the overlaps with each.
    mean_row : float
        X: p times the squared norm of the bulk's mean row; c if rows are independent.
    covariance : Array, shape (D + 2, D + 2)
        Sigma: d times the covariance, over rows b of the bulk, of the projections on the spike and
        on the target's directions across it (`conditional_target`), and of |b|^2/c - 1.
    """

    bulk_variance: float = 1.0
    spike_strength: float = 0.0
    alignment: float | tuple[float, ...] = 0.0
    mean_row: float = 1.0
    covariance: Array = field(default_factory=lambda: np.diag([1.0, 1.0, 0.0]))

    @classmethod
    @lru_cache(maxsize=32)  # the same object for all, by which steps are found again
    def at_initialisation(cls, target: str) -> NetworkState:
        """Describe a network before its first step."""
        teacher = teacher_of(target)
        if teacher is None:
            return cls()
        alignment = (0.0,) * teacher.directions
        return cls(alignment=alignment, covariance=np.diag([1.0, *np.ones_like(alignment), 0.0]))

    def row_overlaps(self, dimension: float = math.inf) -> Array:
        """Compute the fraction of a row's squared norm along each direction of the target, (D,).

        At finite dimension the bulk has some of it, too: at first chance, 1/d. Steps multiply it,
        and these equations hold as long as it is small.
        """
        a = np.atleast_1d(self.alignment)
        directions = np.column_stack([a, across_basis(a)])
        of_bulk = np.einsum("ki,ij,kj->k", directions, self.covariance[:-1, :-1], directions)
        strength = self.spike_strength**2
        return (strength * a**2 + of_bulk / dimension) / (self.bulk_variance + strength)

    def stretched(self, factor: float) -> NetworkState:
        """Describe the network with all rows longer by the root of a factor."""
        lengths = np.full(len(self.covariance), math.sqrt(factor))
        lengths[-1] = 1.0  # |b|^2/c - 1
        return NetworkState(
            self.bulk_variance * factor,
            self.spike_strength * math.sqrt(factor),
            self.alignment,
            self.mean_row * factor,
            self.covariance * np.outer(lengths, lengths),
        )

    def rows_beside(
        self, rows: RowFunctions, c: float, strength: float
    ) -> tuple[RowFunctions, float | tuple[float, ...]]:
        """Compute the functions of rows that have another norm, and share more than this spike.

        So they are at finite dimension: `row_norms`.

        Parameters
        ----------
        rows : RowFunctions
            In this state.
        c, strength : float
            Bulk variance and spike strength.

        Returns
        -------
        rows : RowFunctions
        alignment : float or tuple of float
            Of the spike that they share.
        """
        if abs(c - self.bulk_variance) > _ROUNDING * self.bulk_variance:
            rows = rows.with_norm(c, self.bulk_variance)
        share = self.spike_strength / strength if strength > self.spike_strength else 1.0
        if share < 1:
            rows = rows.turned(wider_spike(share, self.alignment))
        alignment = share * np.array(self.alignment)
        return rows, alignment.tolist() if alignment.ndim == 0 else tuple(alignment)


def features_in_state(protocol: Protocol, state: NetworkState) -> SpikedFeatures:
    """Return the spiked random features of a protocol's network in some state."""
    c, r, gamma = state.bulk_variance, state.spike_strength, state.alignment
    return SpikedFeatures(
        bulk_variance=c, spike_strength=r, alignment=gamma, **shared_parameters(protocol)
    )


def shared_parameters(protocol: Protocol) -> dict[str, Any]:
    """Return the parameters of a protocol that its spiked random features have, too."""
    shared = {f.name for f in fields(Protocol)} & {f.name for f in fields(SpikedFeatures)}
    return {name: getattr(protocol, name) for name in shared}


def check_weights(protocol: Protocol, bulk_variance: float, spike_strength: float) -> None:
    """Refuse a protocol whose rows are longer after a step than features may have them.

    Parameters
    ----------
    protocol : Protocol
    bulk_variance, spike_strength : float
        Of the neurons with the longest rows.

    Raises
    ------
    InvalidParametersError
        For the learning rate.
    """
    if bulk_variance in BULK_VARIANCE and spike_strength in SPIKE_STRENGTH:
        return
    allowed = f"so small that rows have a squared norm of at most {BULK_VARIANCE.upper:g}"
    raise refusal("learning_rate", protocol.learning_rate, allowed)
