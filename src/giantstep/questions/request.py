"""The theory at all combinations of the values of parameters, as one dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from giantstep.problems.bulk_kind import bulk_of_networks
from giantstep.problems.domains import THEORY_DIMENSION
from giantstep.problems.formatting import single, written
from giantstep.problems.grid import Grid
from giantstep.problems.losses import is_square
from giantstep.problems.parameter import parameters_of
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.progress import Progress
from giantstep.questions.arguments import ALPHA, BULK, BY, DIMENSION, LOSS, OPTIMAL, RIDGE
from giantstep.questions.case import Case, answer_remarks
from giantstep.questions.datasets import numbered, total_samples
from giantstep.questions.product import Ask, Result, answer_each
from giantstep.questions.remarks import edge_remarks, named_ridge
from giantstep.questions.values import SOME_RIDGE, as_lists, is_several
from giantstep.theory.optima import search_of
from giantstep.theory.readout.columns import PARAMETER
from giantstep.theory.readout.derivatives import continuous_parameters
from giantstep.validation import Fault, collected, raise_all, read_value

# What is given: values by the names of parameters.
Given = Mapping[str, Any]
# Parameters besides the fields of the problem, and their defaults; that of the bulk is the bulk of
# networks.
DEFAULTS = {one.name: one.default for one in (LOSS, BULK, DIMENSION, BY, ALPHA, RIDGE)}
# Parameters whose values are solved together.
_POINTS = (ALPHA.name, RIDGE.name)
# Parameters with a domain, which says how their values are read.
_PARAMETERS = parameters_of(SpikedFeatures) | parameters_of(Protocol) | parameters_of(Grid)


def solve_all(
    problem: Problem,
    given: Given,
    progress: Progress = lambda share: None,
    **options: Any,
) -> tuple[xr.Dataset, list[str]]:
    """Solve the theory at all combinations of the values of parameters; with remarks.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
        Everything that does not vary.
    given : mapping
        Values of fields of the problem, and of `DEFAULTS`; sequences are dimensions, in this order.
    progress : callable, optional
    **options
        Further attributes of `Case`.

    Raises
    ------
    InvalidParametersError
        With all names that are no parameters, and all values that no combination can have.
    """
    values = _values(problem, given)
    varied = [name for name in given if is_several(name, values[name])]
    several = {name: values[name] for name in varied if name not in _POINTS}
    prepare = partial(_prepare, problem, values, options)
    data, remarks = answer_each(several, prepare, progress)
    if several:
        single = [name for name in ("group", "other_group") if data.sizes.get(name) == 1]
        data = data.squeeze(single, drop=True).assign_coords(_coordinates(problem, values))
    if len(varied) > 1:
        data = data.transpose(*(name for name in varied if name in data.dims), ...)
    if "derivative" in data:
        data = data.dropna(PARAMETER, how="all", subset=["derivative"])
    if values["ridge"] == OPTIMAL:
        loss, dimension = (np.atleast_1d(values[name])[0] for name in ("loss", "dimension"))
        candidates = search_of(str(loss), float(dimension)).ridges
        remarks += edge_remarks(data["optimal_ridge_on_edge"], named_ridge(loss), candidates)
    return data, answer_remarks(data) + remarks


def _values(problem: Problem, given: Given) -> dict[str, Any]:
    """Read what is given, one value or a list of several for each parameter, with the defaults.

    Raises
    ------
    InvalidParametersError
    """
    known = *(field.name for field in fields(problem)), *DEFAULTS
    allowed = f"one of {', '.join(known)}"
    values = DEFAULTS | {name: as_lists(value) for name, value in given.items()}
    faults = [Fault("parameter", name, allowed) for name in given if name not in known]
    faults += [Fault(name, [], "at least one value") for name, x in values.items() if x == []]
    raise_all(faults)
    return values | {"bulk": values["bulk"] or bulk_of_networks(problem)}


def _prepare(problem: Problem, values: Given, options: Given, chosen: Given) -> Ask:
    """Check one value of each parameter, and make what solves it at all points."""
    case, grid = _case(problem, {**values, **chosen}, options)
    optimal = values["ridge"] == OPTIMAL
    sizes = {k: len(values[k]) for k in _POINTS if isinstance(values[k], list)}
    # Losses of the square loss are half the errors.
    plain = all(map(is_square, np.atleast_1d(values["loss"])))
    without = ("test_loss", "training_loss") if plain else ()

    def ask(report: Progress) -> Result:
        alpha, ridges = (x.ravel() for x in np.meshgrid(grid.alpha, grid.ridge, indexing="ij"))
        columns = case.solve(alpha, None if optimal else ridges, report)
        named = columns.variables(sizes, without, squeezed=not chosen)
        coords: dict[str, Any] = {"ridge": named.pop("ridge")} if optimal else {}
        if case.derivatives:
            coords[PARAMETER] = list(continuous_parameters(case.problem))
        # Giving all coordinates at once takes a third of the time of adding them.
        coords |= {} if chosen else _coordinates(problem, values)
        return numbered(xr.Dataset(named, coords)), case.remarks

    return ask


def _case(problem: Problem, values: Given, options: Given) -> tuple[Case, Grid]:
    """Make the case of one value of each parameter, and its grid; best ridges are still unknown.

    Raises
    ------
    InvalidParametersError
    """
    changes = {name: x for name, x in values.items() if name not in DEFAULTS}
    faults: list[Fault] = []
    how = {name: values[name] for name in ("loss", "bulk", "by")}
    how["dimension"] = read_value("dimension", values["dimension"], THEORY_DIMENSION, faults)
    optimal = values["ridge"] == OPTIMAL
    with collected(faults):
        ridge: Any = SOME_RIDGE if optimal else values["ridge"]
        grid = Grid(values["alpha"], ridge, values["loss"])
    with collected(faults):
        case = Case(replace(problem, **changes) if changes else problem, **how, **options)
        faults += case.faults(optimal)
    raise_all(faults)
    return case, grid


def _coordinates(problem: Problem, values: Given) -> dict[str, xr.Variable]:
    """Label the values of all parameters, those that vary along their own dimension."""
    coords = {}
    for name, given in values.items():
        several = is_several(name, given)
        labels = [_label(name, x) for x in given] if several else _label(name, given)
        coords[name] = xr.Variable((name,) if several else (), labels)
    # Each point has a ridge of its own, or nothing is minimised.
    del coords["ridge" if values["ridge"] == OPTIMAL else "by"]
    return coords | total_samples(problem, coords)


def _label(name: str, given: Any) -> Any:
    """Write one value of a parameter as a coordinate: a number, or a text."""
    if name in _PARAMETERS and not isinstance(given, str):
        given = single(read_value("", given, _PARAMETERS[name].domain, []))
    return written(given)
