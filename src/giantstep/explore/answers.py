"""Answers to a view, coarse at first and then finer: each is all that is known so far.

They are computed in a process of their own, where a newer view ends them between two steps. Answers
are plain dictionaries of arrays and texts, since they travel between processes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from giantstep.explore.children import Say
from giantstep.explore.parameters import AXES
from giantstep.explore.points import (
    GAP,
    Beat,
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
    for found in _ANSWERS[view.tab](view, lambda: say(None)):
        known = found | {"tab": view.tab, "seconds": time.perf_counter() - started}
        say(known)
    if view.tab == SPECTRUM:
        return
    axes = {CURVE: {view.x: view.axis}, MAP: {name: AXES[name] for name in (view.across, view.up)}}
    some = {name: axis_values(axis, 5)[1::2] for name, axis in axes.get(view.tab, {}).items()}
    if remarks := remarks_on(view.question, lambda: say(None), some):
        say(known | {"remarks": remarks})


class _Solved:
    """One curve, solved at more and more of its points, from left to right."""

    def __init__(
        self, name: str, question: Question, bulk: str, x: str, values: tuple[float, ...], by: str
    ) -> None:
        self.name, self.question, self.bulk, self.x, self.by = name, question, bulk, x, by
        square = question["loss"] == SQUARE
        few = square or len(values) <= _FEW
        self.values, self.solved = np.array(values[:: 1 if few else _STRIDE]), list[Points]()
        # The points that are solved at a time.
        self.at_once = (_BATCH if x in ("alpha", "ridge") else _SMALL_BATCH) if square else 1

    def steps(self, beat: Beat) -> Iterator[None]:
        """Solve the points that are left, some at a time."""
        for start in range(len(self.solved) * self.at_once, self.values.size, self.at_once):
            some = self.values[start : start + self.at_once]
            of = self.question, self.bulk, self.x
            self.solved.append(solve_points(*of, some, beat, self.by))
            yield

    def columns(self) -> Answer:
        """Return what is known."""
        joined = {k: np.concatenate([one[k] for one in self.solved]) for k in self.solved[0]}
        known = self.values[: joined["advice"].size]
        return {"name": self.name, "bulk": self.bulk, "x": known} | joined


def _curve(view: View, beat: Beat) -> Iterator[Answer]:
    """Answer with the test error along x: of each bulk, and of each pin."""
    values = tuple(axis_values(view.axis))
    curves = [
        _curve_of(name, question, bulk, view.x, values, view.by)
        for name, question in view.questions
        if question.has(view.x)
        for bulk in question["bulk"]
    ]
    # Along alpha and the ridge they are constant: two points do.
    at = axis_values(view.axis, 2 if view.x in ("alpha", "ridge") else 29)
    known = {"limits": limits(view.question, view.x, at)}
    shown = time.perf_counter()
    for _ in chain.from_iterable(curve.steps(beat) for curve in curves):
        beat()
        if time.perf_counter() > shown + _PATIENCE:
            shown = time.perf_counter()
            yield known | {"curves": [c.columns() for c in curves if c.solved], "done": False}
    yield known | {"curves": [c.columns() for c in curves], "done": True}


# What was solved of a curve stays, so that pins need no time.
_curve_of = lru_cache(maxsize=32)(_Solved)


def _function(view: View, beat: Beat) -> Iterator[Answer]:
    """Answer with the mean output along the target: of each bulk, and of each pin."""
    fine = np.linspace(PROJECTIONS[0], PROJECTIONS[-1], 2401)  # so that jumps are vertical
    target = {"x": fine, "y": target_along(view.question["target"], fine)}

    def learned(question: Question, bulk: str) -> Answer:
        points = solve_points(question, bulk, "alpha", np.array([question["alpha"]]), beat)
        given = question.given("alpha", "ridge", "loss")
        data = learned_function(question.problem, s=PROJECTIONS, bulk=bulk, **given)
        return points | {"x": PROJECTIONS, "y": data["learned_function"].values}

    return ({"target": target} | one for one in _each(view, beat, learned))


def _each(view: View, beat: Beat, solve: Callable[[Question, str], Answer]) -> Iterator[Answer]:
    """Answer with one curve after the other."""
    asked = [(*pin, bulk) for pin in view.questions for bulk in pin.question["bulk"]]
    curves: list[Answer] = []
    for name, question, bulk in asked:
        beat()
        curves.append({"name": name, "bulk": bulk} | solve(question, bulk))
        yield {"curves": list(curves), "done": len(curves) == len(asked)}


@lru_cache(maxsize=32)
def _eigenvalues(question: Question, bulk: str) -> Answer:
    """Solve the density of eigenvalues."""
    data = spectrum(question.problem, points=_EIGENVALUES, bulk=bulk, **question.given("alpha"))
    names = {"x": "eigenvalue", "density": "density", "outliers": "outlier"}
    known = {"mass_at_zero": data["mass_at_zero"].item(), "dimension": question["dimension"]}
    return known | {name: data[variable].values for name, variable in names.items()}


def _map(view: View, beat: Beat) -> Iterator[Answer]:
    """Answer with the test error over two parameters, in more and more cells."""
    axes = AXES[view.across], AXES[view.up]
    x, y = (axis_values(axis, MAP_SIDE) for axis in axes)
    bulk = view.question["bulk"][0]
    for stride in MAP_STRIDES:
        columns, rows = (
            side[:: 1 if axis.domain.whole else stride]
            for axis, side in zip(axes, (x, y), strict=True)
        )
        cells: dict[str, Any] = {view.up: rows, view.across: columns}
        data = ask_sweep(view.question, bulk, beat, view.variable, **cells)
        data = data.transpose(view.up, view.across, ...)
        shape = rows.size, columns.size
        values = np.broadcast_to(data.get(view.variable, GAP).values, shape)
        known = {"x": columns, "y": rows, "values": values, "advice": advice(data)}
        yield known | {"bulk": bulk, "done": stride == MAP_STRIDES[-1]}


_ANSWERS: dict[str, Callable[[View, Beat], Iterator[Answer]]] = {
    CURVE: _curve,
    FUNCTION: _function,
    SPECTRUM: lambda view, beat: _each(view, beat, _eigenvalues),
    MAP: _map,
}
