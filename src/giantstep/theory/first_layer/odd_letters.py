"""One step of an odd activation on a target of one direction, the paper's: equations (9)-(12).

theory.md section 2. The gradient of a neuron is proportional to its initial readout, so that all
share one spike whatever their letters.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from giantstep.arrays import Array
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.conditional_features import ConditionalFeatures
from giantstep.theory.first_layer.interface import FirstLayer
from giantstep.theory.first_layer.network_state import check_weights, spiked_features
from giantstep.theory.first_layer.odd_step import OddStep
from giantstep.theory.first_layer.one_spike import OneSpike
from giantstep.theory.rows.eigenmodes import RowCovariance
from giantstep.theory.rows.groups import GroupsBulk
from giantstep.theory.rows.interface import Bulk


class OddLetters(OneSpike):
    """One step of an odd activation, for an initial readout of several values.

    `Anisotropic` shares its effects of a finite dimension.
    """

    left_out = "how norms of rows fluctuate, but for what their overlaps with the spike change"

    @cached_property
    def step(self) -> OddStep:
        """What the step leaves of neurons whose readout is one."""
        return OddStep(self.protocol)

    @cached_property
    def limit(self) -> SpikedFeatures:
        """The equivalent features as d -> infinity."""
        step, omega = self.step, np.array(self.protocol.readout)[:, 0]
        c, r = 1 + omega**2 * (step.bulk_variance - 1), omega * step.spike_strength
        check_weights(self.protocol, float(c.max()), float(np.abs(r).max()))
        return spiked_features(self.protocol, c, r[:, None], step.alignment)

    def common_rows(self) -> Array:
        """Compute (k0, k1) of the `Shift`."""
        letters, fractions = np.array(self.protocol.readout).T
        return self.step.mean_row(float(fractions @ letters**2)).mean(axis=1)

    def added_norms(self, spike_strengths: Array) -> Array:
        """Compute what a finite dimension adds to the squared norm of rows, by letters."""
        return self.step.added_norms(self.dimension)

    def trained_bulk(self, f: ConditionalFeatures) -> Bulk:
        """Make the bulk with the covariance of the rows: theory.md section 9."""
        step, limit, protocol = self.step, self.limit.groups, self.protocol
        batch, strength = step.first_batch(self.fineness), float(np.abs(limit.u).max())
        batch = self.turned(batch, strength, np.array([step.alignment]))
        (omega, pi), added = np.array(protocol.readout).T, self.features.groups.c - limit.c
        norms = np.stack([1 + added, omega**2 * step.tau])
        rows = RowCovariance(f.B, pi, norms, protocol.beta, batch)
        return GroupsBulk(rows, omega * step.norm_coupling)

    # The same as for rows that no step has moved.
    row_overlap = FirstLayer.row_overlap
    learned_by_chance = FirstLayer.learned_by_chance
