"""Answers to a view, coarse at first and then finer: each is all that is known so far.

They are computed in a process of their own, where a newer view ends them between two steps. Answers
are plain dictionaries of arrays and texts, since they travel between processes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from giantstep.explore.children import Say, beat
from giantstep.explore.points import (
    GAP,
    Points,
    advice,
    ask_sweep,
    limits,
    remarks_on,
    solve_points,
)
from giantstep.explore.question import Question
from giantstep.explore.tasks import Answer
from giantstep.explore.view import CURVE, FUNCTION, MAP, SPECTRUM, View, axis_values
from giantstep.problems.losses import SQUARE
from giantstep.problems.targets import target_along
from giantstep.questions.learned_function import learned_function
from giantstep.questions.spectrum import spectrum

# Seconds after which what is known is shown.
_PATIENCE = 0.1
# Points that are solved together, where they share what takes time, and where they do not.
_BATCH, _SMALL_BATCH = 57, 8
# Of losses that take long, every so many points of a curve with more than a few are solved.
_STRIDE, _FEW = 4, 16
# Points of the learned function and of a spectrum, and cells along each side of a map.
PROJECTIONS = np.linspace(-3, 3, 241)
_EIGENVALUES = 160
MAP_SIDE, MAP_STRIDES = 33, (8, 4, 1)


def answer(view: View, say: Say) -> None:
    """Answer a view, finer and finer, until an answer says that it is `done`.

    It is said again with remarks, if there are any.
    """
    started, known = time.perf_counter(), dict[str, Any]()
    for found in _ANSWERS[view.tab](view):
        known = found | {"tab": view.tab, "seconds": time.perf_counter() - started}
        say(known)
    if view.tab == SPECTRUM:
        return
    some = {name: axis_values(axis, 5)[1::2] for name, axis in view.axes.items()}
    if remarks := remarks_on(view.question, some):
        say(known | {"remarks": remarks})


def _curve(view: View) -> Iterator[Answer]:
    """Answer with the test error along x: of each bulk, and of each pin."""
    curves, shown = list[Answer](), time.perf_counter()
    # Along alpha and the ridge they are constant: two points do.
    at = axis_values(view.axis, 2 if view.x in ("alpha", "ridge") else 29)
    known = {"limits": limits(view.question, view.x, at)}
    for name, question, bulk in _requests(view):
        if not question.has(view.x):
            continue
        curves.append({})
        parts: list[Answer] = []
        for some in _batches(view, question):
            beat()
            parts.append(_solved(question, bulk, view.x, some, view.by))
            joined = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
            curves[-1] = {"name": name, "bulk": bulk} | joined
            if time.perf_counter() > shown + _PATIENCE:
                shown = time.perf_counter()
                yield known | {"curves": list(curves), "done": False}
    yield known | {"curves": curves, "done": True}


def _batches(view: View, question: Question) -> list[tuple[float, ...]]:
    """Split the values of x into those that are solved at a time."""
    values = tuple(axis_values(view.axis).tolist())
    if question["loss"] != SQUARE:
        return [(value,) for value in values[:: 1 if len(values) <= _FEW else _STRIDE]]
    size = _BATCH if view.x in ("alpha", "ridge") else _SMALL_BATCH
    return [values[start : start + size] for start in range(0, len(values), size)]


@lru_cache(maxsize=512)  # so that pins need no time
def _solved(question: Question, bulk: str, x: str, values: tuple[float, ...], by: str) -> Points:
    return {"x": np.array(values)} | solve_points(question, bulk, x, np.array(values), by)


def _function(view: View) -> Iterator[Answer]:
    """Answer with the mean output along the target: of each bulk, and of each pin."""
    fine = np.linspace(PROJECTIONS[0], PROJECTIONS[-1], 2401)  # so that jumps are vertical
    target = {"x": fine, "y": target_along(view.question["target"], fine)}

    def learned(question: Question, bulk: str) -> Answer:
        points = solve_points(question, bulk, "alpha", np.array([question["alpha"]]))
        given = question.given("alpha", "ridge", "loss")
        data = learned_function(question.problem, s=PROJECTIONS, bulk=bulk, **given)
        return points | {"x": PROJECTIONS, "y": data["learned_function"].values}

    return ({"target": target} | one for one in _each(view, learned))


def _each(view: View, solve: Callable[[Question, str], Answer]) -> Iterator[Answer]:
    """Answer with one curve after the other."""
    requests, curves = _requests(view), list[Answer]()
    for name, question, bulk in requests:
        beat()
        curves.append({"name": name, "bulk": bulk} | solve(question, bulk))
        yield {"curves": list(curves), "done": len(curves) == len(requests)}


def _requests(view: View) -> list[tuple[str, Question, str]]:
    """List what is asked for: each bulk of the question and of each pin."""
    return [(*pin, bulk) for pin in view.questions for bulk in pin.question["bulk"]]


@lru_cache(maxsize=32)
def _eigenvalues(question: Question, bulk: str) -> Answer:
    """Answer with the density of eigenvalues."""
    data = spectrum(question.problem, points=_EIGENVALUES, bulk=bulk, **question.given("alpha"))
    names = {"x": "eigenvalue", "density": "density", "outliers": "outlier"}
    known = {"mass_at_zero": data["mass_at_zero"].item(), "dimension": question["dimension"]}
    return known | {name: data[variable].values for name, variable in names.items()}


def _map(view: View) -> Iterator[Answer]:
    """Answer with the test error over two parameters, in more and more cells."""
    bulk = view.question["bulk"][0]
    for stride in MAP_STRIDES:
        cells = {
            name: axis_values(axis, MAP_SIDE)[:: 1 if axis.domain.whole else stride]
            for name, axis in view.axes.items()
        }
        data = ask_sweep(view.question, bulk, view.variable, **cells)
        data = data.transpose(view.up, view.across, ...)
        x, y = cells.values()
        values = np.broadcast_to(data.get(view.variable, GAP).values, (y.size, x.size))
        known = {"x": x, "y": y, "values": values, "advice": advice(data)}
        yield known | {"bulk": bulk, "done": stride == MAP_STRIDES[-1]}


_ANSWERS = {
    CURVE: _curve,
    FUNCTION: _function,
    SPECTRUM: lambda view: _each(view, _eigenvalues),
    MAP: _map,
}
