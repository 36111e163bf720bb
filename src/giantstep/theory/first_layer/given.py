"""Spiked random features that are given directly."""

from __future__ import annotations

from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.first_layer.interface import FirstLayer


class GivenFeatures(FirstLayer):
    """Features with independent rows, which no step has moved."""

    problem: SpikedFeatures

    @property
    def features(self) -> SpikedFeatures:
        """The features themselves."""
        return self.problem
