"""The network at initialisation, plain random features: no step moves it."""

from __future__ import annotations

from functools import cached_property

from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.first_layer.interface import SteppedLayer
from giantstep.theory.first_layer.network_state import NetworkState, features_in_state


class Initial(SteppedLayer):
    """A network without samples for its steps, or without a learning rate."""

    takes = frozenset({"decay", "optimizer", "schedules", "step_loss"})  # of no consequence

    @cached_property
    def features(self) -> SpikedFeatures:
        """Random features without a spike, of one group for each letter."""
        initial = NetworkState.at_initialisation(self.problem.target)
        return features_in_state(self.problem, initial)
