"""Steps that learn another target than the readout: docs/transfer.md."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from giantstep.arrays import Array
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.conditional_features import ConditionalFeatures
from giantstep.theory.first_layer.descent import Descent
from giantstep.theory.first_layer.interface import Accuracy, SteppedLayer
from giantstep.theory.first_layer.network_state import NetworkState
from giantstep.theory.first_layer.step import LettersState
from giantstep.theory.rows.interface import Bulk
from giantstep.validation import Fault


class Transfer(SteppedLayer):
    """The layer that the steps leave, seen by a readout whose target is another."""

    @cached_property
    def pretrained(self) -> Descent:
        """The layer of a readout that learns what the steps do."""
        layer = self.choose(self.problem.pretraining, self.dimension, self.fineness)
        assert isinstance(layer, Descent)
        return layer

    def faults(self) -> list[Fault]:
        """List why there is no theory of it."""
        return self.pretrained.faults()

    @cached_property
    def features(self) -> SpikedFeatures:
        """The equivalent features at the dimension."""
        srf = self.pretrained.features
        alignment = self.problem.task_overlap * srf.first_alignment
        return replace(srf, target=self.problem.target, alignment=alignment)

    @property
    def descent(self) -> Protocol:
        """The protocol of plain descent that rows follow."""
        return self.pretrained.descent

    @property
    def history(self) -> tuple[NetworkState, ...] | tuple[LettersState, ...]:
        """The network after each of its steps."""
        return self.pretrained.history

    def accuracy(self, kind: str) -> Accuracy:
        """Return the accuracy of a resolved point."""
        return self.pretrained.accuracy(kind)

    def has_norms(self, kind: str) -> bool:
        """Whether the norms of neurons depend on their overlap with the spike."""
        return self.pretrained.has_norms(kind)

    def common_rows(self) -> Array:
        """Compute what the steps do to all rows together."""
        return self.pretrained.common_rows()

    def trained_bulk(self, f: ConditionalFeatures, srf: SpikedFeatures, task: float = 1) -> Bulk:
        """Make the bulk of the steps, in directions of the readout's target."""
        return self.pretrained.trained_bulk(f, srf, self.problem.task_overlap * task)

    def row_overlap(self, srf: SpikedFeatures) -> float:
        """Compute d times the variance of a row's projection on the target of the steps."""
        return self.pretrained.row_overlap(srf)

    def learned_by_chance(self, dimension: float) -> float:
        """Estimate what neurons that overlap with the target by chance learn of it."""
        return self.pretrained.learned_by_chance(dimension)

    def remarks(self, kind: str) -> list[str]:
        """Say what the trained bulk leaves out."""
        return self.pretrained.remarks(kind)
