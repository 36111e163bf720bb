"""Answers to a view, coarse at first and then finer: each is all that is known so far.

They are found in a process of their own, where a newer view ends them between two steps. Answers
are plain dictionaries of arrays and texts, since they travel between processes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import chain

import numpy as np

from giantstep.arrays import Array, Indices
from giantstep.explore import theory
from giantstep.explore.cells import Cells
from giantstep.explore.children import Say
from giantstep.explore.question import OPTIMAL, SPIKED, Question
from giantstep.explore.tasks import Answer
from giantstep.explore.theory import Points, join, moved_to, solve_along, take
from giantstep.explore.view import (
    AXES,
    CURVE,
    FUNCTION,
    MAP,
    OVER_LINEAR,
    OVER_NO_STEP,
    SPECTRUM,
    STRIDE,
    Axis,
    View,
    axis_values,
)
from giantstep.problems.bulk_kind import ISOTROPIC
from giantstep.problems.losses import SQUARE
from giantstep.problems.targets import target_along
from giantstep.validation import InvalidParametersError

# Seconds after which what is known is shown.
_PATIENCE = 0.1
# Points that are solved together where that takes a while.
_BATCH = 29
# Points of the learned function and of a spectrum, and cells along each side of a map.
PROJECTIONS = np.linspace(-3, 3, 241)
_EIGENVALUES = 160
MAP_SIDE, MAP_STRIDES = 33, (8, 4, 2, 1)


def answer(view: View, say: Say) -> None:
    """Answer a view, finer and finer; the last answer says that it is `done`."""
    started = time.perf_counter()
    for found in _ANSWERS[view.tab](view):
        if found is None:
            say(None)
        else:
            say(found | {"tab": view.tab, "seconds": time.perf_counter() - started})


class _Refinement:
    """One curve, solved at more and more of its points."""

    def __init__(self, name: str, question: Question, bulk: str, x: str, values: Array) -> None:
        self.name, self.question, self.bulk, self.x = name, question, bulk, x
        self.values = values
        self.solved: dict[int, Points] = {}  # by the first of the places that were solved together
        self.places: list[int] = []
        square, best = question.loss == SQUARE, question.ridge == OPTIMAL and x != "ridge"
        together = x in ("alpha", "ridge") and square
        quick = together and bulk == ISOTROPIC and not best
        # The points that are solved at a time, and the strides between points, coarse to fine.
        self.at_once = values.size if quick else _BATCH if together else 1
        self.strides = (1,) if quick else _strides(1 if square else 4)
        if values.size <= STRIDE:
            self.strides = (1,)

    def steps(self, stride: int) -> Iterator[None]:
        """Solve at every so many points."""
        if stride not in self.strides:
            return
        done = set(self.places)
        missing = [i for i in range(0, self.values.size, stride) if i not in done]
        for start in range(0, len(missing), self.at_once):
            some = missing[start : start + self.at_once]
            for points in solve_along(self.question, self.bulk, self.x, self.values[some]):
                self.solved[some[0]] = points
                self.places += some[: len(points.advice)]
                some = some[len(points.advice) :]
            yield

    def columns(self) -> Answer:
        """Return what is known, sorted."""
        order = np.argsort(self.places)
        points = take(join(list(self.solved.values())), order)
        x = self.values[np.array(self.places)[order]]
        return {"name": self.name, "bulk": self.bulk, "x": x} | vars(points)


def _strides(finest: int) -> tuple[int, ...]:
    strides, stride = [], STRIDE
    while stride >= finest:
        strides.append(stride)
        stride //= 2
    return tuple(strides)


def _curve(view: View) -> Iterator[Answer | None]:
    """Answer with the test error along x: of each bulk, and of each pin."""
    values = axis_values(view.axis)
    curves = [
        _refinement(name, question, bulk, view.x, tuple(values))
        for name, question in view.questions
        if has_parameter(question, view.x)
        for bulk in question.bulk
    ]
    limits = _limits_along(view.question, view.x, view.axis)
    shown = time.perf_counter()
    for stride in _strides(1):
        for curve in curves:
            for _ in curve.steps(stride):
                part = None
                if time.perf_counter() > shown + _PATIENCE:
                    shown = time.perf_counter()
                    part = _curves(curves, limits, done=False)
                yield part
    yield _curves(curves, limits, done=True)


def _curves(curves: list[_Refinement], limits: Answer, done: bool) -> Answer:
    return {"curves": [c.columns() for c in curves if c.places], "limits": limits, "done": done}


# What was solved of a curve stays, so that pins need no time.
_refinement = lru_cache(maxsize=32)(
    lambda name, question, bulk, x, values: _Refinement(name, question, bulk, x, np.array(values))
)


def has_parameter(question: Question, x: str) -> bool:
    """Check whether a question has a value of x."""
    return x in ("alpha", "ridge") or x in question.problem_fields


def _limits_along(question: Question, x: str, axis: Axis) -> Answer:
    """Return the limits on the test error at some points along x, or at its two ends."""
    if x in ("alpha", "ridge"):
        found = theory.limits(question)
        ends = np.array([axis.start, axis.stop])
        return {"x": ends} | {name: np.full(2, value) for name, value in found.items()}
    values = axis_values(axis, 29)
    rows = [_limits_at(question, x, value) for value in values]
    return {"x": values} | {name: np.array([row[name] for row in rows]) for name in rows[0]}


def _limits_at(question: Question, x: str, value: float) -> dict[str, float]:
    try:
        return theory.limits(moved_to(question, x, value))
    except InvalidParametersError:
        return dict.fromkeys(("best_linear", "upper_bound", "lower_bound"), np.nan)


def _function(view: View) -> Iterator[Answer]:
    """Answer with the mean output along the target: of each bulk, and of each pin."""
    curves = []
    every = [(name, question, bulk) for name, question in view.questions for bulk in question.bulk]
    for k, (name, question, bulk) in enumerate(every):
        y, points = theory.learned(question, bulk, PROJECTIONS)
        curves.append({"name": name, "bulk": bulk, "x": PROJECTIONS, "y": y} | vars(points))
        fine = np.linspace(PROJECTIONS[0], PROJECTIONS[-1], 2401)  # so that jumps are vertical
        target = {"x": fine, "y": target_along(view.question.target, fine)}
        yield {"curves": list(curves), "target": target, "done": k == len(every) - 1}


def _spectrum(view: View) -> Iterator[Answer]:
    """Answer with the density of eigenvalues: of each bulk, and of each pin."""
    every = [(name, question, bulk) for name, question in view.questions for bulk in question.bulk]
    curves: list[Answer] = []
    for k, (name, question, bulk) in enumerate(every):
        found = _eigenvalues(question, bulk)
        curves.append({"name": name, "bulk": bulk} | vars(found))
        yield {"curves": list(curves), "done": k == len(every) - 1}


_eigenvalues = lru_cache(maxsize=32)(
    lambda question, bulk: theory.eigenvalues(question, bulk, _EIGENVALUES)
)


def _map(view: View) -> Iterator[Answer | None]:
    """Answer with the test error over two parameters, in more and more cells."""
    axes = AXES[view.across], AXES[view.up]
    x, y = (axis_values(axis, MAP_SIDE) for axis in axes)
    cells = Cells(view.question, (view.across, x), (view.up, y))
    base = _without_step(view, x, y) if view.colour == OVER_NO_STEP else None
    known = {"x_scale": axes[0].scale, "y_scale": axes[1].scale}
    known["bulk"] = cells.bulk.replace("_", " ")
    shown = time.perf_counter()
    for stride in MAP_STRIDES:
        columns, rows = (
            np.arange(0, values.size, 1 if axis.domain.whole else stride)
            for axis, values in zip(axes, (x, y), strict=True)
        )
        for _ in chain(base.solve(rows, columns) if base else (), cells.solve(rows, columns)):
            part = None
            # Later, the map in fewer cells shows more than a part of the next.
            if stride == MAP_STRIDES[0] and time.perf_counter() > shown + _PATIENCE:
                shown = time.perf_counter()
                part = _cells_answer(view, cells, base, rows, columns) | known | {"done": False}
            yield part
        done = stride == MAP_STRIDES[-1]
        yield _cells_answer(view, cells, base, rows, columns) | known | {"done": done}


def _cells_answer(
    view: View, cells: Cells, base: Cells | None, rows: Indices, columns: Indices
) -> Answer:
    """Return what is known of some rows and columns."""
    place = cells.place(rows, columns)
    values = cells.error[place]
    if view.colour == OVER_LINEAR:
        values = 1 - values / theory.limits(view.question)["best_linear"]
    if base:
        values = 1 - values / base.error[base.place(rows, columns)]
    advice = cells.advice[place]
    return {"x": cells.x[columns], "y": cells.y[rows], "values": values, "advice": advice}


# What a network without a step does not depend on.
_OF_STEP = ("learning_rate", "alpha0", "steps", "spike_strength", "bulk_variance", "alignment")


def _without_step(view: View, x: Array, y: Array) -> Cells:
    """Return the cells of the networks without a step, of one cell along axes of the step."""
    question = without_step(view.question)
    return Cells(
        question,
        *(
            (name, np.array([getattr(question, name)]) if name in _OF_STEP else values)
            for name, values in ((view.across, x), (view.up, y))
        ),
    )


def without_step(question: Question) -> Question:
    """Return the same network, or the same features, without the step."""
    if question.model == SPIKED:
        return replace(question, spike_strength=0.0, bulk_variance=1.0)
    return replace(question, alpha0=0.0, steps=1)


_ANSWERS: dict[str, Callable[[View], Iterator[Answer | None]]] = {
    CURVE: _curve,
    FUNCTION: _function,
    SPECTRUM: _spectrum,
    MAP: _map,
}
