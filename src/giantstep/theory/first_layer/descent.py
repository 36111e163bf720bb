"""What first layers after steps of plain descent have in common: rows at a finite dimension.

docs/finite-size.md, theory.md section 12.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import replace
from functools import cached_property

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.gaussian import mean_derivatives
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.bulk_kind import ISOTROPIC
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.problems.targets import teacher_of
from giantstep.theory.features.conditional_features import ConditionalFeatures
from giantstep.theory.first_layer.interface import (
    SteppedLayer,
)
from giantstep.theory.first_layer.network_state import NetworkState, features_in_state
from giantstep.theory.first_layer.row_norms import coupled_norms, own_output_norms
from giantstep.theory.rows.interface import Bulk, ContinuedVariances
from giantstep.theory.rows.one_group import OneGroupBulk
from giantstep.theory.rows.row_functions import RowFunctions, other_task

# What one neuron in the target's direction learns of it: networks of erf and he3 (two steps at a
# rate of 4, d = 117) are 17 % off.
_ONE_NEURON = 1 / 5
# Products of Hermite coefficients below this are zero by symmetry.
_ROUNDING = 1e-13


class Descent(SteppedLayer):
    """A first layer after steps by the gradient, on fresh batches or on one."""

    @property
    @abstractmethod
    def states(self) -> tuple[NetworkState, ...]:
        """The network before its first step and after each; of several letters, of one for all."""

    @property
    def history(self) -> tuple[NetworkState, ...]:
        """The network after each of its steps."""
        return self.states[1:]

    @property
    def limit(self) -> SpikedFeatures:
        """The equivalent features as d -> infinity."""
        return features_in_state(self.protocol, self.states[-1])

    @abstractmethod
    def rows_in_limit(self) -> tuple[RowFunctions, NetworkState]:
        """Compute the functions of the rows of a uniform readout as d -> infinity, and the state.

        The state has their bulk variance, spike and covariance.
        """

    @abstractmethod
    def at_complex_ridges(self) -> ContinuedVariances:
        """Return the variances of the rows of a uniform readout at complex ridges."""

    @cached_property
    def features(self) -> SpikedFeatures:
        """The equivalent features at the dimension, for the target of the readout."""
        srf, of = self.at_dimension(self.limit), self.problem
        if not of.is_transfer:
            return srf
        return replace(srf, target=of.target, alignment=of.task_overlap * srf.first_alignment)

    def at_dimension(self, srf: SpikedFeatures) -> SpikedFeatures:
        """Add what a finite dimension does to rows: docs/finite-size.md.

        A shift that all rows share, beyond the mean of independent ones, belongs to the spike. It
        is orthogonal to the target.
        """
        if math.isinf(self.dimension):
            return srf
        protocol, d = self.protocol, self.dimension
        shift = max(float(self.common_rows().sum()), 0.0) / (protocol.beta * d)
        c, r, letters = srf.groups.c, srf.groups.u, np.array(protocol.readout)[:, 0]
        letters = letters if letters.size > 1 else np.ones(1)
        if protocol.steps == 1:
            c = c + self.own_norms(d) + coupled_norms(protocol, r, d)
            c = c - letters**2 * shift
        largest = np.argmax(np.abs(letters))
        strength = float(r[largest] / letters[largest])
        longer = math.hypot(strength, math.sqrt(shift))
        share = strength / longer if longer > 0 else 1.0
        return with_rows(srf, c, r + letters * (longer - strength), share)

    def own_norms(self, dimension: float) -> Array:
        """Compute what the own output adds to the squared norm of rows in one step, by letters."""
        return own_output_norms(self.protocol, dimension)

    def has_norms(self, kind: str) -> bool:
        """Whether the norms of neurons depend on their overlap with the spike."""
        return kind != ISOTROPIC

    def common_rows(self) -> Array:
        """Compute what the steps do to all rows together."""
        state = self.states[-1]
        return np.array([state.mean_row - state.bulk_variance, 0])

    def trained_bulk(self, f: ConditionalFeatures, srf: SpikedFeatures) -> Bulk:
        """Make the bulk with the whole covariance of the rows."""
        rows, last = self.rows_in_limit()
        c, r = float(srf.groups.c[0]), float(srf.groups.u[0])
        rows, alignment = last.rows_beside(rows, c, r)
        if self.problem.task_overlap != 1:
            along = float(np.ravel(alignment)[0])
            rows = rows.turned(other_task(self.problem.task_overlap, along))
        norm_variance = float(last.covariance[-1, -1])
        return OneGroupBulk(self.isotropic(f, srf), rows, norm_variance, self.at_complex_ridges)

    def row_overlap(self, srf: SpikedFeatures) -> float:
        """Compute d times the variance of a row's projection on the target."""
        last = self.states[-1]
        square = last.bulk_variance + last.spike_strength**2
        return square * float(np.max(last.row_overlaps(1) - last.row_overlaps()))

    def learned_by_chance(self, dimension: float) -> float:
        """Estimate what one neuron learns of a target without a linear or a quadratic part.

        The theory has no overlap with it. The largest of p overlaps t by chance grows with its
        square.
        """
        protocol = self.protocol
        if teacher_of(protocol.target):
            return 0.0
        functions = protocol.activation, protocol.target
        student, target = (mean_derivatives(lookup(f), 3) for f in functions)
        _, *lower, third = np.abs(student * target)
        growth = third / 2 / protocol.beta * (max(lower) < _ROUNDING)
        t = math.sqrt(2 * math.log(1 + protocol.beta * dimension) / dimension)
        square = 1.0
        for step, state in zip(protocol.each_step, self.states[1:], strict=True):
            t += growth * step.learning_rate * t**2 / square**1.5
            square = state.bulk_variance + state.spike_strength**2 + t**2
        return _ONE_NEURON * float(t**2 / square) ** 3


def with_rows(srf: SpikedFeatures, c: Array, u: Array, share: float) -> SpikedFeatures:
    """Replace the rows; of the spikes' direction, a share (a cosine) is that of before."""
    alignment = tuple(share * srf.alignments)
    return replace(srf, bulk_variance=tuple(c), spike_strength=tuple(u), alignment=alignment)
