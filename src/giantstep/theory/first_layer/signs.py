"""Steps by the signs of the gradient's entries: docs/sign-descent.md.

The sign of a Gaussian entry is a multiple of the entry plus a remainder that is not correlated with
it. The multiple is a step of plain descent. The remainder is independent noise of each neuron, and
a change of the spike, since the mean sign over the neurons is not linear in the mean gradient.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property

import numpy as np

from giantstep.problems.bulk_kind import ISOTROPIC, TRAINED
from giantstep.problems.protocol import SGD, Protocol
from giantstep.problems.readout import UNIFORM
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.first_layer.continued_rows import ContinuedRows
from giantstep.theory.first_layer.fresh_step import next_step
from giantstep.theory.first_layer.interface import Scope
from giantstep.theory.first_layer.network_state import NetworkState, check_weights
from giantstep.theory.first_layer.odd_letters import OddLetters
from giantstep.theory.first_layer.odd_step import OddStep
from giantstep.theory.first_layer.one_spike import OneSpike, with_rows
from giantstep.theory.first_layer.row_norms import own_overlap
from giantstep.theory.first_layer.sign_rows import SignRows, directions_after_signs
from giantstep.theory.rows.row_functions import RowFunctions
from giantstep.validation import refusal

# E |z|: the part of a step of unit length that is along the gradient.
_ALONG_GRADIENT = math.sqrt(2 / math.pi)
_AT_POPULATION = (
    "Networks may be up to 5 % better after a step by signs along the population gradient, whose"
    " noise falls as d^(-1/2)."
)


class Signs(OneSpike):
    """One step by signs, made of the step of plain descent that is its part along the gradient."""

    takes = frozenset({"optimizer"})
    where = "in the theory of steps by signs"
    history: tuple[()] = ()  # nothing beyond the features
    left_out = "the covariance beyond spike and target, at most 16 % of the error"

    def scope(self) -> list[Scope]:
        """List what this layer covers."""
        allowed = f"{SGD} in the theory of several steps: of others only the first is known"
        return [("optimizer", self.problem.steps == 1, allowed)]

    @property
    def length(self) -> float:
        """The length of the step, e."""
        return self.giant.learning_rate / self.giant.beta

    @cached_property
    def protocol(self) -> Protocol:
        """The protocol whose step by plain descent is the part along the gradient."""
        protocol = of_one = replace(self.giant.pretraining, optimizer=SGD)
        # For an odd activation the gradient is proportional to the letter, and its sign is not.
        if protocol.as_in_paper:
            signs = tuple((float(np.sign(letter)), share) for letter, share in protocol.readout)
            protocol, of_one = replace(protocol, readout=signs), replace(protocol, readout=UNIFORM)
        gradient = _gradient_length(of_one)
        rate = _ALONG_GRADIENT * protocol.learning_rate / gradient if gradient > 0 else 0.0
        return replace(protocol, learning_rate=rate)

    def after_signs(self, srf: SpikedFeatures, dimension: float = math.inf) -> SpikedFeatures:
        """Return the equivalent features from those after plain descent as d -> infinity.

        Over the neurons an entry of the gradient is Gaussian around a mean, and over the entries
        the mean is Gaussian. The mean of the unit-length sign vector has squared length
        `2/pi arcsin(x)`, where x is the share of the means in the gradient's squared length. Its
        direction is that of the mean gradient with noise of its own.

        At a finite dimension the gradient, even that of the population, differs between neurons by
        their overlaps with the spike. A share of 1 - O(1/d) leaves noise of order d^(-1/2).
        """
        e, u = self.length, srf.groups.u
        moved = (np.array(self.giant.readout)[:, 0] != 0) * e**2
        if not np.any(moved):
            return srf
        share = np.minimum((u / (_ALONG_GRADIENT * e)) ** 2, 1)
        share /= 1 + own_overlap(self.giant.activation, dimension) * share
        strength = np.copysign(e * np.sqrt(np.arcsin(share) * 2 / math.pi), u)
        c = srf.groups.c + moved * (1 - _ALONG_GRADIENT**2) - (strength**2 - u**2)
        check_weights(self.giant, float(c.max()), float(np.abs(strength).max()))
        largest = np.argmax(np.abs(u))
        narrower = float(u[largest] / strength[largest]) if u[largest] else 1.0
        return with_rows(srf, c, strength, narrower)

    def at_dimension(self, srf: SpikedFeatures) -> SpikedFeatures:
        """Add the effects of a finite dimension on rows after plain descent."""
        return super().at_dimension(self.after_signs(srf, self.dimension))

    @cached_property
    def rows_in_limit(self) -> tuple[RowFunctions, NetworkState]:
        """The rows' functions and the state after the step.

        Where the mean or the noise of the gradient vanishes, a step by signs is plain descent with
        isotropic noise.
        """
        step = next_step(self.protocol, self.states[0], self.fineness)
        known = directions_after_signs(step, self.length, self.after_signs(self.limit))
        return known or super().rows_in_limit

    def at_complex_ridges(self) -> ContinuedRows:
        """Refuse complex ridges, at which rows after signs are not known."""
        raise refusal("bulk", TRAINED, f"{ISOTROPIC} for the spectrum after a step by signs")

    def remarks(self, kind: str) -> list[str]:
        """Say what the trained bulk leaves out, or the theory after a population gradient."""
        if not self.protocol.follows_population:
            return super().remarks(kind)
        return [] if math.isinf(self.dimension) else [_AT_POPULATION]


class OddSigns(Signs):
    """Signs from a uniform readout, for an odd activation."""

    left_out = "corrections to a step by signs, 2 % of the error in the median, at most 4 %"

    @cached_property
    def rows_in_limit(self) -> tuple[RowFunctions, NetworkState]:
        """The rows' functions and the state after the step."""
        if self.protocol.follows_population:
            return super().rows_in_limit
        return SignRows(OddStep(self.protocol), self.length, self.fineness).functions()


class OddLetterSigns(Signs, OddLetters):
    """Signs from a readout of several values, for an odd activation."""


def _gradient_length(protocol: Protocol) -> float:
    """Compute the length of a row of the first gradient, times p: that of its step for e = 1."""
    initial = NetworkState.at_initialisation(protocol.target)
    step = next_step(replace(protocol, learning_rate=protocol.beta), initial, 1)
    (growth,), (c,) = step.growth, step.bulk_variance
    return math.sqrt(np.sum(step.spikes**2) + (growth - 1) ** 2 + c - growth**2)
