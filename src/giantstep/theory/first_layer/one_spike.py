"""Gradient steps after which neurons share one spike: on fresh batches, theory.md section 13.

With a uniform readout they do so after every step, for any activation and any target. The first
step of an odd activation is the paper's, equations (9)-(12). Rows at a finite dimension: theory.md
section 12. Steps by signs, of several letters and on one batch also leave one spike. Their classes
inherit what follows from it, and replace the states or the rows.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from itertools import accumulate

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.gaussian import mean_derivatives
from giantstep.numerics.half_line import FEWER, MOST
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.bulk_kind import ISOTROPIC
from giantstep.problems.losses import SQUARE, lookup_loss
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.problems.targets import teacher_of
from giantstep.theory.features.conditional_features import ConditionalFeatures
from giantstep.theory.first_layer.continued_rows import ContinuedRows
from giantstep.theory.first_layer.covariance_step import CovarianceStep
from giantstep.theory.first_layer.fresh_step import next_step
from giantstep.theory.first_layer.interface import Scope, SteppedLayer
from giantstep.theory.first_layer.network_state import (
    NetworkState,
    features_in_state,
)
from giantstep.theory.first_layer.row_forms import forms_after
from giantstep.theory.first_layer.row_norms import added_norms
from giantstep.theory.first_layer.row_resolvent import solve_self_energy
from giantstep.theory.rows.interface import Bulk, ContinuedVariances
from giantstep.theory.rows.one_group import OneGroupBulk
from giantstep.theory.rows.row_functions import RowFunctions, as_columns

# The share of the target that one neuron in its direction learns, fitted to networks of erf and he3
# (two steps at a rate of 4, d = 117), which are 17 % off.
_ONE_NEURON = 1 / 5
# Products of Hermite coefficients below this are zero by symmetry.
_ROUNDING = 1e-13


# Protocols that have their first steps in common share the states and the rows after them.
@lru_cache(maxsize=1024)
def _state_after(before: NetworkState, step: Protocol, fineness: int) -> NetworkState:
    """Compute the state after one more step."""
    return next_step(step, before, fineness).after()


@lru_cache(maxsize=256)
def _rows_after(
    of: Protocol, state: NetworkState, rows: RowFunctions, fineness: int
) -> RowFunctions:
    """Compute the traces and forms of the rows after one more step, from those before it."""
    step = CovarianceStep(next_step(of, state, fineness))
    sigma = rows.covariance(step.norm_variance)

    def functions(t: Array) -> Array:
        at = solve_self_energy(step, rows.traces, t)
        forms = forms_after(step, sigma, at, rows.forms(at.before.t))
        return as_columns(at.f, at.phi, forms)

    after, most = _state_after(state, of, fineness=fineness), MOST if fineness == 1 else FEWER
    return RowFunctions.fitted(after.bulk_variance, functions, most=most)


class OneSpike(SteppedLayer):
    """Steps after which neurons share one spike: here on fresh batches, from a uniform readout.

    Subclasses replace the states, the rows or the features as d -> infinity by those of their own
    steps.
    """

    takes = frozenset({"decay", "schedules", "step_loss"})

    def scope(self) -> list[Scope]:
        """List what this layer covers."""
        of, loss = self.problem, lookup_loss(self.problem.step_loss)
        known = of.step_loss == SQUARE or not teacher_of(of.target)
        smooth = of.steps == 1 or not (loss.margin and loss.corners)
        return [
            ("step_loss", known, f"{SQUARE} in the theory of targets of several directions"),
            ("step_loss", smooth, "logistic or square in several steps on labels of +1 and -1"),
        ]

    @cached_property
    def states(self) -> tuple[NetworkState, ...]:
        """The network before its first step and after each."""
        initial = NetworkState.at_initialisation(self.protocol.target)
        after = partial(_state_after, fineness=self.fineness)
        return tuple(accumulate(self.protocol.each_step, after, initial=initial))

    @property
    def history(self) -> tuple[NetworkState, ...]:
        """The network after each of its steps."""
        return () if self.protocol.as_in_paper else self.states[1:]

    @property
    def limit(self) -> SpikedFeatures:
        """The equivalent features as d -> infinity."""
        return features_in_state(self.protocol, self.states[-1])

    @cached_property
    def rows_in_limit(self) -> tuple[RowFunctions, NetworkState]:
        """The functions of the rows of a uniform readout as d -> infinity, and the state.

        The state has their bulk variance, spike and covariance.
        """
        states = self.states
        rows = RowFunctions.at_initialisation(states[0].alignment.size)
        for step, state in zip(self.protocol.each_step, states[:-1], strict=True):
            rows = _rows_after(step, state, rows, self.fineness)
        return rows, states[-1]

    def at_complex_ridges(self) -> ContinuedVariances:
        """Return the variances of the rows of a uniform readout at complex ridges."""
        before = zip(self.protocol.each_step, self.states[:-1], strict=True)
        # Averages have poles near the axis of kappa, for which the usual rule has too few nodes.
        return ContinuedRows([next_step(of, state, 2) for of, state in before])

    @cached_property
    def features(self) -> SpikedFeatures:
        """The equivalent features at the dimension, for the target of the readout."""
        srf, of = self.at_dimension(self.limit), self.problem
        if not of.is_transfer:
            return srf
        return replace(srf, target=of.target, alignment=of.task_overlap * srf.first_alignment)

    def at_dimension(self, srf: SpikedFeatures) -> SpikedFeatures:
        """Add the effects of a finite dimension on rows: theory.md section 12.

        A shift that all rows share, beyond the mean of independent ones, belongs to the spike. It
        is orthogonal to the target.
        """
        if math.isinf(self.dimension):
            return srf
        protocol = self.protocol
        shift = max(float(self.common_rows().sum()), 0.0) / (protocol.beta * self.dimension)
        c, r, letters = srf.groups.c, srf.groups.u, np.array(protocol.readout)[:, 0]
        letters = letters if letters.size > 1 else np.ones(1)
        if protocol.steps == 1:  # for several steps it is not known
            c = c + self.added_norms(r) - letters**2 * shift
        longer = np.copysign(np.hypot(r, letters * math.sqrt(shift)), letters)
        share = np.abs(r).max() / np.abs(longer).max() if longer.any() else 1.0
        return with_rows(srf, c, longer, float(share))

    def added_norms(self, spike_strengths: Array) -> Array:
        """Compute what a finite dimension adds to the squared norm of rows, by letters."""
        step = next_step(self.protocol.each_step[0], self.states[0], self.fineness)
        of_loss = np.stack([step.rho, step.curvature, step.curvature**2]) @ step.weight
        return added_norms(step.protocol, spike_strengths, self.dimension, of_loss)

    def has_norms(self, kind: str) -> bool:
        """Whether the norms of neurons depend on their overlap with the spike."""
        return kind != ISOTROPIC

    def common_rows(self) -> Array:
        """Compute (k0, k1) of the `Shift`."""
        state = self.states[-1]
        return np.array([state.mean_row - state.bulk_variance, 0])

    def trained_bulk(self, f: ConditionalFeatures) -> Bulk:
        """Make the bulk with the whole covariance of the rows."""
        rows, last = self.rows_in_limit
        (c,) = self.features.groups.c
        rows = rows.with_norm(c, last.bulk_variance)
        rows = self.turned(rows, last.spike_strength, last.alignment)
        norm_variance = float(last.covariance[-1, -1])
        return OneGroupBulk(self.isotropic(f), rows, norm_variance, self.at_complex_ridges)

    def row_overlap(self) -> float | Array:
        """Compute d times the variance of a row's projection on the target."""
        return float(self.states[-1].bulk_overlaps.max())

    def learned_by_chance(self, dimension: float) -> float:
        """Estimate how much one neuron learns of a target without a linear or a quadratic part.

        In the theory the spike has no overlap with such a target. The largest of p overlaps by
        chance, t, grows in each step by a multiple of t^2. Losses other than the square see more of
        the target.
        """
        protocol = self.protocol
        if teacher_of(protocol.target) or protocol.step_loss != SQUARE:
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
    """Replace the rows; the new spikes' direction has the cosine `share` with the old one."""
    alignment = tuple(share * srf.alignments)
    return replace(srf, bulk_variance=tuple(c), spike_strength=tuple(u), alignment=alignment)
