"""The theory at points, from the library's questions: plain arrays, which travel between processes.

`Points` hold arrays by name, with an entry for each point: errors, overlaps (of all groups in a
row), residuals, and what to do about points that failed.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from giantstep.arrays import Array
from giantstep.explore.children import beat
from giantstep.explore.parameters import OVERLAPS
from giantstep.explore.question import Question
from giantstep.problems.overlaps import OVERLAP_DIMENSIONS
from giantstep.questions.arguments import OPTIMAL
from giantstep.questions.choices import GAINS
from giantstep.questions.request import solve_all
from giantstep.theory.bounds import best_linear_error, bounds
from giantstep.theory.optima import CLASSIFICATION_ERROR, TEST_ERROR
from giantstep.theory.readout.status import Status
from giantstep.validation import InvalidParametersError

Points = dict[str, NDArray[Any]]
# What is missing, such as the 0-1 error of pins whose target is no sign.
GAP = xr.DataArray(np.nan)
# Limits on the test error.
LIMITS = "best_linear", "upper_bound", "lower_bound"
# How a request says which combinations it refuses.
_REFUSED = "Refused: "
_ALONG = "test_error", "training_error", "ridge", "residual", "quadrature_error", "reliability"


def ask_sweep(question: Question, bulk: str, show: str = TEST_ERROR, **values: Array) -> xr.Dataset:
    """Solve where some parameters have all combinations of some values.

    The 0-1 error and gains, which take longer, are there if they are shown. The best ridge is that
    of the error that is shown. If all combinations are refused, there is only their status.
    """
    given = _given(question, values) | {"bulk": bulk}
    by = TEST_ERROR if show in GAINS else show
    if given["ridge"] == OPTIMAL:
        given["by"] = by
    try:
        asked: dict[str, Any] = {"gains": [show] * (show in GAINS)}
        asked["zero_one"] = by == CLASSIFICATION_ERROR
        data, remarks = solve_all(question.problem, given, lambda _: beat(), **asked)
    except InvalidParametersError as error:
        refused = np.full([array.size for array in values.values()], Status.REFUSED)
        data = xr.Dataset({"status": (tuple(values), refused)})
        remarks = [f"{_REFUSED}{fault}" for fault in error.faults]
    return data.assign_attrs(remarks="\n".join(remarks))


def solve_points(
    question: Question, bulk: str, x: str, values: Array, by: str = TEST_ERROR
) -> Points:
    """Solve where one parameter has some values; those that are refused are points that failed."""
    data = ask_sweep(question, bulk, by, **{x: values})
    points: Points = {"advice": advice(data)}
    for name in (*_ALONG, by):
        points[name] = np.broadcast_to(data.get(name, GAP), values.shape)
    for name in OVERLAPS:
        found = data.get(name, GAP).values
        columns = len(question["readout"]) ** len(OVERLAP_DIMENSIONS[name])
        shaped = found.reshape(values.size if found.ndim else 1, -1)
        points[name] = np.broadcast_to(shaped, (values.size, columns))
    return points


def _given(question: Question, values: Mapping[str, Array]) -> dict[str, Any]:
    along = {name: question.along(name, array) for name, array in values.items()}
    return question.given("alpha", "ridge", "loss") | along


def remarks_on(question: Question, values: Mapping[str, Array]) -> list[str]:
    """Say what to know before the answer is used, for all combinations of some values."""
    given = _given(question, values) | {"bulk": list(question["bulk"])}
    with suppress(InvalidParametersError):
        return solve_all(question.problem, given, lambda _: beat(), compared=True)[1]
    return []


def advice(data: xr.Dataset) -> NDArray[Any]:
    """Write what to do about each point that failed; empty for others."""
    remarks = data.attrs["remarks"].splitlines()
    refusals = [one.removeprefix(_REFUSED) for one in remarks if one.startswith(_REFUSED)]
    texts: NDArray[Any] = np.array([status.advice for status in Status], dtype=object)
    texts[Status.CONVERGED], texts[Status.REFUSED] = "", "; ".join(refusals)
    return np.asarray(texts[data["status"].values.astype(int)])


def limits(question: Question, x: str, values: Array) -> Points:
    """Return the test error of the best linear predictor, and bounds at the best ridge, along x.

    They are NaN where a question is refused. The question `bounds` has more, which would take too
    long at each move of a slider.
    """
    rows = np.full((values.size, len(LIMITS)), np.nan)
    for row, value in zip(rows, values, strict=True):
        with suppress(InvalidParametersError):
            limit = bounds(question.moved(**{x: value}).problem)
            row[:] = best_linear_error(question["target"]), limit.upper, limit.lower
    return {"x": values} | dict(zip(LIMITS, rows.T, strict=True))
