"""The question `plan`: how to split a budget of samples between gradient steps and the readout."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from giantstep.arrays import Array
from giantstep.problems.bulk_kind import bulk_of_networks
from giantstep.problems.domains import ALPHA, BETA
from giantstep.problems.losses import SQUARE
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.progress import Progress, bar
from giantstep.questions.arguments import (
    BEST_RIDGE,
    BULK,
    BY,
    DIMENSION,
    LOSS,
    OPTIMAL,
    Many,
    argument,
)
from giantstep.questions.case import DOUBTS, Case, answer_remarks
from giantstep.questions.choices import RATE, RIDGE, SAMPLES
from giantstep.questions.product import Result
from giantstep.questions.question import question
from giantstep.questions.remarks import remark_where
from giantstep.questions.search import Search
from giantstep.registry import one_of
from giantstep.theory.optima import CLASSIFICATION_ERROR, TEST_ERROR, search_of
from giantstep.validation import Fault, Interval, raise_all

_SHARE = "share_of_steps"
# Candidates, before the best is refined.
_CANDIDATES = {
    _SHARE: np.array([0.01, *np.linspace(0.1, 0.9, 9), 0.99]),
    RATE: np.geomspace(0.1, 30, 7),
    SAMPLES: np.geomspace(0.3, 100, 7),
}
_OPTIMA = tuple(f"optimal_{name}" for name in ("alpha0", "alpha", "beta", RATE, RIDGE))
_SAMPLES = argument("plan", SAMPLES, ALPHA)
_FLOPS = argument("plan", "flops", Interval(1, 1e30), Many.APART)
_MAX_STEPS = argument("plan", "max_steps", Interval(1, 10, whole=True))
_OVER = argument("plan", "over", one_of(RATE), Many.TOGETHER)
_RIDGE = replace(BEST_RIDGE, many=Many.APART)
_BY = replace(BY, domain=one_of(TEST_ERROR, CLASSIFICATION_ERROR))


@question(_SAMPLES, _FLOPS, _MAX_STEPS, _OVER, _RIDGE, LOSS, BULK, DIMENSION, _BY)
def plan(
    problem: Problem,
    samples: float | None = None,
    *,
    flops: float | None = None,
    max_steps: int = 3,
    over: str | Sequence[str] = (),
    ridge: float | Literal["optimal"] = OPTIMAL,
    loss: str = SQUARE,
    bulk: str | None = None,
    dimension: float = math.inf,
    by: str = TEST_ERROR,
    progress: Progress = bar,
) -> Result:
    """Split samples between the batches of gradient steps and the readout, for the least error.

    Each number of steps has its best split, at the best ridge; "no step" is among them. The
    problem's own `alpha0` and `steps` are ignored. If it reuses its batch, all steps share one.

    Parameters
    ----------
    problem : Protocol
    samples : float, optional
        Samples of all batches and the readout, over d. Without it, those that `flops` allow.
    flops : float, optional
        Floating-point operations of steps and ridge regression, as docs/budgets.md counts them: the
        network is as wide as they allow, and the problem's `beta` is ignored.
    max_steps : int
    over : str or sequence of str
        "learning_rate", to be optimised as well.
    ridge : float or "optimal"
    loss, bulk, dimension, by
        As in `solve`. Operations need a finite dimension.
    progress : callable, optional
        As in `optimise`.
    max_hours, max_memory
        As in `solve`.

    Returns
    -------
    xarray.Dataset
        Over `steps`, from 0: `optimal_test_error`, or `optimal_classification_error` by the 0-1
        error; `cost_of_plan`, by how much it is above the least, relatively; `optimal_alpha0` and
        `optimal_alpha`, the samples of each batch and of the readout; of what else was optimised
        `optimal_ridge`, `optimal_learning_rate` and `optimal_beta`; at finite dimension the
        operations, `flops`; `reliability`, its parts and `reliable_dimension`, as in `solve`.
        `on_edge` marks optima at an end of a range searched.

    Raises
    ------
    InvalidParametersError
        Listing all invalid arguments.

    Examples
    --------
    >>> import giantstep
    >>> problem = giantstep.Protocol("tanh", "sin", learning_rate=3, alpha0=1, beta=1)
    >>> best = giantstep.plan(problem, samples=6, max_steps=1, ridge=0.1, bulk="isotropic")
    >>> best.optimal_alpha0.round(1).values, best.optimal_test_error.round(3).values
    (array([0., 4.]), array([0.179, 0.079]))
    """
    bulk = bulk_of_networks(problem) if bulk is None else bulk
    case = Case(problem, loss, bulk, dimension, by, compared=True)
    raise_all(case.faults() + _faults(case, samples, flops))
    ridges = search_of(loss).ridges if isinstance(ridge, str) else np.array([ridge], dtype=float)
    searched, rows = [RATE] * (RATE in over) + [SAMPLES] * (samples is None), []
    for steps in range(max_steps + 1):
        kept = [_SHARE, *searched] if steps else [x for x in searched if x == SAMPLES]
        spend = partial(_spent, case, steps, samples or 0.0, flops)
        search = Search(case, {name: _CANDIDATES[name] for name in kept}, ridges, spend)
        found = search.optimum(search.profile())
        on_edge = any(x for name, x in found.items() if name.endswith("_on_edge"))
        if solved := math.isfinite(found[f"optimal_{by}"]):
            made, (alpha,) = spend({name: found[f"optimal_{name}"] for name in kept})
            found |= {"optimal_alpha0": made.alpha0, "optimal_alpha": alpha}
            found |= {"optimal_beta": made.beta} if flops is not None else {}
            if math.isfinite(dimension):
                found["flops"] = operations(made, alpha, dimension)
        rows.append(found | {"on_edge": on_edge and solved})
        progress((steps + 1) / (max_steps + 1))
    data = pd.DataFrame(rows).rename_axis("steps").to_xarray()
    least = data[f"optimal_{by}"]
    data["cost_of_plan"] = least / least.min() - 1
    names = least.name, "cost_of_plan", *_OPTIMA, "flops", *DOUBTS, "on_edge"
    data = data[[name for name in names if name in data]]
    remarks = remark_where(data["cost_of_plan"].isnull(), "no_plan")
    remarks += remark_where(data["on_edge"], "plan_on_edge") + case.remarks
    return data, remarks + answer_remarks(data.assign_coords(dimension=dimension))


def _faults(case: Case, samples: float | None, flops: float | None) -> list[Fault]:
    """List faults of the budget, and of a problem that a plan cannot vary."""
    faults = []
    if not isinstance(case.problem, Protocol):
        kind = type(case.problem).__name__
        faults.append(Fault("problem", kind, "a Protocol: only steps take samples"))
    for name in (RATE, "decay"):
        if isinstance(value := getattr(case.problem, name, None), tuple):
            faults.append(Fault(name, value, "one number in plan, which varies the steps"))
    if samples is None and flops is None:
        faults.append(Fault(SAMPLES, None, "given, or flops"))
    if flops is not None and math.isinf(case.dimension):
        faults.append(Fault("dimension", case.dimension, "finite, for operations to be counted"))
    return faults


def _spent(
    case: Case, steps: int, samples: float, flops: float | None, values: Mapping[str, float]
) -> tuple[Protocol, Array]:
    """Spend the budget at values of the unknowns: on a problem, and its sample complexity."""
    problem, count = case.problem, max(steps, 1)
    assert isinstance(problem, Protocol)  # checked
    share, samples = values.get(_SHARE, 0.0), values.get(SAMPLES, samples)
    alpha0, alpha = share * samples / count ** (1 - problem.reuse_batch), (1 - share) * samples
    rate = values.get(RATE, problem.learning_rate)
    problem = replace(problem, learning_rate=rate, alpha0=alpha0, steps=count)
    if flops is not None:
        problem = _widest(problem, alpha, case.dimension, flops)
    return problem, np.array([alpha])


def _widest(problem: Protocol, alpha: float, dimension: float, flops: float) -> Protocol:
    """Take the width that the operations allow."""

    def excess(beta: float) -> float:
        return operations(replace(problem, beta=beta), alpha, dimension) / flops - 1

    ends = BETA.lower, BETA.upper
    allowed = excess(ends[0]) < 0 < excess(ends[1])
    return replace(problem, beta=brentq(excess, *ends) if allowed else ends[0])


def operations(problem: Protocol, alpha: float, dimension: float) -> float:
    """Count the floating-point operations of steps and ridge regression: docs/budgets.md.

    Examples
    --------
    >>> problem = Protocol("tanh", "sin", learning_rate=1, alpha0=1, beta=1)
    >>> operations(problem, alpha=1, dimension=1)
    7.333333333333333
    """
    beta, smaller = problem.beta, min(alpha, problem.beta)
    steps = 4 * problem.steps * problem.alpha0 * beta
    return dimension**3 * (steps + 2 * alpha * beta + alpha * beta * smaller + smaller**3 / 3)
