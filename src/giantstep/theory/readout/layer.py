"""The first layer of a problem as readouts use it: they choose and prepare it here alone."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

from giantstep.arrays import Array
from giantstep.problems.bulk_kind import ISOTROPIC, TRAINED, validate_bulk
from giantstep.problems.domains import THEORY_DIMENSION
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.readout import FINER_NORMAL, NORMAL
from giantstep.theory.features.equivalent_features import equivalent_features
from giantstep.theory.features.kappa_rules import check_resolution
from giantstep.theory.readout.square_loss import prepare_square_loss
from giantstep.validation import interval_faults, raise_all


class Accuracy(NamedTuple):
    """Relative changes of the hats and of the test error, with twice as many nodes, that are small.

    Near the interpolation threshold the error is far more sensitive.
    """

    hats: float
    error: float


_ISOTROPIC = Accuracy(1e-8, 1e-3)
# Averages over a batch have labels without bound, for which rules converge slowly; rules over the
# directions of several spikes are coarser.
_TRAINED = Accuracy(1e-5, 1e-3)
# Rules over the samples of several steps on one batch are coarse from the third step on.
_REUSED = Accuracy(1e-2, 1e-2)


class Layer:
    """A first layer, with the equations of the square loss on it, on rules of one fineness.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    bulk, dimension
        As in `solve.solve`.
    fineness : int
        Multiplies the number of nodes.
    B : Array, optional
        As in `conditional_features`.
    """

    def __init__(
        self,
        problem: Problem,
        bulk: str = ISOTROPIC,
        dimension: float = math.inf,
        fineness: int = 1,
        B: Array | None = None,
    ) -> None:
        raise_all(interval_faults({"dimension": dimension}, {"dimension": THEORY_DIMENSION}))
        by_quadrature = isinstance(problem, Protocol) and not problem.as_in_paper
        of = (problem, dimension, fineness) if by_quadrature else (problem, dimension)
        self.srf, self.dimension = equivalent_features(*of), dimension
        check_resolution(problem, self.srf)
        if isinstance(problem, Protocol):
            problem = problem.with_giant_step(dimension)
        self.problem, self.bulk = problem, validate_bulk(problem, bulk)
        self.equations = prepare_square_loss(problem, self.srf, self.bulk, dimension, fineness, B)

    @property
    def accuracy(self) -> Accuracy:
        """Changes on twice as many nodes that are small."""
        if isinstance(self.problem, Protocol) and self.problem.reuses_samples:
            return _REUSED
        return _TRAINED if self.bulk == TRAINED or self.srf.further_spikes else _ISOTROPIC

    def finer(self, fineness: int) -> Layer:
        """Prepare the same unknowns, over the same functions B, on a finer rule."""
        B = self.equations.features.B
        return Layer(self.problem, self.bulk, self.dimension, fineness, B)

    def with_letters(self) -> tuple[Layer, Layer] | None:
        """Prepare it with the letters in place of a normal readout, and with twice as many.

        At infinite dimension, which is faster; None for another readout.
        """
        if not isinstance(self.problem, Protocol) or self.problem.readout != NORMAL:
            return None
        finer = replace(self.problem, readout=FINER_NORMAL)
        given = self if math.isinf(self.dimension) else Layer(self.problem, self.bulk)
        return given, Layer(finer, self.bulk)
