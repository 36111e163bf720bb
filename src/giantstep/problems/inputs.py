"""Distributions of the inputs: independent entries of mean zero and unit variance."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from giantstep.arrays import Single

Sampler = Callable[[Generator, tuple[int, int]], Single]

GAUSSIAN = "gaussian"
_STUDENT = "student_t:"


def _gaussian(rng: Generator, shape: tuple[int, int]) -> Single:
    return rng.standard_normal(shape, np.float32)


def _rademacher(rng: Generator, shape: tuple[int, int]) -> Single:
    return (2 * rng.integers(0, 2, shape, np.int8) - 1).astype(np.float32)


def _uniform(rng: Generator, shape: tuple[int, int]) -> Single:
    return np.float32(math.sqrt(12)) * (rng.random(shape, np.float32) - np.float32(0.5))


def _student_t(freedom: float) -> Sampler:
    scale = math.sqrt((freedom - 2) / freedom)
    return lambda rng, shape: (scale * rng.standard_t(freedom, shape)).astype(np.float32)


INPUTS: dict[str, Sampler] = {
    GAUSSIAN: _gaussian,
    "rademacher": _rademacher,
    "uniform": _uniform,
}


def lookup_inputs(name: str) -> Sampler:
    """Find what draws inputs of a name; `student_t:5` has five degrees of freedom.

    A sampler gives entries in single precision, whatever arithmetic they then go through.

    Raises
    ------
    KeyError
        If there is none of that name, or its degrees of freedom leave no unit variance.
    """
    if not name.startswith(_STUDENT):
        return INPUTS[name]
    try:
        freedom = float(name.removeprefix(_STUDENT))
    except ValueError:
        raise KeyError(name) from None
    if not 2 < freedom < math.inf:
        raise KeyError(name)
    return _student_t(freedom)


def known_inputs() -> str:
    """List the names, for messages."""
    return ", ".join(INPUTS) + f", {_STUDENT}NU with NU > 2"
