"""The theory at points of one problem, as datasets."""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np
import xarray as xr

from giantstep.arrays import Array, Mask
from giantstep.numerics.scalar_functions import SIGN
from giantstep.problems.grid import Grid
from giantstep.problems.losses import SQUARE
from giantstep.problems.overlaps import OVERLAP_DIMENSIONS, Overlaps, by_groups
from giantstep.problems.problem import Problem
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.questions.answers import Variable, dataset
from giantstep.questions.checks import Axes
from giantstep.questions.remarks import edge_remarks, failure_remarks, limit_remarks
from giantstep.theory.optima import dimension_of_limit, optimal_ridge, search_of
from giantstep.theory.readout.classification_error import classification_error
from giantstep.theory.readout.solution import Solution
from giantstep.theory.readout.solve import cached_solver

# Of the square loss they are half the errors, and no variables of their own.
LOSSES = ("test_loss", "training_loss")
CLASSIFICATION_ERROR = "classification_error"
_ON_EDGE = "optimal_ridge_on_edge"


def theory_at_points(
    problem: Problem, axes: Axes, bulk: str, dimension: float
) -> tuple[xr.Dataset, list[str]]:
    """Solve at all points of a grid, or at the best ridge of each of its sample complexities.

    Returns
    -------
    data : xarray.Dataset
        Over (alpha, ridge); with the best ridges over alpha, with these as a coordinate.
    remarks : list of str
    """
    grid, remarks = axes.grid, list[str]()
    solver = cached_solver(problem, bulk, grid.loss, dimension)
    alpha, ridge = np.array(grid.alpha), np.array(grid.ridge)
    if axes.optimal:
        best = optimal_ridge(problem, alpha, bulk, dimension, grid.loss)
        variables = _variables(solver.srf, best.solution, ("alpha",), grid.loss)
        variables[_ON_EDGE] = ("alpha",), best.on_edge
        points = {"alpha": (("alpha",), alpha), "ridge": (("alpha",), best.ridge)}
        remarks = _optimum_remarks(problem, grid, bulk, dimension, best.ridge, best.on_edge)
    else:
        solution = solver.solve(*np.meshgrid(alpha, ridge, indexing="ij"))
        variables = _variables(solver.srf, solution, ("alpha", "ridge"), grid.loss)
        points = {"alpha": (("alpha",), alpha), "ridge": (("ridge",), ridge)}
    data = dataset(variables, points, axes.fixed)
    return data, failure_remarks(data["status"].values) + remarks


def _variables(
    srf: SpikedFeatures, solution: Solution, dims: tuple[str, ...], loss: str
) -> dict[str, Variable]:
    """Name the arrays of a solution, and add the 0-1 error where the target is a sign.

    Parameters
    ----------
    srf : SpikedFeatures
        The features that were solved.
    solution : Solution
    dims : tuple of str
        The dimensions of its points.
    loss : str
    """
    values = {field.name: getattr(solution, field.name) for field in fields(Solution)}
    values["status"] = values["status"].astype(np.int8)
    if loss == SQUARE:
        for name in LOSSES:
            del values[name]
    variables = {
        name: by_groups(dims, value, OVERLAP_DIMENSIONS.get(name, ()))
        for name, value in values.items()
    }
    if srf.target == SIGN:
        variables[CLASSIFICATION_ERROR] = dims, classification_error(srf, Overlaps.of(solution))
    return variables


def _optimum_remarks(
    problem: Problem, grid: Grid, bulk: str, dimension: float, ridge: Array, on_edge: Mask
) -> list[str]:
    alpha = np.array(grid.alpha)
    at_edge = [f"alpha {a:g}" for a in alpha[on_edge]]
    remarks = edge_remarks(at_edge, "best ridge", search_of(grid.loss, dimension).ridges)
    if math.isinf(dimension):
        needed = dimension_of_limit(problem, alpha, ridge, bulk, grid.loss)
        remarks += limit_remarks(float(needed.max()))
    return remarks
