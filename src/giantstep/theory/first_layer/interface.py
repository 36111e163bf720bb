"""The interface of a first layer to the rest of the theory."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import ClassVar, NamedTuple, TypeVar

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.gaussian import standard_moments
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
    conditional_features,
)
from giantstep.theory.features.conditional_target import across_basis
from giantstep.theory.features.feature_norms import with_feature_norms
from giantstep.theory.features.input_norms import with_input_norms
from giantstep.theory.features.kappa_rules import KappaRule, fewest_nodes
from giantstep.theory.first_layer.network_state import NetworkState, spike_basis
from giantstep.theory.first_layer.step import LettersState
from giantstep.theory.rows.first_batch import FirstBatch
from giantstep.theory.rows.interface import Bulk
from giantstep.theory.rows.isotropic import IsotropicBulk
from giantstep.theory.rows.row_functions import RowFunctions
from giantstep.validation import Fault

# Factor of `own_output`, fitted to networks of tanh and erf at rates of 10 and 18 (d = 200), which
# are 4 and 10 % off.
_OWN_OUTPUT = 1 / 40


# Parameters that every layer covers. Of the others, a layer refuses those that it does not take.
_KNOWN = frozenset({
    *("activation", "target", "learning_rate", "alpha0", "beta", "noise", "readout", "inputs"),
    *("steps", "reuse_batch", "outlier_fraction", "outlier_variance", "step_exponent"),
    *("label_flips", "pretrain_target", "task_overlap", "covariance", "target_decay"),
})  # fmt: skip


# Of S points: from alpha, the ridge (one where slopes are divided by it, see `fixed_point.Points`)
# and slopes of g_out given kappa, shape (S, N'), 1/(1 + V) for the square loss.
Estimates = Callable[[Array, Array, Array], dict[str, Array]]
Rows = TypeVar("Rows", RowFunctions, FirstBatch)
# A parameter, whether the theory covers its value, and what it covers, in words.
Scope = tuple[str, bool, str]


class Accuracy(NamedTuple):
    """Relative changes of the hats and of the test error up to which a point counts as resolved.

    The changes are those with twice as many nodes. Near the interpolation threshold the error
    changes far more than the hats.
    """

    hats: float
    error: float


# Rules for the paper's bulk converge exponentially. Those of a trained bulk, which averages over
# labels without bound, and of several spikes converge more slowly; those of a target of several
# directions most slowly.
EXPONENTIAL, SLOWER, SLOWEST = Accuracy(1e-8, 1e-3), Accuracy(1e-5, 1e-3), Accuracy(1e-4, 1e-3)


class Shift(NamedTuple):
    """A shift that steps give to all rows alike: theory.md section 12.

    It adds `pi_g omega_g pi_h omega_h (k0 + k1)` to the overlap that the mean rows of groups g and
    h, times sqrt(p), have if rows are independent.

    Attributes
    ----------
    letters : Array, shape (G,)
        omega of each group.
    common : Array, shape (2,)
        (k0, k1). The part k1 of the shift has the covariance of the first batch.
    """

    letters: Array
    common: Array


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

    left_out = ""  # what the trained bulk leaves out, in words

    def faults(self) -> list[Fault]:
        """List the reasons for which the theory does not cover it; it can be simulated then."""
        return []

    def derivative_faults(self) -> list[Fault]:
        """List the reasons for which finite differences of its errors are no derivatives."""
        return []

    @property
    @abstractmethod
    def features(self) -> SpikedFeatures:
        """The equivalent spiked random features at the dimension: Result 3.1."""

    @property
    def batch(self) -> float:
        """The samples of all steps, over d."""
        return math.inf

    @property
    def history(self) -> tuple[NetworkState, ...] | tuple[LettersState, ...]:
        """The network after each of its steps; empty for the one odd step of the paper."""
        return ()

    def finer(self, fineness: int) -> FirstLayer:
        """Return the same layer on rules of another fineness."""
        return self.choose(self.problem, self.dimension, fineness)

    def with_letters(self) -> tuple[FirstLayer, FirstLayer] | None:
        """Return two layers, with letters in place of a normal readout and with twice as many.

        Both at infinite dimension; None for any other readout.
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

    def row_power(self) -> tuple[float, float, float, float]:
        """Compute the variance of rows along an input, as `with_input_norms` needs it."""
        return 0.0, 0.0, 1.0, 1.0

    def conditional(
        self,
        kind: str,
        B: Array | None = None,
        fineness: float | None = None,
        rule: KappaRule = fewest_nodes,
    ) -> ConditionalFeatures:
        """Compute the conditional features at the dimension.

        Arguments are as in `conditional_features`.
        """
        srf, fineness = self.features, fineness or self.fineness
        f = conditional_features(srf, fineness, B, self.has_norms(kind), rule)
        f = with_input_norms(f, srf, self.dimension, self.row_power())
        return with_feature_norms(f, srf, self.dimension, fineness)

    def bulk(self, kind: str, f: ConditionalFeatures) -> Bulk:
        """Make the bulk of a kind of `bulk_kind.BULKS`; of rows that no step moves, isotropic."""
        return self.isotropic(f)

    def isotropic(self, f: ConditionalFeatures) -> IsotropicBulk:
        """Make the isotropic bulk of the paper."""
        srf = self.features
        return IsotropicBulk(f.B, srf.groups, srf.beta, f.first_across, srf.beside)

    def shifts(self) -> list[Shift]:
        """List what the steps give to all rows alike; independent rows have nothing in common."""
        return []

    # What the theory leaves out, for `theory.reliability`.

    def row_overlap(self) -> float | Array:
        """Compute d times the variance of a row's projection on the target, or that of groups."""
        return float(np.max(self.features.groups.c))

    def learned_by_chance(self, dimension: float) -> float:
        """Estimate how much neurons that overlap with the target by chance learn of it."""
        return 0.0

    def own_output(self, dimension: float) -> float:
        """Estimate the effects of the network's own output on rows that the theory leaves out."""
        return 0.0

    def leading_components(self, f: ConditionalFeatures) -> Estimates | None:
        """Prepare estimates of the effects of leading directions of the inputs, if any."""
        return None


