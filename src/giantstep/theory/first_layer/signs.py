"""Steps by the signs of the gradient's entries: docs/sign-descent.md.

The sign of a Gaussian entry is a multiple of the entry, which makes a step of plain descent, and a
rest that is not correlated with it: noise of each neuron's own, and what it adds to the spike,
since the mean of a sign over the neurons is no linear function of the mean of the gradient.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property

import numpy as np

from giantstep.arrays import Array
from giantstep.problems.bulk_kind import ISOTROPIC, TRAINED
from giantstep.problems.protocol import SGD, Protocol
from giantstep.problems.readout import UNIFORM
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.conditional_features import ConditionalFeatures
from giantstep.theory.first_layer.descent import Descent, with_rows
from giantstep.theory.first_layer.fresh_step import next_step
from giantstep.theory.first_layer.interface import Scope
from giantstep.theory.first_layer.network_state import NetworkState, check_weights
from giantstep.theory.first_layer.sign_directions import directions_after_signs
from giantstep.theory.first_layer.sign_rows import SignRows
from giantstep.theory.rows.first_batch import FirstBatch
from giantstep.theory.rows.interface import Bulk, ContinuedVariances
from giantstep.theory.rows.row_functions import RowFunctions
from giantstep.validation import refusal

# E |z|: of a unit of the step's length, what is along the gradient.
_ALONG_GRADIENT = math.sqrt(2 / math.pi)


class Signs(Descent):
    """One step by signs, made of the step of plain descent that is its part along the gradient."""

    history: tuple[()] = ()  # nothing beyond the features
    left_out = "the covariance beyond spike and target, at most 16 % of the error"

    def scope(self) -> list[Scope]:
        """List what this layer covers."""
        allowed = f"{SGD} in the theory of several steps: of others only the first is known"
        return [("optimizer", self.problem.steps == 1, allowed)]

    @cached_property
    def plain(self) -> Descent:
        """The layer of the step of plain descent that is the part along the gradient."""
        descent = replace(self.giant, optimizer=SGD)
        protocol = descent.pretraining
        # For an odd activation the gradient is proportional to the letter, and its sign is not.
        if protocol.as_in_paper:
            signs = tuple((float(np.sign(letter)), share) for letter, share in descent.readout)
            descent, protocol = replace(descent, readout=signs), replace(protocol, readout=UNIFORM)
        length = _gradient_length(protocol)
        rate = _ALONG_GRADIENT * protocol.learning_rate / length if length > 0 else 0.0
        plain = self.choose(replace(descent, learning_rate=rate), self.dimension, self.fineness)
        assert isinstance(plain, Descent)
        return plain

    @property
    def descent(self) -> Protocol:
        """The protocol of that step."""
        return self.plain.protocol

    @property
    def states(self) -> tuple[NetworkState, ...]:
        """The network before and after that step."""
        return self.plain.states

    @cached_property
    def limit(self) -> SpikedFeatures:
        """The equivalent features as d -> infinity.

        Over the neurons an entry of the gradient is Gaussian around a mean, and over the entries
        the mean is Gaussian. Of a squared length of one, the mean sign has `2/pi arcsin(x)`, where
        x is the share of the means in the gradient. Its direction is that of the mean gradient with
        noise of its own.
        """
        protocol, srf = self.protocol, self.plain.limit
        e, u = protocol.learning_rate / protocol.beta, srf.groups.u
        moved = (np.array(protocol.readout)[:, 0] != 0) * e**2
        if not np.any(moved):
            return srf
        share = np.minimum((u / (_ALONG_GRADIENT * e)) ** 2, 1)
        strength = np.copysign(e * np.sqrt(np.arcsin(share) * 2 / math.pi), u)
        c = srf.groups.c + moved * (1 - _ALONG_GRADIENT**2) - (strength**2 - u**2)
        check_weights(protocol, float(c.max()), float(np.abs(strength).max()))
        largest = np.argmax(np.abs(u))
        narrower = float(u[largest] / strength[largest]) if u[largest] else 1.0
        return with_rows(srf, c, strength, narrower)

    def at_dimension(self, srf: SpikedFeatures) -> SpikedFeatures:
        """Add what a finite dimension does to rows after plain descent."""
        return self.plain.at_dimension(srf)

    def has_norms(self, kind: str) -> bool:
        """Whether the norms of neurons depend on their overlap with the spike."""
        return self.plain.has_norms(kind)

    def common_rows(self) -> Array:
        """Compute what the step does to all rows together."""
        return self.plain.common_rows()

    def rows_in_limit(self) -> tuple[RowFunctions, NetworkState]:
        """Compute the rows' functions and the state after the step.

        Where its mean or its noise vanishes, signs are those of plain descent, and noise without a
        direction.
        """
        e = self.protocol.learning_rate / self.protocol.beta
        step = next_step(self.descent, self.states[0], self.fineness)
        return directions_after_signs(step, e, self.limit) or self.plain.rows_in_limit()

    def at_complex_ridges(self) -> ContinuedVariances:
        """Refuse complex ridges, at which rows after signs are not known."""
        raise refusal("bulk", TRAINED, f"{ISOTROPIC} for the spectrum after a step by signs")

    def trained_bulk(self, f: ConditionalFeatures, srf: SpikedFeatures) -> Bulk:
        """Make the bulk with what is known of the rows' covariance."""
        if len(self.protocol.readout) > 1:
            return self.plain.trained_bulk(f, srf)
        return super().trained_bulk(f, srf)

    def row_overlap(self, srf: SpikedFeatures) -> float:
        """Compute d times the variance of a row's projection on the target."""
        return self.plain.row_overlap(srf)

    def learned_by_chance(self, dimension: float) -> float:
        """Estimate what neurons that overlap with the target by chance learn of it."""
        return self.plain.learned_by_chance(dimension)

    def remarks(self, kind: str) -> list[str]:
        """Say what the trained bulk leaves out."""
        plain = self.plain.remarks(kind)
        return plain if math.isinf(self.protocol.alpha0) else [*plain, *super().remarks(kind)]


class OddSigns(Signs):
    """Signs from a uniform readout, for an odd activation and finitely many samples."""

    left_out = "corrections to a step by signs, 2 % of the error in the median, at most 4 %"

    def rows_in_limit(self) -> tuple[RowFunctions, NetworkState]:
        """Compute the rows' functions and the state after the step."""
        batch = FirstBatch(self.descent, self.fineness)
        e = self.protocol.learning_rate / self.protocol.beta
        at = SignRows(batch, e, self.fineness)
        rows, norm_variance = at.functions()
        alignment, covariance = self.limit.first_alignment, rows.covariance(norm_variance)
        return rows, NetworkState(at.bulk_variance, at.strength, alignment, covariance=covariance)


def _gradient_length(protocol: Protocol) -> float:
    """Compute the length of a row of the first gradient, times p: that of its step for e = 1."""
    initial = NetworkState.at_initialisation(protocol.target)
    step = next_step(replace(protocol, learning_rate=protocol.beta), initial, 1)
    (growth,), (c,) = step.growth, step.bulk_variance
    return math.sqrt(step.spike @ step.spike + (growth - 1) ** 2 + c - growth**2)
