"""All cases of a sweep: read and checked, solved, and arranged as one dataset."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from giantstep.arrays import Array
from giantstep.problems.bulk_kind import bulk_of_networks, validate_bulk
from giantstep.problems.combinations import combinations
from giantstep.problems.domains import THEORY_DIMENSION
from giantstep.problems.formatting import format_value, single
from giantstep.problems.grid import Grid
from giantstep.problems.losses import SQUARE
from giantstep.problems.problem import Problem, check_loss
from giantstep.questions.answers import count_groups, dataset
from giantstep.questions.checks import OPTIMAL, SOME_RIDGE, criterion_faults
from giantstep.questions.progress import Progress, part, progress_bar
from giantstep.questions.theory_points import (
    Case,
    answer_remarks,
    derivative_faults,
    hidden,
)
from giantstep.questions.values import as_lists, is_several
from giantstep.theory.first_layer.layer import layer_of
from giantstep.theory.optima import TEST_ERROR
from giantstep.theory.readout.columns import Columns
from giantstep.theory.readout.status import Status
from giantstep.validation import (
    Fault,
    InvalidParametersError,
    collected,
    interval_faults,
    raise_all,
    refusal,
)

# What a sweep varies besides the fields of the problem, and what it is by default; the bulk is that
# of networks.
DEFAULTS: dict[str, Any] = {
    "loss": SQUARE,
    "bulk": None,
    "dimension": math.inf,
    "by": TEST_ERROR,
    "alpha": 1.0,
    "ridge": 0.1,
}
# Solved together.
POINTS = ("alpha", "ridge")
# Reasons of refusals that are told.
_REASONS = 3
# What arrays hold where a case was refused, instead of NaN.
_REFUSED = {"status": Status.REFUSED, "iterations": 0, "optimal_ridge_on_edge": False}


def solve_cases(
    sweep: Sweep, zero_one: bool = True, progress: Progress | None = None
) -> tuple[xr.Dataset, list[str]]:
    """Solve the theory for all combinations of parameters, as `sweep` says; with remarks.

    Raises
    ------
    InvalidParametersError
    """
    solved: list[Columns | None] = []
    refused, count = list[InvalidParametersError](), len(sweep.cases)
    with progress_bar("theory", progress) as report:
        for place, case in enumerate(sweep.cases):
            try:
                if isinstance(case, InvalidParametersError):
                    raise case
                solved.append(
                    case.optimise(sweep.points[0], zero_one)
                    if sweep.optimal
                    else case.solve_batches(*sweep.points, zero_one, part(report, place, count))
                )
            except InvalidParametersError as error:
                refused.append(error)
                solved.append(None)
            report((place + 1) / count)
    if len(refused) == len(solved):
        raise_all([fault for error in refused for fault in error.faults])
    data = _arranged(sweep, Columns.stacked(solved, _REFUSED))
    remarks = answer_remarks(data, data["dimension"])
    known = [case for case in sweep.cases if isinstance(case, Case)]
    of_layers = (layer_of(one.problem, one.dimension).remarks(one.bulk) for one in known)
    remarks += dict.fromkeys(remark for some in of_layers for remark in some)
    reasons = dict.fromkeys(str(fault) for error in refused for fault in error.faults)
    remarks += [f"Refused: {reason}" for reason in list(reasons)[:_REASONS]]
    return data, remarks


def paired(values: Mapping[str, Any], names: Sequence[str]) -> list[dict[str, Any]]:
    """Take the values of some parameters together, one after the other; all others stay.

    Raises
    ------
    InvalidParametersError
        If they have not as many values each.
    """
    if not names:
        return [dict(values)]
    lists = {name: as_lists(values.get(name)) for name in names}
    counts = {len(one) if is_several(name, one) else 0 for name, one in lists.items()}
    if len(lists) < 2 or len(counts) > 1 or counts == {0}:
        raise refusal("zip", tuple(names), "two or more parameters that have as many values each")
    rows = zip(*lists.values(), strict=True)
    return [{**values, **dict(zip(lists, row, strict=True))} for row in rows]


class Sweep(NamedTuple):
    """All that a sweep asks for.

    Attributes
    ----------
    values : dict of list
        Of each parameter, as coordinates hold them; alpha is the last, or the ridge, unless it is
        to be the best of each point.
    varied : list of str
        The parameters that were given as sequences, in the order in which they were given.
    cases : list of Case or InvalidParametersError
        The outer product of all parameters but alpha and ridge; errors in place of those that do
        not go together.
    """

    values: dict[str, list[Any]]
    varied: list[str]
    cases: list[Case | InvalidParametersError]

    @property
    def optimal(self) -> bool:
        """Whether the ridge is the best of each point."""
        return "ridge" not in self.values

    @property
    def points(self) -> tuple[Array, Array]:
        """Every alpha with every ridge, as two arrays of one dimension; NaN for the best ridge."""
        axes = (np.array(self.values.get(name, [math.nan])) for name in POINTS)
        mesh = np.meshgrid(*axes, indexing="ij")
        return mesh[0].ravel(), mesh[1].ravel()


def read_sweep(problem: Problem, given: Mapping[str, Any], **asked: Any) -> Sweep:
    """Read and check the parameters of a sweep; what is asked for is that of `Case`.

    Raises
    ------
    InvalidParametersError
        With all names that are no parameters, and all values that no case can have.
    """
    of_problem = [field.name for field in fields(problem)]
    unknown = [name for name in given if name not in (*of_problem, *DEFAULTS)]
    allowed = f"one of {', '.join([*of_problem, *DEFAULTS])}"
    raise_all([Fault("parameter", name, allowed) for name in unknown])
    lists = {name: as_lists(value) for name, value in (DEFAULTS | dict(given)).items()}
    if lists["bulk"] is None:
        lists["bulk"] = bulk_of_networks(problem)
    varied = [name for name in given if is_several(name, lists[name])]
    order = [name for name in of_problem if name in given] + list(DEFAULTS)
    values = {name: lists[name] if name in varied else [lists[name]] for name in order}
    optimal = OPTIMAL in values["ridge"]
    faults = _point_faults(values, optimal)
    outer = {name: values[name] for name in order if name not in POINTS}
    for loss, by in product(values["loss"], values["by"]):
        faults += derivative_faults(asked.get("derivatives", False), loss, optimal, by)
    cases = _cases(problem, outer, optimal, faults)
    raise_all(faults)
    cases = [one._replace(**asked) if isinstance(one, Case) else one for one in cases]
    if not optimal:  # there is nothing that it decides
        del outer["by"]
    written = {name: _labels(problem, name, outer[name]) for name in outer}
    points = POINTS[:1] if optimal else POINTS
    written |= {name: list(map(float, values[name])) for name in points}
    return Sweep(written, [name for name in varied if name in written], cases)


def _arranged(sweep: Sweep, columns: Columns) -> xr.Dataset:
    """Arrange columns over (cases, points, ...) by the parameters; one value is a scalar."""
    shape, dims = tuple(map(len, sweep.values.values())), tuple(sweep.values)
    losses = {case.loss for case in sweep.cases if isinstance(case, Case)}
    shaped = Columns({name: x.reshape(*shape, *x.shape[2:]) for name, x in columns.items()})
    named = shaped.variables(dims, hidden(losses))
    coords: dict[str, Any] = {name: ((name,), np.array(v)) for name, v in sweep.values.items()}
    if sweep.optimal:
        coords["ridge"] = named.pop("ridge")
    data = dataset(named, coords, set(dims) - set(sweep.varied))
    # Of one dimension the order is right, and to say so would take a millisecond.
    return count_groups(data.transpose(*sweep.varied, ...) if len(sweep.varied) > 1 else data)


def _point_faults(values: Mapping[str, list[Any]], optimal: bool) -> list[Fault]:
    """Collect what is wrong with the points, and with what all cases are solved by."""
    faults = [Fault(name, [], "at least one value") for name, found in values.items() if not found]
    ridges = [SOME_RIDGE] if optimal else values["ridge"]
    if optimal and len(values["ridge"]) > 1:
        faults.append(Fault("ridge", OPTIMAL, "alone, without numbers"))
    for loss in values["loss"] or [SQUARE]:
        with collected(faults):
            Grid(tuple(values["alpha"]) or (1.0,), tuple(ridges) or (1.0,), loss)
    for dimension in values["dimension"]:
        faults += interval_faults({"dimension": dimension}, {"dimension": THEORY_DIMENSION})
    return faults


def _cases(
    problem: Problem, outer: Mapping[str, list[Any]], optimal: bool, faults: list[Fault]
) -> list[Case | InvalidParametersError]:
    """Combine all values; a value that goes with no others is a fault of the question."""
    cases: list[Case | InvalidParametersError] = []
    valid = set[tuple[str, int]]()
    places = list(combinations({name: range(len(values)) for name, values in outer.items()}))
    for place in places:
        try:
            chosen = {name: outer[name][k] for name, k in place.items()}
            cases.append(_case(problem, chosen, optimal))
            valid.update(place.items())
        except InvalidParametersError as error:
            cases.append(error)
    for place, case in zip(places, cases, strict=True):
        if not isinstance(case, Case) and not valid.issuperset(place.items()):
            faults += case.faults
    return cases


def _case(problem: Problem, chosen: dict[str, Any], optimal: bool) -> Case:
    """Make a case, if its parameters go together.

    Raises
    ------
    InvalidParametersError
    """
    loss, bulk, dimension, by = (chosen.pop(name) for name in ("loss", "bulk", "dimension", "by"))
    problem = replace(problem, **chosen) if chosen else problem
    faults = criterion_faults(problem, by, optimal, loss)
    with collected(faults):
        check_loss(problem, loss)
    with collected(faults):
        validate_bulk(problem, bulk)
    faults += layer_of(problem).faults()
    with collected(faults):
        problem.with_giant_step(dimension)
    raise_all(faults)
    return Case(problem, loss, bulk, float(dimension), by)


def _labels(problem: Problem, name: str, values: Sequence[Any]) -> list[Any]:
    """Write the values of a parameter as coordinates hold them: as numbers, or as texts."""
    labels = []
    for given in values:
        value = given
        # Not if it is no field of the problem, or goes only with another value of another field.
        with suppress(TypeError, InvalidParametersError):
            value = getattr(replace(problem, **{name: value}), name)
        value = given if isinstance(given, str) and isinstance(value, tuple) else single(value)
        labels.append(format_value(value) if isinstance(value, tuple | list) else value)
    texts = any(isinstance(label, str) for label in labels)
    return list(map(str, labels)) if texts else labels
