"""What benchmarks draw at random."""

from __future__ import annotations

import math

from numpy.random import Generator


def between(rng: Generator, low: float, high: float) -> float:
    """Draw a number whose logarithm is uniform, to three digits."""
    return float(f"{math.exp(rng.uniform(math.log(low), math.log(high))):.3g}")
