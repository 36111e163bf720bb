"""The theory of one problem at points, and how its arrays become variables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from giantstep.arrays import Array
from giantstep.numerics.scalar_functions import BINARY
from giantstep.problems.covariance import IDENTITY
from giantstep.problems.losses import FLOW, SQUARE, is_square
from giantstep.problems.overlaps import OVERLAP_DIMENSIONS, Overlaps, by_groups
from giantstep.problems.problem import Problem
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.questions.answers import Variable
from giantstep.questions.checks import OPTIMAL, Axes
from giantstep.questions.costs import check_task
from giantstep.questions.progress import Progress
from giantstep.questions.remarks import (
    CORRECTIONS,
    RELIABLE,
    bulk_remarks,
    covariance_remarks,
    dimension_remarks,
    edge_remarks,
    failure_remarks,
    named_ridge,
    reliability_remarks,
)
from giantstep.questions.task import Task
from giantstep.theory.optima import (
    CROSS_VALIDATION,
    GCV,
    K_FOLD,
    LEAVE_ONE_OUT,
    TEST_ERROR,
    criterion,
    optimal_ridge,
    search_of,
)
from giantstep.theory.readout.classification_error import classification_error
from giantstep.theory.readout.derivatives import continuous_parameters, error_derivatives
from giantstep.theory.readout.solution import Solution
from giantstep.theory.readout.solve import Solver, cached_solver
from giantstep.theory.readout.status import Status
from giantstep.theory.reliability import LARGE_DIMENSION
from giantstep.validation import Fault, InvalidParametersError

# Of the square loss they are half the errors, and no variables of their own; and what only it has.
_LOSSES, _OF_SQUARES = ("test_loss", "training_loss"), ("gcv",)
# Of one ridge.
_OF_RIDGES = ("V1", "V2", "leave_one_out")
# All estimated relative corrections together, whose own names begin so; and the dimension from
# which on they are small.
RELIABILITY, RELIABLE_DIMENSION = "reliability", "reliable_dimension"
DOUBTS = RELIABILITY, *CORRECTIONS, RELIABLE_DIMENSION
_ON_EDGE = "optimal_ridge_on_edge"
# Points of a case at which the limit d -> infinity is compared with large dimensions: of the square
# loss, and of others, which take a thousand times as long.
_COMPARED, _COMPARED_CONVEX = 200, 2
_RATIO = 4.0
_DIMENSIONS = LARGE_DIMENSION * _RATIO ** np.arange(6)
# By each parameter, along this dimension.
_DERIVATIVE, _PARAMETER = "derivative", "parameter"
_FURTHER = OVERLAP_DIMENSIONS | {_DERIVATIVE: (_PARAMETER,)}
# Arrays by name, of shape (*points, ...).
Arrays = dict[str, NDArray[Any]]


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
    def solver(self) -> Solver:
        """The theory of this case."""
        return cached_solver(self.problem, self.bulk, self.loss, self.dimension)

    def solve(self, alpha: Array, ridge: Array, zero_one: bool = True) -> Arrays:
        """Solve at the points (alpha, ridge).

        Parameters
        ----------
        alpha, ridge : Array, of one shape
        zero_one : bool
            Whether to add the 0-1 error, of a sign target and spikes of one direction.
        """
        arrays = _arrays(self.solver.srf, self.solver.solve(alpha, ridge), zero_one)
        return arrays | self._besides(alpha, ridge, arrays)

    def optimise(self, alpha: Array, zero_one: bool = True) -> Arrays:
        """Solve at the best ridges, which are among the arrays."""
        of = self.bulk, self.dimension, self.loss
        best = optimal_ridge(self.problem, alpha, *of, by=self.by)
        arrays = _arrays(self.solver.srf, best.solution, zero_one)
        if self.by in CROSS_VALIDATION:
            if self.by not in arrays:
                arrays[self.by] = criterion(self.solver, alpha, best.ridge, self.by)
            least = optimal_ridge(self.problem, alpha, *of).solution.test_error
            cost = arrays["test_error"] / least - 1
            arrays = {"test_error": arrays["test_error"], "cost_of_choice": cost} | arrays
        arrays |= self._besides(alpha, best.ridge, arrays)
        return arrays | {"ridge": best.ridge, _ON_EDGE: best.on_edge}

    def _besides(self, alpha: Array, ridge: Array, arrays: Arrays) -> Arrays:
        """Compute what is asked for beside a solution."""
        found: Arrays = {}
        if self.cross_validation and self.loss != FLOW:
            found[K_FOLD] = criterion(self.solver, alpha, ridge, K_FOLD)
        if self.compared:
            found[RELIABLE_DIMENSION] = self._reliable_dimension(alpha, ridge, arrays)
        if self.derivatives:
            slopes = error_derivatives(self.problem, alpha, ridge, self.bulk, self.dimension)
            slopes[np.isnan(arrays["test_error"])] = np.nan
            found[_DERIVATIVE] = slopes
        return found

    def solve_batches(self, alpha: Array, ridge: Array, zero_one: bool, report: Progress) -> Arrays:
        """Solve at M points, some at a time, and tell the share that is done."""
        parts = []
        for part in self.solver.batches(alpha.size):
            parts.append(self.solve(alpha[part], ridge[part], zero_one))
            report(min(part.stop / alpha.size, 1.0))
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _reliable_dimension(self, alpha: Array, ridge: Array, arrays: Arrays) -> Array:
        """Estimate from which dimension on the answers at some points are reliable.

        Corrections are taken to fall as 1/d, the difference between the limit d -> infinity and
        a large dimension among them; if it is too large there, larger dimensions are tried.

        Returns
        -------
        Array, of the shape of alpha
            Infinite where the limit is near none of the dimensions.
        """
        corrections = arrays[RELIABILITY]
        if math.isfinite(self.dimension):
            return self.dimension / RELIABLE * corrections
        most = _COMPARED if self.loss == SQUARE else _COMPARED_CONVEX
        some = np.unique(np.linspace(0, alpha.size - 1, min(alpha.size, most)).round().astype(int))
        points = alpha.ravel()[some], ridge.ravel()[some]
        limit = arrays["test_error"].ravel()[some]
        far = np.isfinite(limit)
        needed, last = np.where(far, np.inf, np.nan), np.full(some.size, np.inf)
        s = getattr(self.problem, "covariance", IDENTITY)
        for dimension in _DIMENSIONS if isinstance(s, str) else (len(s),):
            if not far.any():
                break
            gap = np.full(some.size, np.inf)
            with suppress(InvalidParametersError):  # rows that are too long at this dimension
                finite = self._replace(dimension=dimension).solver.solve(*points).test_error
                gap = np.nan_to_num(np.abs(finite / limit - 1), nan=np.inf)
            near = far & (gap < RELIABLE)
            # Beyond the first dimension, a power law between two of them.
            power = np.log(last[near] / gap[near]) / math.log(_RATIO)
            power[np.isinf(last[near])] = 1.0
            needed[near] = dimension * (gap[near] / RELIABLE) ** (1 / power)
            far, last = far & ~near, gap
        nearest = np.arange(alpha.size) * some.size // alpha.size
        return LARGE_DIMENSION / RELIABLE * corrections + needed[nearest].reshape(alpha.shape)


def _arrays(srf: SpikedFeatures, solution: Solution, zero_one: bool) -> Arrays:
    """List the arrays of a solution, and the 0-1 error where there is one."""
    values = {field.name: getattr(solution, field.name) for field in fields(Solution)}
    arrays = {name: value for name, value in values.items() if value is not None}
    arrays["status"] = arrays["status"].astype(np.int8)
    corrections = [values for name, values in arrays.items() if name.startswith(RELIABILITY)]
    arrays[RELIABILITY] = np.sqrt(np.sum(np.square(corrections), axis=0))
    if zero_one and srf.target in BINARY and not srf.further_spikes:
        arrays["classification_error"] = classification_error(srf, Overlaps.of(solution))
    for name in (LEAVE_ONE_OUT, GCV):  # after what is read more often
        arrays[name] = arrays.pop(name)
    return arrays


def variables(arrays: Arrays, dims: tuple[str, ...], losses: set[str]) -> dict[str, Variable]:
    """Name the dimensions of arrays over points.

    Parameters
    ----------
    arrays : dict
    dims : tuple of str
        Of the points.
    losses : set of str
        All of them.
    """
    hidden = {*_LOSSES} if all(map(is_square, losses)) else set()
    hidden |= set() if SQUARE in losses else {*_OF_SQUARES}
    hidden |= {*_OF_RIDGES} if losses == {FLOW} else set()
    return {
        name: by_groups(dims, values, _FURTHER.get(name, ()))
        for name, values in arrays.items()
        if name not in hidden
    }


def derivative_faults(derivatives: bool, loss: str, optimal: bool, by: str) -> list[Fault]:
    """Refuse derivatives where they are not known, or where those at fixed ridge are not all."""
    allowed = f"false but for the {SQUARE} loss, and best ridges by the {TEST_ERROR}"
    wrong = loss != SQUARE or (optimal and by != TEST_ERROR)
    return [Fault("derivatives", True, allowed)] if derivatives and wrong else []


def name_parameters(data: xr.Dataset, problem: Problem) -> xr.Dataset:
    """Name the parameters of derivatives, and leave out those that nothing is derived by."""
    if _DERIVATIVE not in data:
        return data
    named = data.assign_coords({_PARAMETER: list(continuous_parameters(problem))})
    others = [name for name in named[_DERIVATIVE].dims if name != _PARAMETER]
    return named.sel({_PARAMETER: named[_DERIVATIVE].notnull().any(others)})


def solve_axes(
    case: Case, axes: Axes, max_hours: float, max_memory: float | None
) -> tuple[Arrays, dict[str, Variable], list[str]]:
    """Solve at all points of a grid, or at the best ridge of each of its sample complexities.

    Returns
    -------
    arrays : dict
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
        arrays = case.optimise(alpha)
        ridge = arrays.pop("ridge")
        at_edge = [f"alpha {a:g}" for a in alpha[arrays[_ON_EDGE]]]
        candidates = search_of(case.loss, case.dimension).ridges
        remarks = edge_remarks(at_edge, named_ridge(case.loss), candidates)
    else:
        arrays = case.solve(*np.meshgrid(alpha, ridge, indexing="ij"))
    points: dict[str, Variable] = {"alpha": (("alpha",), alpha), "ridge": (axes.dims[-1:], ridge)}
    if axes.optimal:
        points["by"] = (), np.array(case.by)
    remarks += bulk_remarks(case.problem, case.bulk)
    return arrays, points, answer_remarks(arrays, case.dimension) + remarks