class SteppedLayer(FirstLayer):
    """The first layer of a protocol.

    Attributes
    ----------
    takes : frozenset of str
        Parameters of the protocol that it covers beyond those that all layers cover; "schedules" if
        steps may differ.
    where : str
        Ends messages on others: "in the theory of ...".
    """

    problem: Protocol
    takes: ClassVar[frozenset[str]] = frozenset()
    where: ClassVar[str] = "in this theory"

    def faults(self) -> list[Fault]:
        """List the parameters whose values this layer does not cover."""
        of = self.problem
        checks = [
            (one.name, getattr(of, one.name) == one.default, f"{one.default} {self.where}")
            for one in fields(Protocol)
            if one.name not in _KNOWN | self.takes
        ]
        for name in SCHEDULED:
            same = "schedules" in self.takes or not isinstance(getattr(of, name), tuple)
            checks.append((name, same, f"one number for all steps {self.where}"))
        return unmet(of, checks + self.scope())

    def scope(self) -> list[Scope]:
        """List which values of the parameters that it covers are allowed."""
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
        """The same with the target of the steps, which in transfer is not that of the readout."""
        return self.giant.pretraining

    def with_letters(self) -> tuple[FirstLayer, FirstLayer] | None:
        """Return two layers, with letters in place of a normal readout and with twice as many."""
        if self.problem.readout != NORMAL:
            return None
        finer = replace(self.giant, readout=FINER_NORMAL)
        return self.choose(self.giant), self.choose(finer)

    def turned(self, rows: Rows, strength: float, alignment: Array) -> Rows:
        """Turn rows, or a batch, to the bases of the spike at the dimension and of the readout.

        Parameters
        ----------
        rows : RowFunctions or FirstBatch
        strength : float
            Of the spike as d -> infinity: at finite dimension it may have a further part.
        alignment : Array, shape (D,)
            Of that spike and the target of the steps.
        """
        longest, overlap = np.abs(self.features.groups.u).max(), self.problem.task_overlap
        share = strength / longest if longest > strength else 1.0
        if share == overlap == 1:
            return rows
        # Beside the known directions, a generic one for the spike and one for the readout's target.
        spike = np.concatenate([[share], np.zeros(alignment.size), [math.sqrt(1 - share**2), 0]])
        targets = overlap * np.column_stack([alignment, across_basis(alignment)])
        targets = np.pad(targets, ((0, 0), (0, 2)))
        targets[:, -1] = math.sqrt(1 - overlap**2)
        return rows.turned(spike_basis(spike, targets, 0)[1])

    @property
    def batch(self) -> float:
        """The samples of all steps, over d."""
        protocol = self.protocol
        each = [step.alpha0 for step in protocol.each_step] if protocol.moves else [0.0]
        return each[0] if protocol.reuse_batch else sum(each)

    def bulk(self, kind: str, f: ConditionalFeatures) -> Bulk:
        """Make the bulk of a kind; that of rows that do not move is isotropic."""
        return self.trained_bulk(f) if kind != ISOTROPIC and self.batch else self.isotropic(f)

    def trained_bulk(self, f: ConditionalFeatures) -> Bulk:
        """Make the bulk with all that is known of the effect of steps on rows."""
        raise NotImplementedError  # a layer must not forget it

    def common_rows(self) -> Array:
        """Compute (k0, k1) of the `Shift`, where one is enough."""
        return np.zeros(2)

    def shifts(self) -> list[Shift]:
        """List what the steps give to all rows alike."""
        common, letters = self.common_rows(), np.array(self.protocol.readout)[:, 0]
        letters = letters if letters.size > 1 else np.ones(1)
        return [Shift(letters, common)] if common.sum() < 0 else []  # if positive, the spike has it

    def own_output(self, dimension: float) -> float:
        """Estimate what the network's own output adds to rows in the first step, over their norm.

        For one letter and one step the equations contain it to first order. For several steps it
        counts in the first only.
        """
        protocol, groups, steps = self.protocol, self.features.groups, self.protocol.steps
        letters, fractions = np.array(protocol.readout).T
        h1 = float(standard_moments(lookup(protocol.activation)).slope)
        e = protocol.moves * protocol.each_step[0].learning_rate / protocol.beta
        power = fractions @ letters**2
        rows = protocol.beta * dimension * float(groups.pi @ groups.c)
        share = float((e * h1**2) ** 2 * power / rows)
        return _OWN_OUTPUT * (share**2 if letters.size == steps == 1 else share / steps)
