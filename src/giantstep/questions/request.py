"""The theory at all combinations of the values of parameters, as one dataset."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from giantstep.arrays import Array
from giantstep.problems.bulk_kind import bulk_of_networks
from giantstep.problems.domains import THEORY_DIMENSION
from giantstep.problems.formatting import format_value, single
from giantstep.problems.grid import Grid
from giantstep.problems.losses import is_square
from giantstep.problems.parameter import parameters_of
from giantstep.problems.problem import Problem
from giantstep.questions.arguments import ALPHA, BULK, BY, DIMENSION, LOSS, OPTIMAL, RIDGE
from giantstep.questions.case import Case, answer_remarks
from giantstep.questions.datasets import count_groups, total_samples
from giantstep.questions.product import Result, answer_each
from giantstep.questions.progress import Progress
from giantstep.questions.remarks import edge_remarks, named_ridge
from giantstep.questions.values import SOME_RIDGE, as_lists, is_several
from giantstep.theory.optima import search_of
from giantstep.theory.readout.columns import PARAMETER, Columns
from giantstep.theory.readout.derivatives import continuous_parameters
from giantstep.validation import Fault, collected, raise_all, read_value

# Parameters besides the fields of the problem, and their defaults; that of the bulk is the bulk of
# networks.
DEFAULTS = {one.name: one.default for one in (LOSS, BULK, DIMENSION, BY, ALPHA, RIDGE)}
# Parameters whose values are solved together.
_POINTS = (ALPHA.name, RIDGE.name)


def solve_all(
    problem: Problem,
    given: Mapping[str, Any],
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
    optimal = values["ridge"] == OPTIMAL
    varied = [name for name in given if is_several(name, values[name])]
    sizes = {k: len(values[k]) for k in _POINTS[: 1 if optimal else 2] if k in varied}
    # Losses of the square loss are half the errors.
    plain = all(map(is_square, np.atleast_1d(values["loss"])))
    without = ("test_loss", "training_loss") if plain else ()
    several = {name: values[name] for name in varied if name not in _POINTS}
    coordinates = partial(_coordinates, problem, values, varied, optimal)

    def arrange(case: Case, columns: Columns) -> xr.Dataset:
        named = columns.variables(sizes, without, squeezed=not several)
        own: dict[str, Any] = {"ridge": named.pop("ridge")} if optimal else {}
        if case.derivatives:
            own[PARAMETER] = list(continuous_parameters(case.problem))
        # Giving all coordinates at once takes a third of the time of adding them.
        return count_groups(xr.Dataset(named, own if several else own | coordinates()))

    def prepare(chosen: Mapping[str, Any]) -> Callable[[Progress], Result]:
        case, alpha, ridge = _case(problem, {**values, **chosen}, optimal, options)
        return lambda report: (arrange(case, case.solve(alpha, ridge, report)), case.remarks)

    data, remarks = answer_each(several, prepare, progress)
    if several:
        single = [name for name in ("group", "other_group") if data.sizes.get(name) == 1]
        data = data.squeeze(single, drop=True).assign_coords(coordinates())
    if len(varied) > 1:
        data = data.transpose(*(name for name in varied if name in data.dims), ...)
    if "derivative" in data:
        data = data.dropna(PARAMETER, how="all", subset=["derivative"])
    if optimal:
        loss, dimension = (np.atleast_1d(values[name])[0] for name in ("loss", "dimension"))
        candidates = search_of(str(loss), float(dimension)).ridges
        remarks += edge_remarks(data["optimal_ridge_on_edge"], named_ridge(loss), candidates)
    return data, answer_remarks(data) + remarks


def _values(problem: Problem, given: Mapping[str, Any]) -> dict[str, Any]:
    """Read what is given, one value or a list of several for each parameter, with the defaults.

    Raises
    ------
    InvalidParametersError
    """
    known = *parameters_of(type(problem)), *DEFAULTS
    allowed = f"one of {', '.join(known)}"
    values = DEFAULTS | {name: as_lists(value) for name, value in given.items()}
    faults = [Fault("parameter", name, allowed) for name in given if name not in known]
    faults += [Fault(name, [], "at least one value") for name, x in values.items() if x == []]
    raise_all(faults)
    return values | {"bulk": values["bulk"] or bulk_of_networks(problem)}


def _case(
    problem: Problem, values: Mapping[str, Any], optimal: bool, options: Mapping[str, Any]
) -> tuple[Case, Array, Array | None]:
    """Make the case of one value of each parameter, and its points; best ridges are still unknown.

    Raises
    ------
    InvalidParametersError
    """
    changes = {name: x for name, x in values.items() if name not in DEFAULTS}
    faults: list[Fault] = []
    how = {name: values[name] for name in ("loss", "bulk", "by", "dimension")}
    how["dimension"] = read_value("dimension", how["dimension"], THEORY_DIMENSION, faults)
    with collected(faults):
        ridge = SOME_RIDGE if optimal else values["ridge"]
        grid = Grid(values["alpha"], ridge, values["loss"])  # type: ignore[arg-type]
    with collected(faults):
        case = Case(replace(problem, **changes) if changes else problem, **how, **options)
        faults += case.faults(optimal)
    raise_all(faults)
    alpha, ridges = (x.ravel() for x in np.meshgrid(grid.alpha, grid.ridge, indexing="ij"))
    return case, alpha, None if optimal else ridges


def _coordinates(
    problem: Problem, values: Mapping[str, Any], varied: Sequence[str], optimal: bool
) -> dict[str, xr.Variable]:
    """Label the values of all parameters, those that vary along their own dimension."""
    # Each point has a ridge of its own, or nothing is minimised.
    kept = {name: x for name, x in values.items() if name != ("ridge" if optimal else "by")}
    labels = {name: _label(problem, name, x, name in varied) for name, x in kept.items()}
    coords = {k: xr.Variable((k,) if k in varied else (), x) for k, x in labels.items()}
    return coords | total_samples(problem, coords)


def _label(problem: Problem, name: str, given: Any, several: bool) -> Any:
    """Write one value of a parameter, or several, as coordinates: numbers, or texts."""
    if name in _POINTS:
        return given if isinstance(given, str) else np.array(given, dtype=float)
    if several:
        labels = [_label(problem, name, x, False) for x in given]
        return list(map(str, labels)) if any(isinstance(x, str) for x in labels) else labels
    known = parameters_of(type(problem))
    if name in known and not isinstance(given, str):
        given = single(read_value(name, given, known[name].domain, []))
    return format_value(given) if isinstance(given, tuple | list) else given
