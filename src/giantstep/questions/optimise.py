"""The question `optimise`: the ridge, learning rate, readout and bias of the least test error."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from giantstep.arrays import Array
from giantstep.problems.bulk_kind import ISOTROPIC
from giantstep.problems.covariance import IDENTITY
from giantstep.problems.inputs import GAUSSIAN
from giantstep.problems.losses import SQUARE
from giantstep.problems.problem import Problem
from giantstep.questions.arguments import ALPHA, BEST_RIDGE, NETWORK, THEORY, Argument, Many, one_of
from giantstep.questions.case import DOUBTS, Case, answer_remarks
from giantstep.questions.checks import criterion_faults, read_question
from giantstep.questions.choices import BIAS, RATE, RIDGE, UNKNOWNS
from giantstep.questions.costs import THEORY_HOURS, check_task
from giantstep.questions.datasets import drop_fixed
from giantstep.questions.declaration import STRUCTURED
from giantstep.questions.progress import Progress, progress_bar
from giantstep.questions.question import Result, question
from giantstep.questions.remarks import (
    OF_COVARIANCE,
    edge_remarks,
    named_ridge,
)
from giantstep.questions.search import Objective, Unknown, read_unknowns, refine
from giantstep.questions.task import Task
from giantstep.theory.first_layer.layer import layer_of
from giantstep.theory.optima import TEST_ERROR
from giantstep.validation import Fault, raise_all

# Points that refining one unknown takes, for the bar; of several, times the cube of their number.
_REFINEMENTS = 12


_OVER = Argument(
    "over",
    "what is optimised: stop_at in place of a ridge; of a readout its values but the first, whose"
    " size is that of the learning rate; a bias common to all neurons after the step",
    one_of(*UNKNOWNS),
    Many.TOGETHER,
)
_RIDGE = replace(BEST_RIDGE, many=Many.APART, text="if it is not optimised; optimal adds it")


@question(
    "The least test error",
    command="optimise",
    text="the ridge, learning rate, readout and bias of the least test error",
    place=5,
    takes=(_OVER, ALPHA, _RIDGE, *THEORY),
    inputs=STRUCTURED,
    example=f"{NETWORK} --alpha0 2 \\\n      --alpha 1 --over learning_rate ridge --format table",
)
def optimise(
    problem: Problem,
    over: str | Sequence[str] | Mapping[str, ArrayLike] = (RATE,),
    alpha: ArrayLike = 1.0,
    ridge: float | Literal["optimal"] = 0.1,
    *,
    loss: str = SQUARE,
    stop_at: ArrayLike | None = None,
    bulk: str | None = None,
    dimension: float = math.inf,
    by: str = TEST_ERROR,
    max_hours: float = THEORY_HOURS,
    max_memory: float | None = None,
    progress: Progress | None = None,
) -> Result:
    """Minimise the test error over parameters, alone or jointly, at each sample complexity.

    All combinations of candidates are solved, then the best is refined. By default the test error
    is the squared one, equation (25), whatever the loss and the target.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
        Its own value of what is optimised is ignored.
    over : str, sequence of str, or mapping
        Any of "learning_rate"; "ridge", or "stop_at" in its place; "readout", its values but the
        first, whose size is that of the learning rate, at their shares; "bias", one for all neurons
        after the step. A mapping gives the candidates of each, as in
        `{"learning_rate": np.geomspace(0.1, 10, 30)}`.
    alpha : float or array_like, shape (A,)
        Sample complexity n/d of the readout's training set, > 0.
    ridge : float or "optimal"
        If it is not optimised; "optimal" adds it to what is.
    loss, stop_at, bulk, dimension, by, max_hours, max_memory
        As in `solve`. Optima as d -> infinity may be far from those of networks: give their
        dimension. A bias needs the isotropic bulk, and has it by default.
    progress : callable, optional
        Called from time to time with the share of the work that is done; by default a bar on a
        terminal.

    Returns
    -------
    xarray.Dataset
        `optimal_test_error`, `optimal_learning_rate`, `optimal_ridge`, `optimal_letter_2`,
        `optimal_bias` of what was optimised, each with `..._on_edge`, whether it is an end of the
        range searched, or of the part of it that could be solved: the error may be smaller beyond.
        `test_error`: the whole profile, over all candidates. By the 0-1 error, both are named after
        it, such as `optimal_classification_error`. `reliability`, its parts, `reliable_dimension`
        and, for inputs with a covariance, `chi_2` and the like are those of `solve` at the optimum.
        The attribute `remarks` names optima at an edge, and points where the theory may be far from
        networks.

    Raises
    ------
    InvalidParametersError
        With everything that is wrong with the question.

    Examples
    --------
    >>> import giantstep
    >>> problem = giantstep.Protocol("erf", "relu", learning_rate=1, alpha0=2, beta=1)
    >>> over = {"learning_rate": [0.01, 0.1, 1, 10]}
    >>> limit = giantstep.optimise(problem, over, alpha=1.5)
    >>> limit.optimal_learning_rate_on_edge.item(), limit.reliable_dimension.item() > 1000
    (True, True)
    >>> problem = giantstep.Protocol("tanh", "sin", learning_rate=1, alpha0=2, beta=1)
    >>> over = {"learning_rate": [0.3, 1, 3, 10], "ridge": [0.01, 0.1, 1, 10]}
    >>> best = giantstep.optimise(problem, over, alpha=2, dimension=500)
    >>> best.optimal_learning_rate.round(1).item(), best.optimal_ridge.round(1).item()
    (2.3, 0.1)
    >>> dict(best.test_error.sizes)
    {'learning_rate': 4, 'ridge': 4}
    """
    faults: list[Fault] = []
    if bulk is None and BIAS in over:
        bulk = ISOTROPIC
    axes, bulk = read_question(problem, alpha, ridge, loss, bulk, dimension, faults)
    faults += criterion_faults(problem, by, loss=loss)
    if problem.has_covariance and (BIAS in over or math.isinf(dimension)):
        name, plain = ("covariance", IDENTITY)
        if problem.inputs != GAUSSIAN:
            name, plain = ("inputs", GAUSSIAN)
        allowed = f"{plain} where a bias is optimised, or no dimension is given"
        faults.append(Fault(name, getattr(problem, name), allowed))
    names = [over] if isinstance(over, str) else over
    searched: dict[str, Any] = dict(names) if isinstance(names, Mapping) else dict.fromkeys(names)
    if axes.optimal:
        searched.setdefault(RIDGE, None)
    unknowns = {one.name: one for one in read_unknowns(problem, searched, loss, dimension, faults)}
    if BIAS in unknowns and bulk != ISOTROPIC:
        faults.append(Fault("bulk", bulk, f"{ISOTROPIC} where a bias is optimised"))
    raise_all(faults)
    given = {"over": searched, "alpha": alpha, "ridge": ridge, "loss": loss, "bulk": bulk}
    check_task(Task("optimise", problem, given), max_hours, max_memory)
    ridges = unknowns.pop(RIDGE, Unknown(RIDGE, np.array(axes.grid.ridge))).candidates
    outer = tuple(unknowns.values())
    search = Objective(Case(problem, loss, bulk, float(dimension), by), outer, ridges)
    alphas = np.array(axes.grid.alpha)
    with progress_bar("optimum", progress) as report:
        profile, optima = _profile_and_optima(search, alphas, report)
    coords = {one.name: one.candidates for one in search.outer} | {"alpha": alphas}
    columns: dict[str, Any] = {name: ("alpha", [one[name] for one in optima]) for name in optima[0]}
    columns[by] = (*coords, RIDGE), profile
    data = xr.Dataset(columns, coords=coords | {RIDGE: search.ridges, "bulk": bulk})
    remarks = _edge_remarks(search, data) + layer_of(problem, dimension).remarks(bulk)
    remarks += answer_remarks(data, dimension)
    fixed = [name for name in axes.fixed if name == "alpha" or not search.optimises_ridge]
    return drop_fixed(data.transpose("alpha", ...), fixed), remarks


def _profile_and_optima(
    search: Objective, alphas: Array, report: Progress
) -> tuple[Array, list[dict[str, Any]]]:
    """Solve all candidates, (*candidates, alphas, ridges), and refine the best for each alpha."""
    sizes, rows, done = [one.candidates.size for one in search.outer], [], count(1)
    expected = math.prod(sizes) + _REFINEMENTS * len(sizes) ** 3 * alphas.size

    def solved() -> None:
        report(min(next(done) / expected, 1.0))

    for place in np.ndindex(*sizes):
        rows.append(search.profile(alphas, place))
        solved()
    profile = np.array(rows).reshape(*sizes, *rows[0].shape)
    places = (slice(k, k + 1) for k in range(alphas.size))
    return profile, [_optimum(search, profile[..., k, :], alphas[k], solved) for k in places]


def _optimum(
    search: Objective, profile: Array, alpha: Array, solved: Callable[[], None]
) -> dict[str, Any]:
    """Refine the best of all candidates, at one sample complexity; variables by name.

    Parameters
    ----------
    search : Objective
    profile : Array, shape (*candidates, 1, ridges)
    alpha : Array, shape (1,)
    """
    errors = np.nan_to_num(profile, nan=np.inf).min(axis=(-2, -1))
    x, at_ends = refine(search, errors, alpha, solved)
    error, ridge, ridge_on_edge = (values.item() for values in search.least(x, alpha))
    values = search.values(x)
    on_edge = {one.name: at_end for one, at_end in zip(search.outer, at_ends, strict=True)}
    arrays: dict[str, Any] = {}
    if math.isfinite(error):
        case = search.case._replace(problem=search.problem_at(values), compared=True)
        arrays = case.solve(alpha, np.array([ridge]))
    of_inputs = OF_COVARIANCE if getattr(search.case.problem, "has_covariance", False) else ()
    if search.optimises_ridge:
        values[RIDGE], on_edge[RIDGE] = ridge, bool(ridge_on_edge)
    optimum: dict[str, Any] = {f"optimal_{search.case.by}": error}
    for name, value in values.items():
        optimum |= {f"optimal_{name}": value, f"optimal_{name}_on_edge": on_edge[name]}
    names = *DOUBTS, *of_inputs
    return optimum | {name: arrays[name].item() if arrays else math.nan for name in names}


def _edge_remarks(search: Objective, data: xr.Dataset) -> list[str]:
    def where(mask: xr.DataArray) -> list[str]:
        return [f"alpha {alpha:g}" for alpha in data["alpha"].values[mask.values]]

    remarks = []
    for name, candidates in search.candidates.items():
        points = where(data[f"optimal_{name}_on_edge"])
        what = named_ridge(search.case.loss) if name == RIDGE else f"best {name.replace('_', ' ')}"
        remarks += edge_remarks(points, what, candidates)
    if unsolved := where(data[f"optimal_{search.case.by}"].isnull()):
        remarks.append(f"At {'; '.join(unsolved)}: nothing in the range searched could be solved.")
    return remarks
