"""The question `sweep`: the theory of all combinations of parameters."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from giantstep.problems.domains import FLAG
from giantstep.problems.problem import Problem
from giantstep.progress import Progress, bar
from giantstep.questions.arguments import (
    ALPHA,
    ANY_NAME,
    CROSS_VALIDATED,
    DERIVATIVES,
    ENSEMBLE,
    RIDGE,
    THEORIES,
    Many,
    argument,
)
from giantstep.questions.choices import GAINS
from giantstep.questions.product import Result, answer_each
from giantstep.questions.question import question
from giantstep.questions.request import solve_all
from giantstep.questions.values import as_lists, is_several
from giantstep.registry import one_of
from giantstep.validation import refusal

_GAINS = argument("sweep", "gains", one_of(*GAINS), Many.TOGETHER)
_ZIP = argument("sweep", "zip", ANY_NAME, Many.TOGETHER)
_ZERO_ONE = argument("sweep", "classification_error", FLAG)


@question(_GAINS, _ZIP, _ZERO_ONE, DERIVATIVES, CROSS_VALIDATED, ENSEMBLE, ALPHA, RIDGE, *THEORIES)
def sweep(
    problem: Problem,
    *,
    gains: str | Sequence[str] = (),
    zip: str | Sequence[str] = (),
    classification_error: bool = True,
    derivatives: bool = False,
    cross_validation: bool = False,
    ensemble: float | None = None,
    progress: Progress = bar,
    **values: Any,
) -> Result:
    """Solve the theory for all combinations of any parameters.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
        Everything that does not vary.
    classification_error : bool
        Whether to compute the 0-1 error where the target is a sign, which takes up to as long as
        all the rest of a point.
    derivatives : bool
        As in `solve`; of parameters at their default in some combinations, NaN there.
    cross_validation : bool
        As in `solve`.
    gains : str or sequence of str
        What to add: "gain_over_linear" or "gain_over_no_step", the share of the test error of the
        best linear predictor, or of the network without a step, that is saved; negative where the
        step does worse. "isotropic_deviation", the test error by the theory of the isotropic bulk
        over that of the bulk "trained", less one.
    zip : sequence of str
        Parameters that vary together, with as many values each, such as "alpha0" and "alpha": the
        first is the dimension, the others are coordinates along it.
    progress : callable, optional
        Called from time to time with the share of the work that is done; by default a bar on a
        terminal.
    max_hours, max_memory
        As in `solve`.
    **values
        Any field of the problem, `alpha`, `ridge` or `stop_at` (numbers or "optimal"), `by`,
        `loss`, `bulk` or `dimension`, each one value or a sequence of values.

    Returns
    -------
    xarray.Dataset
        The variables of `solve`, with a dimension for each parameter that is given as a sequence,
        in that order. Combinations that are impossible or cannot be solved hold NaN, with the
        reason in `status` and the attribute `remarks`. Readouts and groups of neurons are written
        as texts in coordinates.

    Raises
    ------
    InvalidParametersError
        With all names that are no parameters, and all values that no combination can have; for
        what needs a step, of features given directly.

    Examples
    --------
    >>> import math
    >>> import giantstep
    >>> problem = giantstep.Protocol("tanh", "sin", learning_rate=3, alpha0=2, beta=1)
    >>> swept = giantstep.sweep(problem, learning_rate=[1, 3], alpha0=[0.5, math.inf], alpha=[1, 2])
    >>> dict(swept.test_error.sizes)
    {'learning_rate': 2, 'alpha0': 2, 'alpha': 2}
    >>> swept.test_error.sel(learning_rate=3, alpha0=math.inf).values.round(4)
    array([0.0236, 0.0215])
    >>> best = giantstep.sweep(problem, ridge="optimal", dimension=[100, 1000])
    >>> best.ridge.round(2).values
    array([0.22, 0.22])
    >>> budget = {"alpha0": [1, 2], "alpha": [2, 1]}
    >>> giantstep.sweep(problem, **budget, zip=["alpha0", "alpha"]).total_samples.values
    array([3., 3.])
    >>> gain = giantstep.sweep(problem, alpha0=[2, 20], gains="gain_over_linear").gain_over_linear
    >>> gain.values.round(2)  # one step beats the best linear predictor with the larger batch only
    array([-1.34,  0.37])
    """
    together = [zip] if isinstance(zip, str) else list(zip)
    rows = _paired(values, together)
    options: dict[str, Any] = {"derivatives": derivatives, "cross_validation": cross_validation}
    options |= {"ensemble": ensemble, "gains": [gains] if isinstance(gains, str) else gains}
    ask = partial(solve_all, problem, **options, compared=True, zero_one=classification_error)
    first = {name: as_lists(values[name]) for name in together[:1]}
    return answer_each(first, lambda _: partial(ask, values | next(rows)), progress)


def _paired(values: Mapping[str, Any], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Take the values of some parameters together, one after the other.

    Raises
    ------
    InvalidParametersError
        If they have not as many values each.
    """
    if not names:
        return iter([{}])
    lists = {name: as_lists(values.get(name)) for name in names}
    counts = {len(one) if is_several(name, one) else 0 for name, one in lists.items()}
    if len(lists) < 2 or len(counts) > 1 or counts == {0}:
        raise refusal("zip", tuple(names), "two or more parameters that have as many values each")
    rows = builtins.zip(*lists.values(), strict=True)
    return (dict(builtins.zip(lists, row, strict=True)) for row in rows)
