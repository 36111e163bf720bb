"""The theory of one problem at points, and how its arrays become variables."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from giantstep.arrays import Array
from giantstep.numerics.scalar_functions import BINARY
from giantstep.problems.covariance import IDENTITY
from giantstep.problems.losses import FLOW, SQUARE, is_square
from giantstep.problems.overlaps import Overlaps, Variable
from giantstep.problems.problem import Problem
from giantstep.questions.checks import OPTIMAL, Axes
from giantstep.questions.costs import check_task
from giantstep.questions.progress import Progress
from giantstep.questions.remarks import (
    CORRECTIONS,
    RELIABLE,
    covariance_remarks,
    dimension_remarks,
    edge_remarks,
    failure_remarks,
    named_ridge,
    reliability_remarks,
)
from giantstep.questions.task import Task
from giantstep.theory.first_layer.layer import layer_of
from giantstep.theory.optima import (
    CROSS_VALIDATION,
    K_FOLD,
    TEST_ERROR,
    criterion,
    optimal_ridge,
    search_of,
)
from giantstep.theory.readout.classification_error import classification_error
from giantstep.theory.readout.columns import PARAMETER, RELIABILITY, Columns
from giantstep.theory.readout.derivatives import continuous_parameters, error_derivatives
from giantstep.theory.readout.solve import Readout, readout_of
from giantstep.theory.readout.status import Status
from giantstep.theory.reliability import LARGE_DIMENSION
from giantstep.validation import Fault, InvalidParametersError

# The dimension from which on the estimated relative corrections are small.
RELIABLE_DIMENSION = "reliable_dimension"
DOUBTS = RELIABILITY, *CORRECTIONS, RELIABLE_DIMENSION
_ON_EDGE = "optimal_ridge_on_edge"
# Points of a case at which the limit d -> infinity is compared with large dimensions: of the square
# loss, and of others, which take a thousand times as long.
_COMPARED, _COMPARED_CONVEX = 200, 2
_RATIO = 4.0
_DIMENSIONS = LARGE_DIMENSION * _RATIO ** np.arange(6)
# By each parameter.
_DERIVATIVE = "derivative"


class Case(NamedTuple):
    """What is prepared once, and solved at all points.

    With `cross_validation`, answers have the error of five folds, and with `compared` the dimension
    from which on they are reliable.
    """

    problem: Problem
    loss: str
    bulk: str
    dimension: float
    by: str = TEST_ERROR
    derivatives: bool = False
    cross_validation: bool = False
    compared: bool = False

    @property
    def readout(self) -> Readout:
        """The readout of this case."""
        return readout_of(self.problem, self.bulk, self.loss, self.dimension)

    def solve(self, alpha: Array, ridge: Array, zero_one: bool = True) -> Columns:
        """Solve at the points (alpha, ridge).

        Parameters
        ----------
        alpha, ridge : Array, of one shape
        zero_one : bool
            Whether to add the 0-1 error, of a sign target and spikes of one direction.
        """
        columns = self.readout.solve(alpha, ridge)
        self._add(columns, alpha, ridge, zero_one)
        return columns

    def optimise(self, alpha: Array, zero_one: bool = True) -> Columns:
        """Solve at the best ridges, which are among the columns."""
        of = self.bulk, self.dimension, self.loss
        best = optimal_ridge(self.problem, alpha, *of, by=self.by)
        columns = Columns(test_error=best.solution.test_error)
        if self.by in CROSS_VALIDATION:
            least = optimal_ridge(self.problem, alpha, *of).solution.test_error
            columns["cost_of_choice"] = columns.test_error / least - 1
        columns |= best.solution
        if self.by in CROSS_VALIDATION and self.by not in columns:
            columns[self.by] = criterion(self.readout, alpha, best.ridge, self.by)
        self._add(columns, alpha, best.ridge, zero_one)
        columns |= {"ridge": best.ridge, _ON_EDGE: best.on_edge}
        return columns

    def _add(self, columns: Columns, alpha: Array, ridge: Array, zero_one: bool) -> None:
        """Add to a solution what is asked for beside it."""
        srf = self.readout.layer.srf
        if zero_one and srf.target in BINARY and not srf.further_spikes:
            columns["classification_error"] = classification_error(srf, Overlaps.of(columns))
        if self.cross_validation and self.loss != FLOW:
            columns[K_FOLD] = criterion(self.readout, alpha, ridge, K_FOLD)
        if self.compared:
            columns[RELIABLE_DIMENSION] = self._reliable_dimension(alpha, ridge, columns)
        if self.derivatives:
            slopes = error_derivatives(self.problem, alpha, ridge, self.bulk, self.dimension)
            slopes[np.isnan(columns.test_error)] = np.nan
            columns[_DERIVATIVE] = slopes

    def solve_batches(
        self, alpha: Array, ridge: Array, zero_one: bool, report: Progress
    ) -> Columns:
        """Solve at M points, some at a time, and tell the share that is done."""
        parts = []
        for part in self.readout.batches(alpha.size):
            parts.append(self.solve(alpha[part], ridge[part], zero_one))
            report(min(part.stop / alpha.size, 1.0))
        return Columns.joined(parts)

    def _reliable_dimension(self, alpha: Array, ridge: Array, columns: Columns) -> Array:
        """Estimate from which dimension on the answers at some points are reliable.

        Corrections are taken to fall as 1/d, the difference between the limit d -> infinity and
        a large dimension among them; if it is too large there, larger dimensions are tried.

        Returns
        -------
        Array, of the shape of alpha
            Infinite where the limit is near none of the dimensions.
        """
        corrections = columns[RELIABILITY]
        if math.isfinite(self.dimension):
            return self.dimension / RELIABLE * corrections
        most = _COMPARED if self.loss == SQUARE else _COMPARED_CONVEX
        some = np.unique(np.linspace(0, alpha.size - 1, min(alpha.size, most)).round().astype(int))
        points = alpha.ravel()[some], ridge.ravel()[some]
        limit = columns.test_error.ravel()[some]
        far = np.isfinite(limit)
        needed, last = np.where(far, np.inf, np.nan), np.full(some.size, np.inf)
        s = getattr(self.problem, "covariance", IDENTITY)
        for dimension in _DIMENSIONS if isinstance(s, str) else (len(s),):
            if not far.any():
                break
            gap = np.full(some.size, np.inf)
            with suppress(InvalidParametersError):  # rows that are too long at this dimension
                finite = self._replace(dimension=dimension).readout.errors(*points)
                gap = np.nan_to_num(np.abs(finite / limit - 1), nan=np.inf)
            near = far & (gap < RELIABLE)
            # Beyond the first dimension, a power law between two of them.
            power = np.log(last[near] / gap[near]) / math.log(_RATIO)
            power[np.isinf(last[near])] = 1.0
            needed[near] = dimension * (gap[near] / RELIABLE) ** (1 / power)
            far, last = far & ~near, gap
        nearest = np.arange(alpha.size) * some.size // alpha.size
        return LARGE_DIMENSION / RELIABLE * corrections + needed[nearest].reshape(alpha.shape)


def hidden(losses: Collection[str]) -> set[str]:
    """List what is no variable of its own: of the square loss alone, losses are half the errors."""
    return {"test_loss", "training_loss"} if all(map(is_square, losses)) else set()


def derivative_faults(derivatives: bool, loss: str, optimal: bool, by: str) -> list[Fault]:
    """Refuse derivatives where they are not known, or where those at fixed ridge are not all."""
    allowed = f"false but for the {SQUARE} loss, and best ridges by the {TEST_ERROR}"
    wrong = loss != SQUARE or (optimal and by != TEST_ERROR)
    return [Fault("derivatives", True, allowed)] if derivatives and wrong else []


def name_parameters(data: xr.Dataset, problem: Problem) -> xr.Dataset:
    """Name the parameters of derivatives, and leave out those that nothing is derived by."""
    if _DERIVATIVE not in data:
        return data
    named = data.assign_coords({PARAMETER: list(continuous_parameters(problem))})
    others = [name for name in named[_DERIVATIVE].dims if name != PARAMETER]
    return named.sel({PARAMETER: named[_DERIVATIVE].notnull().any(others)})


def solve_axes(
    case: Case, axes: Axes, max_hours: float, max_memory: float | None
) -> tuple[Columns, dict[str, Variable], list[str]]:
    """Solve at all points of a grid, or at the best ridge of each of its sample complexities.

    Returns
    -------
    columns : Columns
        Over the dimensions `axes.dims`.
    points : dict
        Dimensions and values of alpha and ridge.
    remarks : list of str

    Raises
    ------
    CostError
        If it takes more than is allowed.
    """
    given = {"ridge": OPTIMAL if axes.optimal else axes.grid.ridge, "alpha": axes.grid.alpha}
    asked = "loss", "bulk", "derivatives", "cross_validation"
    by_case = {name: getattr(case, name) for name in asked}
    check_task(Task("solve", case.problem, given | by_case), max_hours, max_memory)
    alpha, ridge = np.array(axes.grid.alpha), np.array(axes.grid.ridge)
    remarks = list[str]()
    if axes.optimal:
        columns = case.optimise(alpha)
        ridge = columns.pop("ridge")
        at_edge = [f"alpha {a:g}" for a in alpha[columns[_ON_EDGE]]]
        candidates = search_of(case.loss, case.dimension).ridges
        remarks = edge_remarks(at_edge, named_ridge(case.loss), candidates)
    else:
        columns = case.solve(*np.meshgrid(alpha, ridge, indexing="ij"))
    points: dict[str, Variable] = {"alpha": (("alpha",), alpha), "ridge": (axes.dims[-1:], ridge)}
    if axes.optimal:
        points["by"] = (), np.array(case.by)
    remarks += layer_of(case.problem, case.dimension).remarks(case.bulk)
    return columns, points, answer_remarks(columns, case.dimension) + remarks


def answer_remarks(arrays: Mapping[Any, Any], dimension: Any) -> list[str]:
    """Remark on points that failed, if there is a status, and on those that are less reliable."""
    status = np.asarray(arrays.get("status", Status.CONVERGED))
    remarks = failure_remarks(status) + reliability_remarks(arrays)
    if RELIABLE_DIMENSION in arrays:
        remarks += dimension_remarks(np.asarray(arrays[RELIABLE_DIMENSION] * np.isinf(dimension)))
    return remarks + covariance_remarks(arrays)
