"""Targets: functions of one direction of the input, or teachers of several.

Both are names. One of `scalar_functions` is a function of theta.x, such as `sin`; any other is the
expression of a teacher, such as `z1+z1*z2`.
"""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.function_table import FUNCTIONS, ScalarFunction
from giantstep.numerics.scalar_functions import CLASS, KNOWN_FUNCTIONS, lookup, shifted
from giantstep.problems.function_field import FunctionDomain
from giantstep.problems.inputs import GAUSSIAN, mixture_mean
from giantstep.problems.teachers import (
    KNOWN_TEACHERS,
    LARGEST_IN_ALL,
    Teacher,
    lookup_teacher,
    own_teacher,
)
from giantstep.registry import Named
from giantstep.validation import refusal

# What pretraining learns where it is the target that the readout learns.
SAME_TARGET = "same"
# What inputs must be where a target is their class.
CLASS_INPUTS = f"mixture:M where a target is the {CLASS}"
# What a target's name may be, for messages and help.
ALLOWED_TARGETS = f"{KNOWN_FUNCTIONS}, {CLASS} for inputs of a mixture, or {KNOWN_TEACHERS}"


@dataclass(frozen=True)
class TargetDomain:
    """Functions of one direction, by their names or as callables, and teachers; or a word.

    Names of teachers are stored without spaces: equal teachers have equal names.
    """

    word: str = CLASS

    def __str__(self) -> str:
        return ALLOWED_TARGETS if self.word == CLASS else f"{self.word}, or {ALLOWED_TARGETS}"

    def read(self, given: Any) -> Any:
        """Return the name of a target.

        Raises
        ------
        ValueError
        """
        if given in (CLASS, self.word, *FUNCTIONS):
            return given
        if _arguments(given) > 1:
            given = own_teacher(given)
        named = isinstance(given, str) and not isinstance(given, Named)
        teacher = given.replace(" ", "") if named else given
        if isinstance(teacher, str) and teacher in KNOWN_TEACHERS:
            known = lookup_teacher(teacher)
            if known.is_polynomial and known.degree > LARGEST_IN_ALL:
                raise refusal("", given, f"of degree {LARGEST_IN_ALL} at most, not {known.degree}")
            return teacher
        return FunctionDomain().read(given)


def _arguments(given: Any) -> int:
    """Count the arguments that a callable must be given; none of anything else."""
    if not callable(given):
        return 0
    if isinstance(given, np.ufunc):
        return given.nin
    return sum(one.default is one.empty for one in signature(given).parameters.values())


def teacher_of(target: str) -> Teacher | None:
    """Return the teacher that a target is, or None for a function of one direction."""
    return None if target == CLASS or target in KNOWN_FUNCTIONS else lookup_teacher(target)


def is_known_target(target: str) -> bool:
    """Check whether a target has a name that is known; callables of other processes have none."""
    return target == CLASS or target in KNOWN_FUNCTIONS or target in KNOWN_TEACHERS


def lookup_target(target: str) -> ScalarFunction | Teacher:
    """Find the function or the teacher that a target is."""
    return teacher_of(target) or lookup(target)


def target_function(target: str, inputs: str) -> ScalarFunction:
    """Return a target of one direction as a function of the input's projection on it.

    Of a mixture the inputs are those of class +1, and the projection is less its mean. Targets are
    odd there, so that the other class only has all signs reversed.
    """
    mean = mixture_mean(inputs)
    return lookup(target) if mean is None else shifted(lookup(target), mean)


def target_along(target: str, s: Array, inputs: str = GAUSSIAN) -> Array:
    """Compute the target's mean given theta.x = s, the first direction of several."""
    teacher, mean = teacher_of(target), mixture_mean(inputs)
    if target == CLASS and mean is not None:
        return np.tanh(mean * s)
    return lookup(target).value(s) if teacher is None else teacher.mean_given_first(s)
