"""The first layer of a problem with the equations on it, as readouts use it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

from giantstep.arrays import Array
from giantstep.problems.bulk_kind import ISOTROPIC, validate_bulk
from giantstep.problems.domains import THEORY_DIMENSION
from giantstep.problems.problem import Problem
from giantstep.theory.features.kappa_rules import KappaRule, check_resolution, fewest_nodes
from giantstep.theory.first_layer.equivalent_features import known_layer
from giantstep.theory.first_layer.interface import FirstLayer
from giantstep.theory.readout.square_loss import SquareLoss
from giantstep.theory.rows.interface import Bulk
from giantstep.validation import check_value


@dataclass(frozen=True, eq=False)
class PreparedLayer:
    """A first layer, with the equations of the square loss on it.

    Attributes
    ----------
    first : FirstLayer
    bulk : str
        As in `solve.solve`.
    B : Array, optional
        As in `conditional_features`.
    rows : Bulk, optional
        To be used in place of the layer's own.
    fineness : float, optional
        Of the rule over kappa.
    rule : callable
        That rule.
    """

    first: FirstLayer
    bulk: str
    B: Array | None = None
    rows: Bulk | None = None
    fineness: float | None = None
    rule: KappaRule = fewest_nodes

    @cached_property
    def square_loss(self) -> SquareLoss:
        """The equations."""
        f = self.first.conditional(self.bulk, self.B, self.fineness, self.rule)
        return SquareLoss(self.first, f, self.rows or self.first.bulk(self.bulk, f))

    @cached_property
    def finer(self) -> PreparedLayer:
        """The same unknowns, over the same functions B, on twice as many nodes."""
        B = self.square_loss.features.B
        return PreparedLayer(self.first.finer(2), self.bulk, B, self.rows)

    def at(self, dimension: float, fineness: float | None = None) -> PreparedLayer:
        """Prepare the same unknowns at another dimension, and the same rows if they keep them.

        After a step on inputs with a covariance they change with the number of directions.
        """
        first, own = known_layer(self.first.problem, dimension), self.square_loss
        rows = None if first.problem.has_covariance else own.equations.bulk
        return PreparedLayer(first, self.bulk, own.features.B, rows, fineness)

    def with_nodes(self, fineness: float, rule: KappaRule, finer: bool = False) -> SquareLoss:
        """Prepare the same unknowns on other nodes over kappa, with the rows of a finer layer."""
        own = self.square_loss
        same = replace(self, B=own.features.B, rows=own.equations.bulk)
        return replace(self.finer if finer else same, fineness=fineness, rule=rule).square_loss


def prepare_layer(
    problem: Problem,
    bulk: str = ISOTROPIC,
    dimension: float = math.inf,
    B: Array | None = None,
) -> PreparedLayer:
    """Prepare the first layer of a problem; the arguments are those of `solve.solve`.

    Raises
    ------
    InvalidParametersError
        If the theory does not cover the problem, or not with this bulk.
    """
    check_value("dimension", dimension, THEORY_DIMENSION)
    first = known_layer(problem, dimension)
    check_resolution(problem, first.features)
    validate_bulk(problem, bulk)
    return PreparedLayer(first, bulk, B)
