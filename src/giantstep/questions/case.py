"""A case: one problem, how it is solved, and its theory at points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.scalar_functions import BINARY
from giantstep.problems.bulk_kind import BULKS, validate_bulk
from giantstep.problems.losses import FLOW, SQUARE
from giantstep.problems.overlaps import Overlaps
from giantstep.problems.problem import Problem, check_loss
from giantstep.problems.protocol import Protocol
from giantstep.progress import Progress, bar
from giantstep.questions.checks import criterion_faults
from giantstep.questions.remarks import (
    CORRECTIONS,
    covariance_remarks,
    dimension_remarks,
    failure_remarks,
    reliability_remarks,
)
from giantstep.theory.bounds import best_linear_error
from giantstep.theory.first_layer.layer import layer_of
from giantstep.theory.optima import (
    CROSS_VALIDATION,
    K_FOLD,
    TEST_ERROR,
    OptimalRidge,
    criterion,
    optimal_ridge,
)
from giantstep.theory.readout.classification_error import classification_error
from giantstep.theory.readout.columns import RELIABILITY, Columns
from giantstep.theory.readout.derivatives import error_derivatives
from giantstep.theory.readout.readout import Readout
from giantstep.theory.readout.solve import readout_of
from giantstep.theory.readout.square_readout import SquareReadout
from giantstep.theory.reliable_dimension import reliable_dimension
from giantstep.validation import Fault, collected

if TYPE_CHECKING:
    import xarray as xr

# The dimension from which on the estimated relative corrections are small.
RELIABLE_DIMENSION = "reliable_dimension"
# All variables that estimate what the theory leaves out.
DOUBTS = RELIABILITY, *CORRECTIONS, RELIABLE_DIMENSION


class Case(NamedTuple):
    """What is prepared once, and solved at all points.

    With `cross_validation`, answers have the error of five folds, with `ensemble` that of so many
    networks, with `compared` the dimension from which on they are reliable, with `zero_one` the
    0-1 error, of a sign target and spikes of one direction, and the `gains` that `sweep` describes.
    """

    problem: Problem
    loss: str
    bulk: str
    dimension: float
    by: str = TEST_ERROR
    derivatives: bool = False
    cross_validation: bool = False
    ensemble: float | None = None
    compared: bool = False
    zero_one: bool = True
    gains: Sequence[str] = ()

    def faults(self, optimal: bool = True) -> list[Fault]:
        """List the reasons why it has no theory, at best ridges or others, before any work."""
        layer = layer_of(self.problem)
        faults = criterion_faults(self.problem, self.by, optimal, self.loss)
        with collected(faults):
            check_loss(self.problem, self.loss)
        with collected(faults):
            validate_bulk(self.problem, self.bulk)
        faults += layer.faults()
        with collected(faults):
            self.problem.with_giant_step(self.dimension)
        allowed = f"left out but for the {SQUARE} loss with a ridge"
        if self.ensemble is not None and self.loss != SQUARE:
            faults.append(Fault("ensemble", self.ensemble, allowed))
        if self.derivatives and (self.loss != SQUARE or (optimal and self.by != TEST_ERROR)):
            allowed += f" and best ridges by the {TEST_ERROR}"
            faults.append(Fault("derivatives", True, allowed))
        return faults + (layer.derivative_faults() if self.derivatives else [])

    @property
    def readout(self) -> Readout:
        """The readout of this case."""
        return readout_of(self.problem, self.bulk, self.loss, self.dimension)

    @property
    def remarks(self) -> list[str]:
        """What the theory of its first layer leaves out, in words."""
        return layer_of(self.problem, self.dimension).remarks(self.bulk)

    def best(self, alpha: Array, ridges: Array | None = None) -> OptimalRidge:
        """Find the best ridges, by default among those of `search_of`."""
        of = self.bulk, self.dimension, self.loss, ridges
        return optimal_ridge(self.problem, alpha, *of, self.by)

    def solve(self, alpha: Array, ridge: Array | None, report: Progress = bar) -> Columns:
        """Solve at the points (alpha, ridge), some at a time.

        Parameters
        ----------
        alpha, ridge : Array, shape (P,)
            None for the best ridges, which are then among the columns.
        report : callable
            Called with the share of the points that is solved.
        """
        best, parts = self.best(alpha) if ridge is None else None, []
        at = best.ridge if best else np.asarray(ridge)
        for some in self.readout.batches(alpha.size):
            parts.append(self.readout.solve(alpha[some], at[some]))
            self._add_further(parts[-1], alpha[some], at[some])
            report(min(some.stop / alpha.size, 1.0))
        columns = Columns.joined(parts)
        if self.compared:
            columns[RELIABLE_DIMENSION] = reliable_dimension(self.readout, columns, alpha, at)
        if best and self.by in CROSS_VALIDATION:
            least = self._replace(by=TEST_ERROR).best(alpha).solution.test_error
            columns["cost_of_choice"] = columns.test_error / least - 1
        if best:
            columns |= {"ridge": best.ridge, "optimal_ridge_on_edge": best.on_edge}
        for name in self.gains:
            columns[name] = self._gain(name, columns.test_error, alpha, ridge)
        return columns

    def errors(self, alpha: Array, ridge: Array | None) -> Array:
        """Compute the test errors at points, or at the best ridges."""
        solved = self.best(alpha).solution if ridge is None else self.readout.solve(alpha, ridge)
        return solved.test_error

    def _gain(self, name: str, error: Array, alpha: Array, ridge: Array | None) -> Array:
        """Compute a gain from the test errors at points.

        Without a ridge, what they are compared with has its own best ones.
        """
        if name == "gain_over_linear":
            return 1 - error / best_linear_error(self.problem.target, self.problem.inputs)
        if name == "gain_over_no_step":
            still = self._replace(problem=without_step(self.problem))
            return 1 - error / still.errors(alpha, ridge)
        isotropic, trained = (self._replace(bulk=bulk).errors(alpha, ridge) for bulk in BULKS)
        return isotropic / trained - 1

    def _add_further(self, columns: Columns, alpha: Array, ridge: Array) -> None:
        """Add to a solution the further columns that this case has."""
        srf = self.readout.square_loss.srf
        if self.zero_one and srf.target in BINARY and not srf.further_spikes:
            columns["classification_error"] = classification_error(srf, Overlaps.of(columns))
        if self.by == K_FOLD or (self.cross_validation and self.loss != FLOW):
            columns[K_FOLD] = criterion(self.readout, K_FOLD, alpha, ridge)
        if self.ensemble is not None and isinstance(self.readout, SquareReadout):
            variances = self.readout.sources_of_variance(alpha, ridge)
            less = (1 - 1 / self.ensemble) * variances["variance_of_weights"]
            columns |= {"ensemble_error": columns.test_error - less} | variances
        if self.derivatives:
            slopes = error_derivatives(self.problem, alpha, ridge, self.bulk, self.dimension)
            slopes[np.isnan(columns.test_error)] = np.nan
            columns["derivative"] = slopes


def without_step(problem: Problem) -> Problem:
    """Return the same network without a step, or the same features without a spike."""
    if isinstance(problem, Protocol):
        return replace(problem, alpha0=0.0, learning_rate=1.0)  # which one does not matter
    return replace(problem, spike_strength=0.0, bulk_variance=1.0, further_spikes=())


def answer_remarks(answer: xr.Dataset) -> list[str]:
    """Remark on points that failed, if there is a status, and on those that are less reliable."""
    remarks = failure_remarks(answer["status"]) if "status" in answer else []
    remarks += reliability_remarks(answer)
    if RELIABLE_DIMENSION in answer:
        needed, dimension = answer[RELIABLE_DIMENSION], answer["dimension"]
        if not np.isinf(dimension.values).all():
            needed = needed.where(np.isinf(dimension))
        remarks += dimension_remarks(needed)
    return remarks + covariance_remarks(answer)
