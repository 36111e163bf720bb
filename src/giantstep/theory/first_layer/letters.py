"""Steps of networks whose initial readout has several values, each with a spike of its own.

docs/theory/larger-rank-spikes.md.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from itertools import accumulate

import numpy as np

from giantstep.arrays import Array
from giantstep.problems.losses import lookup_loss
from giantstep.problems.readout import FINER_NORMAL, NORMAL
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.problems.targets import teacher_of
from giantstep.theory.features.conditional_features import ConditionalFeatures
from giantstep.theory.first_layer.interface import Scope, Shift, SteppedLayer
from giantstep.theory.first_layer.letters_step import letters_after
from giantstep.theory.first_layer.step import LettersState
from giantstep.theory.rows.interface import Bulk


class Letters(SteppedLayer):
    """Neurons of one letter share a spike after each step on a fresh batch."""

    takes = frozenset({"schedules", "step_loss"})
    where = "in the theory of readouts of several values"
    left_out = "the covariance beyond spikes and target, 2 % of the error, at most 11 %"

    def scope(self) -> list[Scope]:
        """List what this layer covers."""
        of = self.problem
        steps = of.steps == 1 or of.readout not in (NORMAL, FINER_NORMAL)
        smooth = not lookup_loss(of.step_loss).corners
        return [
            ("reuse_batch", not of.reuses_samples, f"false {self.where}"),
            ("steps", steps, "1 in the theory of a normal readout"),
            ("task_overlap", not of.is_transfer, f"1, and the same target, {self.where}"),
            ("step_loss", smooth, f"without corners, as log_cosh is, {self.where}"),
            ("target", teacher_of(of.target) is None, f"of one direction {self.where}"),
        ]

    @cached_property
    def history(self) -> tuple[LettersState, ...]:
        """The network after each of its steps."""
        initial = LettersState.at_initialisation(len(self.protocol.readout))
        after = partial(letters_after, fineness=self.fineness)
        return tuple(accumulate(self.protocol.each_step, after, initial=initial))[1:]

    @cached_property
    def features(self) -> SpikedFeatures:
        """The equivalent features."""
        return self.history[-1].features(self.protocol)

    def trained_bulk(self, f: ConditionalFeatures) -> Bulk:
        """Make the bulk with the rows' covariance along spikes and target."""
        rows = self.history[-1].in_readout_basis()[2]
        return replace(self.isotropic(f), covariance=rows)

    def row_overlap(self) -> Array:
        """Compute d times the variance of a row's projection on the target, which steps enlarge."""
        return self.history[-1].covariance[:, 0, 0]

    def shifts(self) -> list[Shift]:
        """List what the steps give to all rows alike."""
        state, (_, _, pi, _) = self.history[-1], self.features.groups
        shared = (state.mean_rows - np.diag(state.bulk_variance)) / np.sqrt(np.outer(pi, pi))
        values, vectors = np.linalg.eigh(shared)
        return [Shift(*one) for one in zip(vectors.T, np.outer(values, [1, 0]), strict=True)]
