"""The question `optimise`: the ridge, learning rate, readout and bias of the least test error."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from giantstep.problems.bulk_kind import ISOTROPIC, bulk_of_networks
from giantstep.problems.grid import Grid
from giantstep.problems.losses import SQUARE
from giantstep.problems.problem import Problem
from giantstep.progress import Progress, bar
from giantstep.questions.arguments import ALPHA, BEST_RIDGE, THEORY, Many, argument
from giantstep.questions.case import Case, answer_remarks
from giantstep.questions.choices import BIAS, RATE, RIDGE, UNKNOWNS
from giantstep.questions.product import Result
from giantstep.questions.question import question
from giantstep.questions.remarks import edge_remarks, named_ridge, remark_where
from giantstep.questions.search import Search, problem_at, read_unknowns
from giantstep.questions.values import SOME_RIDGE
from giantstep.registry import one_of
from giantstep.theory.optima import TEST_ERROR
from giantstep.validation import Fault, raise_all

_OVER = argument("optimise", "over", one_of(*UNKNOWNS), Many.TOGETHER)
_RIDGE = replace(BEST_RIDGE, many=Many.APART, text="if it is not optimised; optimal adds it")


@question(_OVER, ALPHA, _RIDGE, *THEORY)
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
    progress: Progress = bar,
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
        Its value if it is not optimised; "optimal" adds it to `over`.
    loss, stop_at, bulk, dimension, by
        As in `solve`. Optima as d -> infinity may be far from those of networks: give their
        dimension. A bias needs the isotropic bulk, which is its default, and inputs without a
        covariance.
    progress : callable, optional
        Called from time to time with the share of the work that is done; by default a bar on a
        terminal.
    max_hours, max_memory
        As in `solve`.

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
        Listing all invalid arguments.

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
    if bulk is None:
        bulk = ISOTROPIC if BIAS in over else bulk_of_networks(problem)
    optimal = isinstance(ridge, str)
    grid = Grid(alpha, SOME_RIDGE if optimal else ridge, loss)  # type: ignore[arg-type]
    case = Case(problem, loss, bulk, dimension, by, compared=True)
    faults = case.faults()
    if problem.has_covariance and BIAS in over:
        faults.append(Fault("over", BIAS, "left out for inputs with a covariance"))
    searched: dict[str, Any] = {RIDGE: None} if optimal else {}
    searched |= over if isinstance(over, Mapping) else dict.fromkeys(np.atleast_1d(over).tolist())
    unknowns = read_unknowns(problem, searched, loss, dimension, faults)
    if BIAS in unknowns and bulk != ISOTROPIC:
        faults.append(Fault("bulk", bulk, f"{ISOTROPIC} where a bias is optimised"))
    raise_all(faults)
    ridges = unknowns.get(RIDGE, np.array(grid.ridge))
    outer, alphas = {k: x for k, x in unknowns.items() if k != RIDGE}, np.array(grid.alpha)
    search = Search(case, outer, ridges, lambda x: (problem_at(problem, x, dimension), alphas))
    profile = search.profile(alphas.size, progress)
    rows = [search.optimum(profile, k) for k in range(alphas.size)]
    data = pd.DataFrame(rows, pd.Index(alphas, name="alpha")).to_xarray()
    data = data.assign_coords(outer | {RIDGE: ridges, "bulk": bulk})
    data[by] = (*outer, "alpha", RIDGE), profile
    remarks = remark_where(data[f"optimal_{by}"].isnull(), "no_optimum")
    for name, candidates in unknowns.items():
        what = named_ridge(loss) if name == RIDGE else f"best {name.replace('_', ' ')}"
        remarks += edge_remarks(data[f"optimal_{name}_on_edge"], what, candidates)
    remarks += case.remarks + answer_remarks(data.assign_coords(dimension=dimension))
    return data.transpose("alpha", ...), remarks
