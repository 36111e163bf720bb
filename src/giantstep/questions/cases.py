"""The theory of all cases of a sweep, as one dataset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import fields
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from giantstep.numerics.scalar_functions import SIGN
from giantstep.problems.losses import SQUARE
from giantstep.problems.overlaps import OVERLAP_DIMENSIONS, Overlaps, by_groups
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.questions.answers import answer, count_groups, drop_fixed
from giantstep.questions.checks import raise_all
from giantstep.questions.combinations import Case, Sweep, read_sweep
from giantstep.questions.progress import Progress, progress_bar
from giantstep.questions.remarks import failure_remarks
from giantstep.questions.theory_points import CLASSIFICATION_ERROR, LOSSES
from giantstep.theory.features.equivalent_features import equivalent_features
from giantstep.theory.optima import optimal_ridge
from giantstep.theory.readout.classification_error import classification_error
from giantstep.theory.readout.solution import Solution
from giantstep.theory.readout.solve import cached_solver
from giantstep.theory.readout.status import Status
from giantstep.validation import InvalidParametersError

# Reasons of refusals that are told.
_REASONS = 3


def solve_cases(
    problem: Problem,
    values: Mapping[str, Any],
    zero_one: bool = True,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Solve the theory for all combinations of parameters, as `sweep` says.

    Raises
    ------
    InvalidParametersError
    """
    asked = read_sweep(problem, values)
    table = _Table(asked, zero_one)
    with nullcontext(progress) if progress else progress_bar("theory") as report:
        for done in table.fill():
            report(done)
    refused = [case for case in asked.cases if isinstance(case, InvalidParametersError)]
    if len(refused) == len(asked.cases):
        raise_all([fault for case in refused for fault in case.faults])
    data = table.dataset()
    remarks = failure_remarks(data["status"].values)
    reasons = dict.fromkeys(str(fault) for case in refused for fault in case.faults)
    remarks += [f"Refused: {reason}" for reason in list(reasons)[:_REASONS]]
    return answer(data, "Theory of errors and overlaps", problem, {}, remarks)


class _Table:
    """The solutions of all cases at all points, arrays of shape (cases, points, ...)."""

    def __init__(self, asked: Sweep, zero_one: bool) -> None:
        self.asked = asked
        cases = [case for case in asked.cases if isinstance(case, Case)]
        self.shape = len(asked.cases), asked.points[0].size
        groups = max((_group_count(case.problem) for case in cases), default=1)
        self.values: dict[str, NDArray[Any]] = {
            field.name: np.full(
                (*self.shape, *(groups,) * len(OVERLAP_DIMENSIONS.get(field.name, ()))), np.nan
            )
            for field in fields(Solution)
        }
        self.values["status"] = np.full(self.shape, Status.REFUSED, dtype=np.int8)
        self.values["iterations"] = np.zeros(self.shape, dtype=np.int64)
        if all(case.loss == SQUARE for case in cases):
            for name in LOSSES:
                del self.values[name]
        if zero_one and any(case.problem.target == SIGN for case in cases):
            self.values[CLASSIFICATION_ERROR] = np.full(self.shape, np.nan)
        if asked.optimal:
            self.values["ridge"] = np.full(self.shape, np.nan)
            self.values["optimal_ridge_on_edge"] = np.zeros(self.shape, dtype=bool)

    def fill(self) -> Iterator[float]:
        """Solve case after case; yield the share that is done."""
        solve = self._optimise if self.asked.optimal else self._solve
        for place, case in enumerate(self.asked.cases):
            if isinstance(case, Case):
                try:
                    for done in solve(place, case):
                        yield (place + done) / self.shape[0]
                except InvalidParametersError as error:
                    self.asked.cases[place] = error

    def _solve(self, place: int, case: Case) -> Iterator[float]:
        """Solve one case, a batch of points at a time."""
        problem, loss, bulk, dimension = case
        solver, (alpha, ridge) = cached_solver(problem, bulk, loss, dimension), self.asked.points
        for part in solver.batches(alpha.size):
            self._enter(solver.srf, (place, part), solver.solve(alpha[part], ridge[part]))
            yield min(part.stop / alpha.size, 1.0)

    def _optimise(self, place: int, case: Case) -> Iterator[float]:
        """Solve one case at its best ridges."""
        problem, loss, bulk, dimension = case
        best = optimal_ridge(problem, self.asked.points[0], bulk, dimension, loss)
        srf = equivalent_features(problem, dimension)
        self._enter(srf, (place, slice(None)), best.solution)
        self.values["ridge"][place] = best.ridge
        self.values["optimal_ridge_on_edge"][place] = best.on_edge
        yield 1.0

    def _enter(self, srf: SpikedFeatures, where: tuple[int, slice], solution: Solution) -> None:
        for field in fields(Solution):
            if field.name in self.values:
                found = getattr(solution, field.name)
                index: tuple[int | slice, ...] = where + tuple(map(slice, found.shape[1:]))
                self.values[field.name][index] = found
        if CLASSIFICATION_ERROR in self.values and srf.target == SIGN:
            self.values[CLASSIFICATION_ERROR][where] = classification_error(
                srf, Overlaps.of(solution)
            )

    def dataset(self) -> xr.Dataset:
        """Arrange all by the parameters; those that do not vary are scalars."""
        optimal, coords = self.asked.optimal, dict[str, Any](self.asked.values)
        if optimal:
            del coords["ridge"]
        dims = tuple(coords)
        shape = tuple(len(values) for values in coords.values())
        variables = {
            name: by_groups(
                dims, array.reshape(*shape, *array.shape[2:]), OVERLAP_DIMENSIONS.get(name, ())
            )
            for name, array in self.values.items()
        }
        if optimal:
            coords["ridge"] = variables.pop("ridge")
        fixed = [name for name in dims if name not in self.asked.varied]
        data = drop_fixed(xr.Dataset(variables, coords=coords), fixed)
        return count_groups(data.transpose(*self.asked.varied, ...))


def _group_count(problem: Problem) -> int:
    return len(problem.readout) if isinstance(problem, Protocol) else problem.groups.c.size
