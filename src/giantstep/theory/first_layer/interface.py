"""A first layer, as the rest of the theory knows it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.gaussian import standard_moments
from giantstep.numerics.quadrature import WIDE
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.bulk_kind import ISOTROPIC
from giantstep.problems.parameter import unmet
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import SCHEDULED, Protocol
from giantstep.problems.readout import FINER_NORMAL, NORMAL
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.problems.targets import teacher_of
from giantstep.theory.features.conditional_features import (
    ConditionalFeatures,
    NodesOverKappa,
    conditional_features,
)
from giantstep.theory.features.input_norms import with_input_norms
from giantstep.theory.features.sparse_rows import with_sparse_rows
from giantstep.theory.first_layer.leading_components import Estimates
from giantstep.theory.first_layer.network_state import NetworkState
from giantstep.theory.first_layer.step import LettersState
from giantstep.theory.rows.interface import Bulk
from giantstep.theory.rows.isotropic import IsotropicBulk
from giantstep.validation import Fault

# Factor of the estimate of what the network's own output does to rows: networks of tanh and erf at
# rates of 10 and 18 (d = 200) are 4 and 10 % off.
_OWN_OUTPUT = 1 / 40


# Parameters of protocols that every layer knows: others are refused where they are not taken.
_KNOWN = frozenset({
    *("activation", "target", "learning_rate", "alpha0", "beta", "noise", "readout", "inputs"),
    *("steps", "reuse_batch", "outlier_fraction", "outlier_variance", "step_exponent"),
    *("label_flips", "optimizer", "pretrain_target", "task_overlap", "covariance", "target_decay"),
})  # fmt: skip


# A parameter, whether the theory covers its value, and what it covers, in words.
Scope = tuple[str, bool, str]


class Accuracy(NamedTuple):
    """Relative changes of the hats and of the test error, with twice as many nodes, that are small.

    Near the interpolation threshold the error is far more sensitive.
    """

    hats: float
    error: float


# The rules of the paper's bulk converge exponentially. Labels without bound, over which a trained
# bulk averages, and the directions of several spikes make others slower; several directions of the
# target slower still.
EXPONENTIAL, SLOWER, SLOWEST = Accuracy(1e-8, 1e-3), Accuracy(1e-5, 1e-3), Accuracy(1e-4, 1e-3)


class MeanRows(NamedTuple):
    """What steps do to all rows together: theory.md section 12.

    Beyond what independent rows have, the mean rows of groups g and h, times sqrt(p), have the
    overlap `pi_g omega_g pi_h omega_h (k0 + k1)`, summed over F factors.

    Attributes
    ----------
    letters : Array, shape (F, G)
        omega of each group.
    common : Array, shape (F, 2)
        (k0, k1), of which k1 has the covariance of the first batch.
    """

    letters: Array
    common: Array

    @classmethod
    def independent(cls, groups: int) -> MeanRows:
        """Describe independent rows, which have nothing more."""
        return cls(np.ones((0, groups)), np.zeros((0, 2)))


@dataclass(eq=False)
class FirstLayer(ABC):
    """The first layer that a problem's steps leave; by default with independent rows.

    Attributes
    ----------
    problem : Protocol or SpikedFeatures
    dimension : float
        d, may be infinite.
    fineness : int
        Multiplies the number of nodes of quadrature rules.
    choose : callable
        `layer.layer_of`, for layers that are made of others.
    """

    problem: Problem
    dimension: float
    fineness: int
    choose: Callable[..., FirstLayer]

    batch: ClassVar[float] = math.inf  # the samples of all steps, over d
    left_out = ""  # what the trained bulk leaves out, in words

    def faults(self) -> list[Fault]:
        """List why there is no theory of it, so that it can only be simulated."""
        return []

    def derivative_faults(self) -> list[Fault]:
        """List why differences of its errors are no derivatives."""
        return []

    @property
    @abstractmethod
    def features(self) -> SpikedFeatures:
        """The equivalent spiked random features at the dimension: Result 3.1."""

    @property
    def history(self) -> tuple[NetworkState, ...] | tuple[LettersState, ...]:
        """The network after each of its steps, unless one odd step is all."""
        return ()

    def finer(self, fineness: int) -> FirstLayer:
        """Return the same layer on rules of another fineness."""
        return self.choose(self.problem, self.dimension, fineness)

    def with_letters(self) -> tuple[FirstLayer, FirstLayer] | None:
        """Return it with the letters in place of a normal readout, and with twice as many.

        At infinite dimension; None for another readout.
        """
        return None

    def accuracy(self, kind: str) -> Accuracy:
        """Return the accuracy of a resolved point, for a kind of bulk."""
        if self.features.further_spikes:
            return SLOWER
        if kind == ISOTROPIC or self.batch == 0:
            return EXPONENTIAL
        return SLOWEST if teacher_of(self.problem.target) else SLOWER

    def remarks(self, kind: str) -> list[str]:
        """Say in words what a kind of bulk leaves out."""
        if kind == ISOTROPIC or not self.left_out:
            return []
        return [f"The trained bulk leaves out {self.left_out}: compare with networks."]

    # The rows.

    def has_norms(self, kind: str) -> bool:
        """Whether the norms of neurons depend on their overlap with the spike."""
        return False

    def row_power(self) -> tuple[tuple[float, float, float], float]:
        """Compute how the variance of rows varies with inputs, as `with_input_norms` needs it."""
        return (0.0, 0.0, 1.0), 1.0

    def conditional(
        self, kind: str, B: Array | None = None, fineness: float | None = None, wide: bool = False
    ) -> ConditionalFeatures:
        """Compute the conditional features at the dimension.

        Arguments are as in `conditional_features`, with panels that are wide or not; at finite
        dimension there are more, which `with_sparse_rows` and the cut of `MeanFluctuation` need.
        """
        srf, fineness = self.features, fineness or self.fineness
        panel = (WIDE if wide else 1.0) if math.isinf(self.dimension) else None
        f = conditional_features(srf, fineness, B, self.has_norms(kind), panel)
        f = with_input_norms(f, srf, self.dimension, self.row_power())
        return with_sparse_rows(f, srf, self.dimension, fineness)

    def bulk(self, kind: str, f: ConditionalFeatures) -> Bulk:
        """Make the bulk of a kind, one of `bulk_kind.BULKS`, for some conditional features."""
        if kind == ISOTROPIC:
            return self.isotropic(f, self.features)
        return self.trained_bulk(f, self.features)

    def isotropic(self, f: ConditionalFeatures, srf: SpikedFeatures) -> IsotropicBulk:
        """Make the isotropic bulk of the paper."""
        return IsotropicBulk(f.B, srf.groups, srf.beta, f.first_across, srf.beside)

    def trained_bulk(self, f: ConditionalFeatures, srf: SpikedFeatures) -> Bulk:
        """Make the bulk with all that is known of what steps do to rows.

        Parameters
        ----------
        f : ConditionalFeatures
        srf : SpikedFeatures
            Those that have the rows: of this layer, or of one that is made of it.
        """
        return self.isotropic(f, srf)

    def mean_rows(self) -> MeanRows:
        """Compute what the steps do to all rows together."""
        return MeanRows.independent(self.features.groups.c.size)

    # What the theory leaves out: `theory.reliability`.

    def row_overlap(self, srf: SpikedFeatures) -> float:
        """Compute d times the variance of a row's projection on the target; srf has the rows."""
        return float(np.max(srf.groups.c))

    def learned_by_chance(self, dimension: float) -> float:
        """Estimate what neurons that overlap with the target by chance learn of it."""
        return 0.0

    def own_output(self, dimension: float) -> float:
        """Estimate what the network's own output does to rows beyond the theory."""
        return 0.0

    def leading_components(self, f: ConditionalFeatures, rule: NodesOverKappa) -> Estimates | None:
        """Prepare estimates of what leading directions of the inputs do, if there are any."""
        return None


