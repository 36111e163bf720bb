"""The network at initialisation, plain random features: no step moves it."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.problems.targets import teacher_of
from giantstep.theory.first_layer.interface import Scope, SteppedLayer
from giantstep.theory.first_layer.letters import letters_scope
from giantstep.theory.first_layer.network_state import shared_parameters


class Initial(SteppedLayer):
    """A network without samples for its steps, or without a learning rate."""

    batch = 0.0
    takes = frozenset({"decay", "step_loss"})  # of no consequence without a step
    takes_schedules = True

    def scope(self) -> list[Scope]:
        """List what this layer covers."""
        return [letters_scope(self.problem)]

    @cached_property
    def features(self) -> SpikedFeatures:
        """Random features without a spike, of one group for each letter."""
        teacher, fractions = teacher_of(self.problem.target), np.array(self.problem.readout)[:, 1]
        return SpikedFeatures(
            bulk_variance=(1.0,) * fractions.size,
            spike_strength=(0.0,) * fractions.size,
            alignment=(0.0,) * teacher.directions if teacher else 0.0,
            fraction=tuple(fractions.tolist()),
            **shared_parameters(self.problem),
        )

    def own_output(self, dimension: float) -> float:
        """Return that no output moves rows."""
        return 0.0
