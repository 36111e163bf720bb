"""One step of an odd activation on a target of one direction, the paper's: equations (9)-(12).

theory.md section 2. The gradient of a neuron is proportional to its initial readout, so that all
share one spike whatever their letters.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.gaussian import standard_moments
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.conditional_features import ConditionalFeatures
from giantstep.theory.first_layer.interface import FirstLayer
from giantstep.theory.first_layer.network_state import check_weights, spiked_features
from giantstep.theory.first_layer.recursion import Recursion
from giantstep.theory.first_layer.row_norms import added_norms
from giantstep.theory.rows.eigenmodes import RowCovariance
from giantstep.theory.rows.first_batch import FirstBatch
from giantstep.theory.rows.groups import GroupsBulk
from giantstep.theory.rows.interface import Bulk


class OddLetters(Recursion):
    """One step of an odd activation, for an initial readout of several values."""

    left_out = "how norms of rows fluctuate, but for what their overlaps with the spike change"

    @cached_property
    def first_batch(self) -> FirstBatch:
        """The batch, as far as the rows remember it."""
        return FirstBatch(self.protocol, self.fineness)

    @cached_property
    def limit(self) -> SpikedFeatures:
        """The equivalent features as d -> infinity."""
        batch, omega = self.first_batch, np.array(self.protocol.readout)[:, 0]
        c, r = 1 + omega**2 * (batch.bulk_variance - 1), omega * batch.strength
        check_weights(self.protocol, float(c.max()), float(np.abs(r).max()))
        return spiked_features(self.protocol, c, r[:, None], batch.alignment)

    def added_norms(self, spike_strengths: Array) -> Array:
        """Compute what a finite dimension adds to the squared norm of rows, by letters."""
        return added_norms(self.protocol, spike_strengths, self.dimension)

    def common_rows(self) -> Array:
        """Compute (k0, k1) of `MeanRows`.

        The network's own output acts along the mean row, and as noise on the labels of the batch.
        And inputs of norm |x|^2 = d (1 + delta) change the mean of sigma' over all neurons by b3
        delta/2.
        """
        batch, (letters, fractions) = self.first_batch, np.array(self.protocol.readout).T
        second = float(standard_moments(lookup(self.protocol.activation)).second)
        along = batch.rate * batch.slope**2
        noise = along * batch.rate * second * batch.inverse_alpha0
        own_output = (along**2 + noise) * float(fractions @ letters**2) - 2 * along
        norms = (batch.rate * batch.third) ** 2 * batch.label_power * batch.inverse_alpha0
        return np.array([own_output, self.protocol.beta / 2 * norms])

    def trained_bulk(self, f: ConditionalFeatures) -> Bulk:
        """Make the bulk with the covariance of the rows: theory.md section 9."""
        batch, limit, protocol = self.first_batch, self.limit.groups, self.protocol
        groups = self.features.groups
        batch = self.turned(batch, float(np.abs(limit.u).max()), np.array([batch.alignment]))
        (omega, pi), base = np.array(protocol.readout).T, 1 + (groups.c - limit.c)
        rows = RowCovariance(f.B, pi, base, omega**2 * batch.tau, protocol.beta, batch)
        return GroupsBulk(rows, omega * batch.norm_coupling)

    # The same as for rows that no step has moved.
    row_overlap = FirstLayer.row_overlap
    learned_by_chance = FirstLayer.learned_by_chance