class SteppedLayer(FirstLayer):
    """The first layer of a protocol.

    Attributes
    ----------
    takes : frozenset of str
        Parameters of the protocol that it knows of, beside those that all layers know; "schedules"
        if steps may differ.
    """

    problem: Protocol
    takes: ClassVar[frozenset[str]] = frozenset()

    def faults(self) -> list[Fault]:
        """List the parameters whose values this layer does not cover."""
        of = self.problem
        checks = [
            (one.name, getattr(of, one.name) == one.default, f"{one.default} in this theory")
            for one in fields(Protocol)
            if one.name not in _KNOWN | self.takes
        ]
        for name in SCHEDULED:
            same = "schedules" in self.takes or not isinstance(getattr(of, name), tuple)
            checks.append((name, same, "one number for all steps in this theory"))
        return unmet(of, checks + self.scope())

    def scope(self) -> list[Scope]:
        """List what this layer covers of parameters that it knows."""
        return []

    @cached_property
    def giant(self) -> Protocol:
        """The problem with the giant step, at the rate that matches at the dimension.

        Raises
        ------
        InvalidParametersError
            For a smaller step at infinite dimension.
        """
        return self.problem.with_giant_step(self.dimension)

    @cached_property
    def protocol(self) -> Protocol:
        """The same with the target of the steps, where it is not that of the readout."""
        return self.giant.pretraining

    def with_letters(self) -> tuple[FirstLayer, FirstLayer] | None:
        """Return it with the letters in place of a normal readout, and with twice as many."""
        if self.problem.readout != NORMAL:
            return None
        finer = replace(self.giant, readout=FINER_NORMAL)
        return self.choose(self.giant), self.choose(finer)

    @property
    def batch(self) -> float:  # type: ignore[override]
        """The samples of all steps, over d."""
        return sum(step.alpha0 for step in self.protocol.each_step)

    def common_rows(self) -> Array:
        """Compute (k0, k1) of `MeanRows`, where one factor is enough."""
        return np.zeros(2)

    def mean_rows(self) -> MeanRows:
        """Compute what the steps do to all rows together."""
        common = self.common_rows()
        kept = slice(int(common.sum() < 0))  # none, where it belongs to the spike
        letters = np.array(self.problem.readout)[:, 0]
        letters = letters if letters.size > 1 else np.ones(1)
        return MeanRows(letters[None][kept], common[None][kept])

    def own_output(self, dimension: float) -> float:
        """Estimate what the own output adds to rows in the first step, over their norm.

        With one letter and one step it is in the equations to first order. Several steps have it in
        the first of them.
        """
        protocol, groups, steps = self.protocol, self.features.groups, self.protocol.steps
        letters, fractions = np.array(protocol.readout).T
        h1 = float(standard_moments(lookup(protocol.activation)).slope)
        e, power = protocol.each_step[0].learning_rate / protocol.beta, fractions @ letters**2
        rows = protocol.beta * dimension * float(groups.pi @ groups.c)
        share = float((e * h1**2) ** 2 * power / rows)
        return _OWN_OUTPUT * (share**2 if letters.size == steps == 1 else share / steps)
