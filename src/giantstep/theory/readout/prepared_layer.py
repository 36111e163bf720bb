"""The first layer of a problem with the equations on it, as readouts use it."""

from __future__ import annotations

import math
from functools import cached_property

from giantstep.arrays import Array
from giantstep.problems.bulk_kind import ISOTROPIC, validate_bulk
from giantstep.problems.domains import THEORY_DIMENSION
from giantstep.problems.problem import Problem
from giantstep.theory.features.kappa_rules import KappaRule, check_resolution
from giantstep.theory.first_layer.equivalent_features import known_layer
from giantstep.theory.first_layer.interface import FirstLayer
from giantstep.theory.readout.square_loss import SquareLoss
from giantstep.theory.rows.interface import Bulk
from giantstep.validation import check_value


class PreparedLayer:
    """A first layer, with the equations of the square loss on it.

    Parameters
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
    """

    def __init__(
        self,
        first: FirstLayer,
        bulk: str,
        B: Array | None = None,
        rows: Bulk | None = None,
        fineness: float | None = None,
    ) -> None:
        self.first, self.bulk, self._rows = first, bulk, rows
        self.srf, self.dimension = first.features, first.dimension
        f = first.conditional(bulk, B, fineness)
        self.square_loss = SquareLoss(first, f, rows or first.bulk(bulk, f))

    @cached_property
    def finer(self) -> PreparedLayer:
        """The same unknowns, over the same functions B, on twice as many nodes."""
        B = self.square_loss.features.B
        return PreparedLayer(self.first.finer(2), self.bulk, B, self._rows)

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
        first, rows = self.first, own.equations.bulk
        if finer:
            first = first.finer(2)
            rows = self._rows or first.bulk(self.bulk, own.features)
        f = first.conditional(self.bulk, own.features.B, fineness, rule)
        return SquareLoss(first, f, rows)


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
