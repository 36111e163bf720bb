"""How simulations compute: in which precision, and in blocks of which size.

Estimates of costs read the same numbers, so this module imports nothing heavy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from giantstep.arrays import Array, Reals
from giantstep.numerics.function_table import ScalarFunction
from giantstep.validation import refusal

# Training samples that share a random stream, and are held and multiplied together. Another number
# changes the samples and the rounding.
ROWS = 1024
# The same for first batches and test samples, which gain nothing from larger blocks.
FEWER_ROWS = 512
# Ridges below this fraction of the features' mean square are fitted in double precision. Single
# precision then changes the test error by less than 1e-3 of its standard error
# (benchmarks/simulation.py, tests/simulation/test_simulate.py).
SINGLE_FROM = 0.01
# Ridges above this multiple of it would overflow in single precision.
SINGLE_UP_TO = 1e20
# Up to this number of samples per feature, convex readouts are fitted with the kernel of all
# samples; with more, products with it are computed in two steps.
KERNEL_UP_TO = 2.0
# Squares of features of larger weights overflow in single precision.
LARGEST_WEIGHT = 1e12
# A few values that represent N(0, 1) when the size of features is estimated.
_QUANTILES = ndtri((np.arange(32) + 0.5) / 32)

Precision = type[np.floating[Any]]


def block_sizes(count: int, rows: int) -> list[int]:
    """Divide `count` rows into blocks of `rows`, the last of which may be smaller."""
    return [min(rows, count - start) for start in range(0, count, rows)]


def feature_power(activation: ScalarFunction, bias: Reals, norms: Array) -> float:
    """Estimate the mean square of features from neurons' biases and the norms of their weights."""
    inputs = bias[:, None] + norms[:, None] * _QUANTILES
    return float(np.mean(activation.value(inputs) ** 2))


def fit_precision(ridge: float, power: float) -> Precision:
    """Choose the precision of a fit, given the mean square of the features."""
    single = SINGLE_FROM * power <= ridge <= SINGLE_UP_TO * power
    return np.float32 if single else np.float64


def check_weights(weights: Reals, name: str, value: object) -> None:
    """Refuse weights so large that their products overflow, or that are not finite.

    Parameters
    ----------
    weights : Reals
    name : str
        The parameter to blame.
    value : object
        Its value.

    Raises
    ------
    InvalidParametersError
    """
    if not np.abs(weights).max() < LARGEST_WEIGHT:
        raise refusal(name, value, f"small enough that all weights stay below {LARGEST_WEIGHT:g}")
