"""What is known of inputs with a covariance; everything else is refused, with its reason here.

Parameters named `protocol` are a `Protocol`, whose module imports this one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.covariance import IDENTITY, MOST_DIRECTIONS
from giantstep.problems.inputs import GAUSSIAN
from giantstep.problems.readout import UNIFORM
from giantstep.problems.targets import teacher_of
from giantstep.validation import Fault

ALWAYS = "where inputs have a covariance"
THEORY, NETWORKS = f"in theory, {ALWAYS}", f"in networks, {ALWAYS}"
# Questions whose answers take the covariance into account.
_QUESTIONS = ("solve", "sweep", "simulate", "compare", "optimise", "parameters")
_OF_NETWORKS = ("replicates", "eigenvalues")


_WEIGHTS = "a number or, for given eigenvalues without weights beside them, as many weights,"


def _matches(of: Any) -> bool:
    """Tell whether the target's weights are given once, with as many eigenvalues, or none are."""
    s, decay = of.covariance, of.target_decay
    if isinstance(s, str) or isinstance(s[0], tuple):
        return not isinstance(decay, tuple) and (isinstance(s, str) or decay == 0)
    return not isinstance(decay, tuple) or len(s) == len(decay)


# Where what must hold, and how to say it.
_RULES: tuple[tuple[str, str, Callable[[Any], bool], str], ...] = (
    (ALWAYS, "inputs", lambda of: of.inputs == GAUSSIAN, GAUSSIAN),
    (ALWAYS, "target", lambda of: teacher_of(of.target) is None, "of one direction"),
    (ALWAYS, "pretrain_target", lambda of: not of.is_transfer, "that of the readout"),
    (ALWAYS, "target_decay", _matches, _WEIGHTS),
    (THEORY, "activation", lambda of: lookup(of.activation).parity == "odd", "odd"),
    (THEORY, "readout", lambda of: of.readout == UNIFORM, "1 for all neurons"),
    (THEORY, "steps", lambda of: of.steps == 1, "1"),
    (THEORY, "optimizer", lambda of: of.optimizer == "sgd", "sgd"),
    (NETWORKS, "alpha0", lambda of: math.isfinite(of.alpha0), "finite"),
)


def covariance_faults(protocol: Any, where: str) -> list[Fault]:
    """List what does not go with a covariance: `ALWAYS`, or in `THEORY` or `NETWORKS`."""
    rules = _RULES if protocol.has_covariance else ()
    return [
        Fault(name, getattr(protocol, name), f"{allowed} {where}")
        for place, name, holds, allowed in rules
        if place == where and not holds(protocol)
    ]


def dimension_faults(protocol: Any, dimension: float) -> list[Fault]:
    """List why inputs of a dimension cannot have the covariance."""
    known, by_name = protocol.covariance, isinstance(protocol.covariance, str)
    if not protocol.has_covariance or math.isinf(dimension):
        return []
    allowed = f"at most {MOST_DIRECTIONS}" if by_name else f"{len(known)}, as many as eigenvalues,"
    valid = dimension <= MOST_DIRECTIONS if by_name else dimension == len(known)
    return [] if valid else [Fault("dimension", dimension, f"{allowed} {ALWAYS}")]


def question_faults(question: str, problem: Any, given: Mapping[str, Any]) -> list[Fault]:
    """List why a question cannot be answered for inputs with a covariance."""
    known = getattr(problem, "covariance", IDENTITY)
    known = given.get("values", {}).get("covariance", known)
    if isinstance(known, str) and known == IDENTITY:
        return []
    if question not in (*_QUESTIONS, *_OF_NETWORKS):
        allowed = f"{IDENTITY} in {question}; others are for {', '.join(_QUESTIONS)}"
    elif question == "optimise" and ("bias" in given["over"] or math.isinf(given["dimension"])):
        allowed = f"{IDENTITY} where a bias is optimised, or no dimension is given"
    else:
        return []
    return [Fault("covariance", known, allowed)]