def answer_remarks(arrays: Mapping[Any, Any], dimension: Any) -> list[str]:
    """Remark on points that failed, if there is a status, and on those that are less reliable."""
    status = np.asarray(arrays.get("status", Status.CONVERGED))
    remarks = failure_remarks(status) + reliability_remarks(arrays)
    if RELIABLE_DIMENSION in arrays:
        remarks += dimension_remarks(np.asarray(arrays[RELIABLE_DIMENSION] * np.isinf(dimension)))
    return remarks + covariance_remarks(arrays)


def stack(cases: Sequence[Arrays | None], missing: Mapping[str, Any]) -> Arrays:
    """Stack the arrays of several cases; where there are none, or fewer groups of neurons, is NaN.

    Parameters
    ----------
    cases : sequence of dict
        None for those that were refused.
    missing : mapping
        What is not NaN then, by name.
    """
    solved = [case for case in cases if case]
    stacked = {}
    for name in dict.fromkeys(name for case in solved for name in case):
        parts = [case.get(name) if case else None for case in cases]
        present = [part for part in parts if part is not None]
        shape = len(cases), *np.max([part.shape for part in present], axis=0)
        whole = np.full(shape, missing.get(name, np.nan), dtype=present[0].dtype)
        for place, part in enumerate(parts):
            if part is not None:
                whole[place][tuple(map(slice, part.shape))] = part
        stacked[name] = whole
    return stacked
