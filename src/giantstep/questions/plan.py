"""The question `plan`: how to split a budget of samples between gradient steps and the readout."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import xarray as xr
from scipy.optimize import brentq

from giantstep.arrays import Array, Mask
from giantstep.problems.domains import ALPHA, BETA
from giantstep.problems.losses import SQUARE
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.questions.arguments import (
    BEST_RIDGE,
    BULK,
    BY,
    DIMENSION,
    LOSS,
    NETWORK,
    OPTIMAL,
    Argument,
    Many,
    one_of,
)
from giantstep.questions.case import DOUBTS, Case, answer_remarks
from giantstep.questions.checks import criterion_faults, read_question
from giantstep.questions.choices import RATE, SAMPLES
from giantstep.questions.costs import THEORY_HOURS, check_task
from giantstep.questions.progress import Progress, progress_bar
from giantstep.questions.question import Result, question
from giantstep.questions.search import Objective, Unknown, refine
from giantstep.questions.task import Task
from giantstep.theory.first_layer.layer import layer_of
from giantstep.theory.optima import CLASSIFICATION_ERROR, CROSS_VALIDATION, TEST_ERROR, search_of
from giantstep.validation import Fault, Interval, interval_faults, raise_all

_SHARE = "share_of_steps"
# Candidates, before the best is refined.
_CANDIDATES = {
    _SHARE: np.array([0.01, *np.linspace(0.1, 0.9, 9), 0.99]),
    RATE: np.geomspace(0.1, 30, 7),
    SAMPLES: np.geomspace(0.3, 100, 7),
}
_INTERVALS = {
    SAMPLES: ALPHA, "flops": Interval(1, 1e30), "max_steps": Interval(1, 10, whole=True)
}  # fmt: skip
_COLUMNS = (
    "optimal_alpha0", "optimal_alpha", "optimal_beta", f"optimal_{RATE}", "optimal_ridge",
    "flops", *DOUBTS, "on_edge",
)  # fmt: skip


_SAMPLES = Argument(SAMPLES, "of all batches and the readout, over d", ALPHA)
_FLOPS = Argument(
    "flops",
    "floating-point operations of steps and ridge regression, as docs/budgets.md counts them: the"
    " network is as wide as they allow, and beta is ignored",
    Interval(1, 1e30),
    Many.APART,
)
_MAX_STEPS = Argument("max_steps", "gradient steps at most", Interval(1, 10, whole=True))
_OVER = Argument("over", "what is optimised as well", one_of(RATE), Many.TOGETHER)
_RIDGE = replace(BEST_RIDGE, many=Many.APART)


@question(
    "The best split of a budget",
    command="plan",
    text="how to split a budget of samples between gradient steps and the readout",
    place=6,
    takes=(_SAMPLES, _FLOPS, _MAX_STEPS, _OVER, _RIDGE, LOSS, BULK, DIMENSION, BY),
    example=f"{NETWORK} --samples 6 \\\n      --dimension 500 --learning-rate 3 --format table",
)
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
    max_hours: float = THEORY_HOURS,
    max_memory: float | None = None,
    progress: Progress | None = None,
) -> Result:
    """Split samples between the batches of gradient steps and the readout, for the least error.

    Each number of steps has its best split, at the best ridge; "no step" is among them. The
    problem's own `alpha0` and `steps` are ignored. If it reuses its batch, all steps share one.

    Parameters
    ----------
    problem : Protocol
    samples : float, optional
        Of all batches and the readout, over d. Without it, what `flops` allow is split.
    flops : float, optional
        Floating-point operations of steps and ridge regression, as docs/budgets.md counts them: the
        network is as wide as they allow, and the problem's `beta` is ignored.
    max_steps : int
    over : str or sequence of str
        "learning_rate", to be optimised as well.
    ridge : float or "optimal"
    loss, bulk, dimension, by, max_hours, max_memory
        As in `solve`. Operations need a finite dimension.
    progress : callable, optional
        As in `optimise`.

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
        With everything that is wrong with the question.

    Examples
    --------
    >>> import giantstep
    >>> problem = giantstep.Protocol("tanh", "sin", learning_rate=3, alpha0=1, beta=1)
    >>> best = giantstep.plan(problem, samples=6, max_steps=1, ridge=0.1, bulk="isotropic")
    >>> best.optimal_alpha0.round(1).values, best.optimal_test_error.round(3).values
    (array([0., 4.]), array([0.179, 0.079]))
    """
    faults, over = list[Fault](), [over] if isinstance(over, str) else over
    _, bulk = read_question(problem, 1.0, ridge, loss, bulk, dimension, faults)
    faults += criterion_faults(problem, by, loss=loss)
    if by in CROSS_VALIDATION:  # which is about one first layer
        faults.append(Fault("by", by, f"{TEST_ERROR} or {CLASSIFICATION_ERROR} in plan"))
    faults += _faults(problem, {SAMPLES: samples, "flops": flops, "max_steps": max_steps})
    faults += [Fault("over", name, RATE) for name in over if name != RATE]
    if flops is not None and math.isinf(dimension):
        faults.append(Fault("dimension", dimension, "finite, for operations to be counted"))
    raise_all(faults)
    names = [_SHARE, *over, *([SAMPLES] if samples is None else [])]
    searched = {"over": names, "ridge": ridge, "loss": loss, "bulk": bulk, "steps": [0] * max_steps}
    check_task(Task("plan", problem, searched), max_hours, max_memory)
    ridges = search_of(loss).ridges if ridge == OPTIMAL else np.array([float(ridge)])
    case, rows = Case(problem, loss, bulk, float(dimension), by), []
    with progress_bar("plan", progress) as report:
        for steps in range(max_steps + 1):
            kept = [name for name in names if steps or name == SAMPLES]
            outer = tuple(Unknown(name, _CANDIDATES[name]) for name in kept)
            rows.append(_best_split(_Split(case, outer, ridges, steps, samples or 0, flops)))
            report((steps + 1) / (max_steps + 1))
    least, *others = zip(*rows, strict=True)
    cost = np.array(least) / np.fmin.reduce(least) - 1
    columns = {f"optimal_{by}": least, "cost_of_plan": cost}
    columns |= dict(zip(_COLUMNS, others, strict=True))
    data = xr.Dataset(
        {name: ("steps", list(one)) for name, one in columns.items()},
        coords={"steps": range(max_steps + 1)},
    )
    fixed = {"flops": math.isinf(dimension), "optimal_beta": flops is None}
    fixed |= {f"optimal_{RATE}": RATE not in over, "optimal_ridge": ridge != OPTIMAL}
    data = data.drop_vars([name for name, is_fixed in fixed.items() if is_fixed])
    remarks = _remarks(data) + layer_of(problem, dimension).remarks(bulk)
    return data, remarks + answer_remarks(data, dimension)


def _faults(problem: Problem, budget: dict[str, float | None]) -> list[Fault]:
    given = {name: value for name, value in budget.items() if value is not None}
    faults = interval_faults(given, {name: _INTERVALS[name] for name in given})
    if not isinstance(problem, Protocol):
        faults.append(Fault("problem", problem, "a Protocol: only steps take samples"))
    if {*given} == {"max_steps"}:
        faults.append(Fault(SAMPLES, None, "given, or flops"))
    return faults


def _remarks(data: xr.Dataset) -> list[str]:
    remarks = {
        "the best plan is at an end of a range searched, and may be better beyond": data["on_edge"],
        "no plan could be solved": data["cost_of_plan"].isnull(),
    }
    return [
        f"Steps {', '.join(map(str, np.flatnonzero(mask)))}: {text}."
        for text, mask in remarks.items()
        if mask.any()
    ]


@dataclass(frozen=True)
class _Split(Objective):
    """The error of plans of some number of steps, at shares of a budget."""

    steps: int
    samples: float
    flops: float | None

    def plan_at(self, x: Sequence[float] | Array) -> tuple[Protocol, float]:
        """Spend the budget: the problem, and alpha."""
        problem, values, steps = self.case.problem, self.values(x), max(self.steps, 1)
        assert isinstance(problem, Protocol)  # checked
        rate = values.get(RATE, problem.learning_rate)
        share, samples = values.get(_SHARE, 0.0), values.get(SAMPLES, self.samples)
        alpha0, alpha = share * samples / steps ** (1 - problem.reuse_batch), (1 - share) * samples
        problem = replace(problem, learning_rate=rate, alpha0=alpha0, steps=steps)
        return (self._widest(problem, alpha) if self.flops else problem), alpha

    def _widest(self, problem: Protocol, alpha: float) -> Protocol:
        """Take the width that the operations allow."""

        def excess(beta: float) -> float:
            made = replace(problem, beta=beta)
            return operations(made, alpha, self.case.dimension) / (self.flops or 1) - 1

        ends = BETA.lower, BETA.upper
        allowed = excess(ends[0]) < 0 < excess(ends[1])
        return replace(problem, beta=brentq(excess, *ends) if allowed else ends[0])

    def least(self, x: Sequence[float] | Array, alpha: Array) -> tuple[Array, Array, Mask]:
        """Minimise over the ridge."""
        problem, samples = self.plan_at(x)
        at = Objective(self.case._replace(problem=problem), (), self.ridges)
        return at.least((), np.array([samples]))


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


def _best_split(search: _Split) -> tuple[float, ...]:
    """Find the best plan of some number of steps: its entries of the columns."""
    nothing = np.empty(0)
    errors = np.full([one.candidates.size for one in search.outer], np.inf)
    for place in np.ndindex(*errors.shape):
        least = search.least(search.axes_at(place), nothing)[0]
        errors[place] = np.nan_to_num(least, nan=np.inf).item()
    if np.isinf(errors).all():
        return (*[math.nan] * len(_COLUMNS), False)
    x, at_ends = refine(search, errors, nothing, lambda: None)
    error, ridge, on_edge = (values.item() for values in search.least(x, nothing))
    of, alpha = search.plan_at(x)
    rate = of.learning_rate if search.steps else math.nan
    spent = operations(of, alpha, search.case.dimension)
    arrays = search.case._replace(problem=of, compared=True).solve(*np.array([[alpha], [ridge]]))
    last = *(arrays[name].item() for name in DOUBTS), any([on_edge, *at_ends])
    return error, of.alpha0, alpha, of.beta, rate, ridge, spent, *last
