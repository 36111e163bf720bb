"""Remarks on answers: points that failed, what is left out, and optima at an edge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from giantstep.arrays import Array, Indices
from giantstep.problems.inputs import GAUSSIAN, mixture_mean
from giantstep.problems.losses import FLOW
from giantstep.theory.readout.status import Status

# Of which estimated relative corrections on an answer warns, and in words what they are for.
RELIABLE = 0.05
# The limit d -> infinity says from which dimension on it is reliable, if that is larger.
SMALL_DIMENSION = 100
# Variables of inputs with a covariance.
OF_COVARIANCE = "chi_2", "chi_3", "chi_rows", "effective_dimension"
# What the theory is from which chi on, and by how much errors of networks were smaller.
_CHAOS = {
    0.3: ("too pessimistic", "by 8 % on average, at most 27 %"),
    3.0: ("not quantitative, and too pessimistic", "by 13 % on average, at most by half"),
}
# The least effective dimension at which norms of inputs vary little.
_LEAST_DIMENSION = 40
_LEFT_OUT = {
    "unseen": "much of the error comes from inputs of which a training set has one or none",
    "sparse": "much of the error comes from inputs at which hardly any neuron varies",
    "mean": "the mean of the readout, which the theory takes as fixed, fluctuates",
    "quadratic": "quadratic features, which the theory omits, fit the target or make noise uneven",
    "own_output": "the step is so large that the network's own output changes its rows",
    "chance": "neurons that overlap with the target by chance learn it",
    "first_batch": "the first batch has few samples, whose covariance fluctuates",
}
CORRECTIONS = tuple(f"reliability_{name}" for name in _LEFT_OUT)


def failure_remarks(status: Indices) -> list[str]:
    """Say what to do about points that failed."""
    counts = [(code, np.sum(status == code)) for code in Status if code is not Status.CONVERGED]
    return [f"{n} point(s) {code.label}. {code.advice}" for code, n in counts if n]


def input_remarks(inputs: Iterable[str]) -> list[str]:
    """Say that the theory does not know the distribution of the inputs."""
    others = [name for name in inputs if name != GAUSSIAN and mixture_mean(name) is None]
    if not others:
        return []
    return [
        f"The theory is the same for all inputs. That it holds for {', '.join(others)} is a"
        " conjecture: giantstep compare shows what networks do."
    ]


def edge_remarks(points: Sequence[str], what: str, candidates: Array) -> list[str]:
    """Say where an optimum lies at an end of the range that was searched."""
    if not points:
        return []
    ends = f"{candidates[0]:g} to {candidates[-1]:g}"
    return [
        f"At {'; '.join(points)}: the {what} is an end of the range searched ({ends}), or of the"
        " part of it that could be solved, not a minimum."
    ]


def named_ridge(loss: str) -> str:
    """Name the best ridge in a remark; that of gradient flow is one over the best time."""
    return "best ridge (one over the best time)" if loss == FLOW else "best ridge"


def dimension_remarks(dimensions: Array) -> list[str]:
    """Say from which dimension on the limit d -> infinity is reliable at all points."""
    if not np.any(dimensions > SMALL_DIMENSION):
        return []
    if far := np.isinf(dimensions).sum():
        return [
            f"At {far} of {dimensions.size} points this limit is more than {RELIABLE:.0%} off at"
            " every dimension that was tried: give that of your networks."
        ]
    largest = float(f"{np.nanmax(dimensions):.1e}")
    return [
        f"Networks should be within {RELIABLE:.0%} of this limit from d = {largest:g} on. For"
        " smaller ones, give their dimension."
    ]


def reliability_remarks(arrays: Mapping[Any, Any]) -> list[str]:
    """Say where the theory leaves out more than it should, and the main reason."""
    total = np.asarray(arrays["reliability"])
    doubtful = total > RELIABLE
    if not doubtful.any():
        return []
    worst = int(np.argmax(np.where(doubtful, total, 0)))
    main = max(_LEFT_OUT, key=lambda name: np.ravel(arrays[f"reliability_{name}"])[worst])
    return [
        f"At {doubtful.sum()} of {total.size} points the theory may be off by more than"
        f" {RELIABLE:.0%}, as the variable `reliability` estimates (up to {total.flat[worst]:.0%})."
        f" There {_LEFT_OUT[main]}. Please compare with networks."
    ]


def covariance_remarks(arrays: Mapping[Any, Any]) -> list[str]:
    """Say where the leading directions of the inputs make the theory too pessimistic."""
    if "chi_2" not in arrays:
        return []
    least = float(np.nanmin(arrays["effective_dimension"], initial=np.inf))
    remarks = [
        f"The effective dimension of the inputs is {least:.3g}, below {_LEAST_DIMENSION}: their"
        " norms vary more than the theory takes into account."
    ]
    chi = np.nan_to_num(np.max([arrays[name] for name in OF_COVARIANCE[:-1]], axis=0))
    beyond = np.digitize(chi, [*_CHAOS])
    return remarks * (least < _LEAST_DIMENSION) + [
        f"At {np.sum(beyond == k)} of {chi.size} points the theory is {how}: errors of networks"
        f" on Gaussian inputs were smaller {much}. They learn products of leading directions of the"
        " inputs, and rows along these are not Gaussian after the step."
        for k, (how, much) in enumerate(_CHAOS.values(), start=1)
        if np.any(beyond == k)
    ]
