"""What is known of inputs with a covariance or a mixture; everything else is refused here.

Parameters named `protocol` are a `Protocol`, whose module imports this one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from giantstep.numerics.scalar_functions import CLASS
from giantstep.problems.covariance import IDENTITY, MOST_DIRECTIONS
from giantstep.problems.inputs import GAUSSIAN, mixture_mean
from giantstep.problems.targets import teacher_of
from giantstep.validation import Fault

ALWAYS = "where inputs have a covariance or are a mixture"
THEORY, NETWORKS = f"in theory, {ALWAYS}", f"in networks, {ALWAYS}"
_PAGE = "docs/structured-inputs.md says which questions take others"


def has_classes(of: Any) -> bool:
    """Tell whether the inputs of a problem are a mixture."""
    return mixture_mean(of.inputs) is not None


_WEIGHTS = "a number or, for given eigenvalues without weights beside them, as many weights,"


def _matches(of: Any) -> bool:
    """Tell whether the target's weights are given once, with as many eigenvalues, or none are."""
    s, decay = of.covariance, of.target_decay
    if isinstance(s, str) or isinstance(s[0], tuple):
        return not isinstance(decay, tuple) and (isinstance(s, str) or decay == 0)
    return not isinstance(decay, tuple) or len(s) == len(decay)


# Where what must hold, and how to say it.
_RULES: tuple[tuple[str, str, Callable[[Any], bool], str], ...] = (
    (
        ALWAYS,
        "inputs",
        lambda of: has_classes(of) or of.inputs == GAUSSIAN,
        "gaussian or mixture:M",
    ),
    (ALWAYS, "target", lambda of: teacher_of(of.target) is None, "of one direction"),
    (ALWAYS, "pretrain_target", lambda of: not of.is_transfer, "that of the readout"),
    (ALWAYS, "target_decay", _matches, _WEIGHTS),
    (NETWORKS, "alpha0", lambda of: math.isfinite(of.alpha0), "finite"),
)


def covariance_faults(protocol: Any, where: str) -> list[Fault]:
    """List what does not go with a covariance: `ALWAYS`, or in `NETWORKS`."""
    rules = _RULES if protocol.has_covariance else ()
    return [
        Fault(name, getattr(protocol, name), f"{allowed} {where}")
        for place, name, holds, allowed in rules
        if place == where and not holds(protocol)
    ]


def class_faults(problem: Any) -> list[Fault]:
    """List the targets that are the class of an input, if inputs have none."""
    targets = [getattr(problem, name, None) for name in ("target", "pretrain_target")]
    if CLASS not in targets or has_classes(problem):
        return []
    return [Fault("inputs", problem.inputs, f"mixture:M where a target is the {CLASS}")]


def dimension_faults(protocol: Any, dimension: float) -> list[Fault]:
    """List why inputs of a dimension cannot have the covariance."""
    known, by_name = protocol.covariance, isinstance(protocol.covariance, str)
    if not protocol.has_covariance or math.isinf(dimension):
        return []
    allowed = f"at most {MOST_DIRECTIONS}" if by_name else f"{len(known)}, as many as eigenvalues,"
    valid = dimension <= MOST_DIRECTIONS if by_name else dimension == len(known)
    return [] if valid else [Fault("dimension", dimension, f"{allowed} {ALWAYS}")]


def question_faults(
    question: str, covered: Collection[str], problem: Any, given: Mapping[str, Any]
) -> list[Fault]:
    """List why a question cannot be answered for inputs with a covariance, or a mixture.

    Parameters
    ----------
    question : str
    covered : collection of str
        Which of "covariance" and "inputs" it takes into account.
    problem, given
        What it is about, and its arguments; of several problems, `values` among them.
    """
    values = given.get("values", {})
    inputs = np.ravel(values.get("inputs", getattr(problem, "inputs", GAUSSIAN))).tolist()
    known = next((one for one in inputs if mixture_mean(str(one)) is not None), None)
    name, plain = "inputs", GAUSSIAN
    if known is None:
        known = values.get("covariance", getattr(problem, "covariance", IDENTITY))
        name, plain = "covariance", IDENTITY
    if isinstance(known, str) and known == IDENTITY:
        return []
    if not hasattr(problem, "covariance"):
        allowed = f"{plain} for spiked features given directly; mixtures are for protocols"
        return [Fault(name, known, allowed)]
    return [Fault(name, known, f"{plain} in {question}: {_PAGE}")] * (name not in covered)
