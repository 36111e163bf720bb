"""The question `plan`: how to split a budget of samples between gradient steps and the readout."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Literal, NamedTuple

import numpy as np
import xarray as xr
from scipy.optimize import brentq

from giantstep.arrays import Array, Mask
from giantstep.problems.domains import ALPHA, BETA
from giantstep.problems.losses import SQUARE
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.questions.answers import Result, question
from giantstep.questions.checks import OPTIMAL
from giantstep.questions.choices import RATE, SAMPLES
from giantstep.questions.costs import THEORY_HOURS, check_task
from giantstep.questions.progress import Progress, progress_bar
from giantstep.questions.remarks import bulk_remarks
from giantstep.questions.search import Search, Unknown, beside_nothing, refine
from giantstep.questions.solve import read_question
from giantstep.questions.task import Task
from giantstep.questions.theory_points import Case
from giantstep.theory.optima import search_of
from giantstep.validation import Fault, Interval, raise_all

_SHARE = "share_of_steps"
# Candidates, before the best is refined.
_CANDIDATES = {
    _SHARE: np.array([0.01, *np.linspace(0.1, 0.9, 9), 0.99]),
    RATE: np.geomspace(0.1, 30, 7),
    SAMPLES: np.geomspace(0.3, 100, 7),
}
_MOST_STEPS = Interval(1, 10, whole=True)
_FLOPS = Interval(1, 1e30)
_REFINEMENTS = 15
_COLUMNS = (
    *(f"optimal_{name}" for name in ("test_error", "alpha0", "alpha", "beta", RATE, "ridge")),
    "flops",
)


@question("The best split of a budget")
def plan(
    problem: Problem,
    samples: float | None = None,
    *,
    flops: float | None = None,
    max_steps: int = 3,
    over: str | Sequence[str] = (),
    ridge: float | Literal["optimal"] = OPTIMAL,
    bulk: str | None = None,
    dimension: float = math.inf,
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
    bulk, dimension, max_hours, max_memory
        As in `solve`. Operations need a finite dimension.
    progress : callable, optional
        As in `optimise`.

    Returns
    -------
    xarray.Dataset
        Over `steps`, from 0: `optimal_test_error`; `cost_of_plan`, by how much it is above the
        least, relatively; `optimal_alpha0` and `optimal_alpha`, the samples of each batch and of
        the readout; of what else was optimised `optimal_ridge`, `optimal_learning_rate` and
        `optimal_beta`; at finite dimension the operations, `flops`. `on_edge` marks optima at an
        end of a range searched.

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
    _, bulk = read_question(problem, 1.0, ridge, SQUARE, bulk, dimension, faults)
    faults += _faults(problem, samples, flops, max_steps, over, dimension)
    raise_all(faults)
    assert isinstance(problem, Protocol)  # checked
    names = [_SHARE, *over, *([SAMPLES] if samples is None else [])]
    searched = {"over": names, "ridge": ridge, "bulk": bulk, "steps": [0] * max_steps}
    check_task(Task("plan", problem, searched), max_hours, max_memory)
    ridges = search_of(SQUARE).ridges if ridge == OPTIMAL else np.array([float(ridge)])
    case = Case(problem, SQUARE, bulk, float(dimension))
    rows, done = list[dict[str, Any]](), count(1)
    sizes = [_CANDIDATES[name].size for name in names]
    expected = max_steps * (math.prod(sizes) + _REFINEMENTS * len(sizes) ** 3)
    with progress_bar("plan", progress) as report:
        for steps in range(max_steps + 1):
            kept = [name for name in names if steps or name == SAMPLES]
            outer = tuple(Unknown(name, _CANDIDATES[name]) for name in kept)
            search = _Split(case, outer, ridges, steps, samples, flops)
            rows.append(_best_split(search, lambda: report(min(next(done) / expected, 1.0))))
    data = xr.Dataset({name: ("steps", [row[name] for row in rows]) for name in rows[0]})
    data = data.assign_coords(steps=range(max_steps + 1))
    cost = data["optimal_test_error"] / data["optimal_test_error"].min() - 1
    fixed = {"flops": math.isinf(dimension), "optimal_beta": flops is None}
    fixed |= {f"optimal_{RATE}": RATE not in over, "optimal_ridge": ridge != OPTIMAL}
    others = [name for name in _COLUMNS[1:] if not fixed.get(name)]
    data = data.assign(cost_of_plan=cost)[[_COLUMNS[0], "cost_of_plan", *others, "on_edge"]]
    return data, _remarks(data, names) + bulk_remarks(problem, bulk)


def _faults(
    problem: Problem,
    samples: float | None,
    flops: float | None,
    max_steps: int,
    over: Sequence[str],
    dimension: float,
) -> list[Fault]:
    faults = []
    if not isinstance(problem, Protocol):
        faults.append(Fault("problem", problem, "a Protocol: only steps take samples"))
    if samples is None and flops is None:
        faults.append(Fault(SAMPLES, samples, "given, or flops"))
    budgets = {SAMPLES: (samples, ALPHA), "flops": (flops, _FLOPS)}
    faults += [
        Fault(name, value, str(interval))
        for name, (value, interval) in (budgets | {"max_steps": (max_steps, _MOST_STEPS)}).items()
        if value is not None and value not in interval
    ]
    if flops is not None and math.isinf(dimension):
        faults.append(Fault("dimension", dimension, "finite, for operations to be counted"))
    faults += [Fault("over", name, RATE) for name in over if name != RATE]
    return faults


def _remarks(data: xr.Dataset, names: Sequence[str]) -> list[str]:
    """Say where the best plan is an edge case, and where there is none."""
    remarks, searched = [], [(name, _CANDIDATES[name]) for name in names]
    ends = [f"{name.replace('_', ' ')} {one.min():g} to {one.max():g}" for name, one in searched]
    if edges := np.flatnonzero(data["on_edge"].values).tolist():
        text = f"the best plan is at an end of the ranges searched ({', '.join(ends)}; the ridge)"
        remarks.append(f"At steps {', '.join(map(str, edges))}: {text}.")
    if missing := np.flatnonzero(data["optimal_test_error"].isnull().values).tolist():
        remarks.append(f"At steps {', '.join(map(str, missing))}: no plan could be solved.")
    return remarks


class _Plan(NamedTuple):
    """One way to spend a budget."""

    problem: Protocol
    alpha: float


@dataclass(frozen=True)
class _Split(Search):
    """The error of plans of some number of steps, at shares of a budget."""

    steps: int
    samples: float | None
    flops: float | None

    def plan_at(self, x: Sequence[float] | Array) -> _Plan:
        """Spend the budget."""
        problem, values = self.case.problem, self.values(x)
        assert isinstance(problem, Protocol)
        samples = values.get(SAMPLES, self.samples)
        assert samples is not None
        share = values.get(_SHARE, 0.0)
        batches = 1 if problem.reuse_batch else max(self.steps, 1)
        rate = values.get(RATE, problem.learning_rate)
        alpha0, alpha = share * samples / batches, (1 - share) * samples
        problem = replace(problem, learning_rate=rate, alpha0=alpha0, steps=max(self.steps, 1))
        if self.flops is not None:
            problem = replace(problem, beta=self._width(problem, alpha))
        return _Plan(problem, alpha)

    def _width(self, problem: Protocol, alpha: float) -> float:
        """Find the width that the operations allow."""
        d, flops = self.case.dimension, self.flops or math.inf

        def excess(log_beta: float) -> float:
            return math.log(operations(replace(problem, beta=math.exp(log_beta)), alpha, d) / flops)

        ends = math.log(BETA.lower), math.log(BETA.upper)
        inside = excess(ends[0]) < 0 < excess(ends[1])
        return math.exp(brentq(excess, *ends)) if inside else BETA.lower

    def least(self, x: Sequence[float] | Array, alpha: Array) -> tuple[Array, Array, Mask]:
        """Minimise over the ridge."""
        plan = self.plan_at(x)
        at = Search(self.case._replace(problem=plan.problem), (), self.ridges)
        return at.least((), np.array([plan.alpha]))


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


def _best_split(search: _Split, solved: Any) -> dict[str, Any]:
    """Find the best plan of some number of steps."""
    nothing = np.empty(0)
    sizes = [one.candidates.size for one in search.outer]
    errors = np.full(sizes, np.inf)
    for place in np.ndindex(*sizes):
        at = [one.axis[k] for one, k in zip(search.outer, place, strict=True)]
        errors[place] = np.nan_to_num(search.least(at, nothing)[0], nan=np.inf).item()
        solved()
    if not np.isfinite(errors).any():
        return dict.fromkeys(_COLUMNS, math.nan) | {"on_edge": False}
    x, best, tolerance = refine(search, errors, nothing, solved)
    error, ridge, ridge_on_edge = (values.item() for values in search.least(x, nothing))
    plan, d = search.plan_at(x), search.case.dimension
    on_edge = ridge_on_edge or any(
        min(at - one.axis[0], one.axis[-1] - at) < 10 * tolerance or beside_nothing(errors, best, k)
        for k, (one, at) in enumerate(zip(search.outer, x, strict=True))
    )
    of = plan.problem
    rate = of.learning_rate if search.steps else math.nan
    values = error, of.alpha0, plan.alpha, of.beta, rate, ridge
    row = dict(zip(_COLUMNS, (*values, operations(of, plan.alpha, d)), strict=True))
    return row | {"on_edge": bool(on_edge)}
