"""A request to the theory: all combinations of the values of parameters, as one dataset."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from giantstep.problems.bulk_kind import bulk_of_networks
from giantstep.problems.combinations import combinations
from giantstep.problems.domains import THEORY_DIMENSION
from giantstep.problems.formatting import format_value, single
from giantstep.problems.grid import Grid
from giantstep.problems.losses import SQUARE, is_square
from giantstep.problems.problem import Problem
from giantstep.questions.arguments import ALPHA, BULK, BY, DIMENSION, LOSS, OPTIMAL, RIDGE
from giantstep.questions.case import Case, answer_remarks
from giantstep.questions.datasets import count_groups
from giantstep.questions.progress import Progress, bar, part
from giantstep.questions.remarks import edge_remarks, named_ridge
from giantstep.questions.values import SOME_RIDGE, as_lists, is_several
from giantstep.theory.first_layer.layer import layer_of
from giantstep.theory.optima import search_of
from giantstep.theory.readout.columns import PARAMETER, Columns
from giantstep.theory.readout.derivatives import continuous_parameters
from giantstep.theory.readout.status import Status
from giantstep.validation import (
    Fault,
    InvalidParametersError,
    collected,
    plain_number,
    raise_all,
    read_value,
)

# What varies besides the fields of the problem, and what it is by default; the bulk is that of
# networks.
DEFAULTS = {one.name: one.default for one in (LOSS, BULK, DIMENSION, BY, ALPHA, RIDGE)}
# Solved together.
POINTS = (ALPHA.name, RIDGE.name)
# Reasons of refusals that are told.
_REASONS = 3
# What arrays hold where a case was refused, instead of NaN.
_REFUSED = {"status": Status.REFUSED, "iterations": 0, "optimal_ridge_on_edge": False}


class Request(NamedTuple):
    """All combinations of the values of parameters.

    Attributes
    ----------
    problem : Protocol or SpikedFeatures
        Everything that does not vary.
    values : dict of list
        Of each parameter, as coordinates hold them; alpha is the last, or the ridge, unless it is
        to be the best of each point.
    varied : list of str
        The parameters that were given as sequences, in the order in which they were given.
    cases : list of Case or InvalidParametersError
        The outer product of all parameters but alpha and ridge; errors in place of those that do
        not go together.
    """

    problem: Problem
    values: dict[str, list[Any]]
    varied: list[str]
    cases: list[Case | InvalidParametersError]

    @property
    def optimal(self) -> bool:
        """Whether the ridge is the best of each point."""
        return RIDGE.name not in self.values

    def solve(
        self, zero_one: bool = True, progress: Progress = bar
    ) -> tuple[xr.Dataset, list[str]]:
        """Solve the theory at all combinations; with remarks.

        Parameters
        ----------
        zero_one : bool
            Whether to add the 0-1 error where there is one.
        progress : callable, optional

        Raises
        ------
        InvalidParametersError
            If all are refused.
        """
        count, refused = len(self.cases), list[Fault]()
        solved: list[Columns | None] = [None] * count
        axes = (np.array(self.values.get(name, [math.nan])) for name in POINTS)
        alpha, ridge = (x.ravel() for x in np.meshgrid(*axes, indexing="ij"))
        for place, case in enumerate(self.cases):
            with collected(refused):
                if isinstance(case, InvalidParametersError):
                    raise case
                told = part(progress, place, count)
                solved[place] = (
                    case.optimise(alpha, zero_one)
                    if self.optimal
                    else case.solve(alpha, ridge, zero_one, told)
                )
            progress((place + 1) / count)
        if not any(solved):
            raise_all(refused)
        columns = Columns.stacked(solved, _REFUSED)
        data = self._arranged(columns)
        return data, self._remarks(data, refused)

    def _arranged(self, columns: Columns) -> xr.Dataset:
        """Arrange columns over (cases, points, ...) by the parameters that vary."""
        dims = tuple(name for name in self.values if name in self.varied)
        shape = [len(self.values[name]) for name in dims]
        shaped = Columns({name: x.reshape((*shape, *x.shape[2:])) for name, x in columns.items()})
        # Of the square loss alone, losses are half the errors.
        plain = all(is_square(case.loss) for case in self.cases if isinstance(case, Case))
        named = shaped.variables(dims, ("test_loss", "training_loss") if plain else ())
        coords: dict[str, Any] = {k: x if k in dims else x[0] for k, x in self.values.items()}
        if self.optimal:
            coords["ridge"] = named.pop("ridge")
        data = xr.Dataset(named, coords)
        # Of one dimension the order is right, and to say so would take a millisecond.
        several = len(self.varied) > 1
        data = count_groups(data.transpose(*self.varied, ...) if several else data)
        if "derivative" not in data:
            return data
        data = data.assign_coords({PARAMETER: list(continuous_parameters(self.problem))})
        others = [name for name in data["derivative"].dims if name != PARAMETER]
        return data.sel({PARAMETER: data["derivative"].notnull().any(others)})

    def _remarks(self, data: xr.Dataset, refused: Sequence[Fault]) -> list[str]:
        remarks = answer_remarks(data)
        known = [case for case in self.cases if isinstance(case, Case)]
        if self.optimal:
            candidates = search_of(known[0].loss, known[0].dimension).ridges
            on_edge = data["optimal_ridge_on_edge"]
            remarks += edge_remarks(on_edge, named_ridge(known[0].loss), candidates)
        of_layers = (layer_of(one.problem, one.dimension).remarks(one.bulk) for one in known)
        remarks += dict.fromkeys(remark for some in of_layers for remark in some)
        reasons = dict.fromkeys(map(str, refused))
        return remarks + [f"Refused: {reason}" for reason in list(reasons)[:_REASONS]]


def read_request(problem: Problem, given: Mapping[str, Any], **asked: Any) -> Request:
    """Read and check the values of parameters; what is asked for is that of `Case`.

    Raises
    ------
    InvalidParametersError
        With all names that are no parameters, and all values that no case can have.
    """
    of_problem = [field.name for field in fields(problem)]
    known = *of_problem, *DEFAULTS
    allowed = f"one of {', '.join(known)}"
    raise_all([Fault("parameter", name, allowed) for name in given if name not in known])
    lists = DEFAULTS | {name: as_lists(value) for name, value in given.items()}
    if lists["bulk"] is None:
        lists["bulk"] = bulk_of_networks(problem)
    varied = [name for name in given if is_several(name, lists[name])]
    order = [name for name in known if name in lists]
    values = {name: lists[name] if name in varied else [lists[name]] for name in order}
    optimal = OPTIMAL in values["ridge"]
    faults = _point_faults(values, optimal)
    outer = {name: values[name] for name in order if name not in POINTS}
    cases = _cases(problem, outer, optimal, asked, faults)
    raise_all(faults)
    if not optimal:  # there is nothing that it decides
        del outer["by"]
    written = {k: _labels(problem, k, x) if k in of_problem else x for k, x in outer.items()}
    points = POINTS[:1] if optimal else POINTS
    written |= {name: list(map(float, values[name])) for name in points}
    return Request(problem, written, [name for name in varied if name in written], cases)


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
        read_value("dimension", dimension, THEORY_DIMENSION, faults)
    return faults


def _cases(
    problem: Problem,
    outer: Mapping[str, list[Any]],
    optimal: bool,
    asked: Mapping[str, Any],
    faults: list[Fault],
) -> list[Case | InvalidParametersError]:
    """Combine all values; a value that goes with no others is a fault of the question."""
    cases: list[Case | InvalidParametersError] = []
    valid = set[tuple[str, int]]()
    places = list(combinations({name: range(len(values)) for name, values in outer.items()}))
    for place in places:
        chosen = {name: outer[name][k] for name, k in place.items()}
        how = {name: chosen.pop(name) for name in ("loss", "bulk", "by")}
        how["dimension"] = plain_number(chosen.pop("dimension"))
        try:
            case = Case(replace(problem, **chosen) if chosen else problem, **how, **asked)
            raise_all(case.faults(optimal))
            cases.append(case)
            valid.update(place.items())
        except InvalidParametersError as error:
            cases.append(error)
    for place, made in zip(places, cases, strict=True):
        if not isinstance(made, Case) and not valid.issuperset(place.items()):
            faults += made.faults
    return cases


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
