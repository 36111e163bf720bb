"""Distributions of the inputs: independent entries of mean zero and unit variance.

To add one, append its sampler to `INPUTS`. Those of a mixture are Gaussian about the means of two
classes: docs/mixtures.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from giantstep.arrays import Single
from giantstep.registry import Family, Registry
from giantstep.validation import Interval, read_number

# Draws entries of a given shape, in single precision whatever precision follows.
Sampler = Callable[[Generator, tuple[int, int]], Single]

GAUSSIAN = "gaussian"
_MIXTURE = "mixture:"
# Of a uniform distribution of unit variance.
_WIDTH = np.float32(math.sqrt(12))


def _student_t(freedom: float) -> Sampler:
    """Make the sampler of Student's t distribution."""
    scale = math.sqrt((freedom - 2) / freedom)
    return lambda rng, shape: (scale * rng.standard_t(freedom, shape)).astype(np.float32)


def mixture_mean(inputs: str) -> float | None:
    """Return the norm M of the mean of whitened inputs of a class, or None without classes.

    Examples
    --------
    >>> mixture_mean("mixture:1.5")
    1.5
    """
    return read_number(inputs.removeprefix(_MIXTURE)) if inputs.startswith(_MIXTURE) else None


INPUTS: dict[str, Sampler] = {
    GAUSSIAN: lambda rng, shape: rng.standard_normal(shape, np.float32),
    "rademacher": lambda rng, shape: 2 * rng.integers(0, 2, shape, np.int8).astype(np.float32) - 1,
    "uniform": lambda rng, shape: _WIDTH * (rng.random(shape, np.float32) - np.float32(0.5)),
}


KNOWN_INPUTS = Registry(
    INPUTS,
    # With two degrees of freedom or less, there is no finite variance to scale to one.
    Family.of_numbers("student_t:", _student_t, NU=Interval(2, open_below=True)),
    # What inputs have besides the mean of their class.
    Family.of_numbers(_MIXTURE, lambda mean: INPUTS[GAUSSIAN], M=Interval(0, 10)),
)
