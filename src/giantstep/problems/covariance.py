"""Covariances of the inputs, by name or by their eigenvalues: docs/structured-inputs.md.

To add one, append to `SPECTRA` a function from the number of directions to their eigenvalues.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from giantstep.arrays import Array
from giantstep.registry import Family, Registry
from giantstep.validation import Fault, Interval, read_number

IDENTITY, _POWER, _TWO_LEVEL = "identity", "power:", "two_level:"
# How many directions a spectrum by name has where no dimension is given, and at most.
_DIRECTIONS, MOST_DIRECTIONS = 2000, 20_000
_EXPONENT, _RATIO, _SHARE = Interval(0, 3), Interval(1e-6, 1e6), Interval(1e-6, 1 - 1e-6)
_ROUNDING = 1e-12


def _power(text: str) -> Callable[[int], Array]:
    if (exponent := read_number(text)) not in _EXPONENT:
        raise ValueError(text)
    return lambda count: np.arange(1.0, count + 1) ** -exponent


def _two_level(text: str) -> Callable[[int], Array]:
    ratio, share = (read_number(part) for part in text.split(","))
    if ratio not in _RATIO or share not in _SHARE:
        raise ValueError(text)
    return lambda count: np.where(np.arange(count) < round(share * count), ratio, 1.0)


SPECTRA: Registry[Callable[[int], Array]] = Registry(
    {IDENTITY: np.ones},
    Family(_POWER, _power, f"{_POWER}A with A {_EXPONENT}"),
    Family(_TWO_LEVEL, _two_level, f"{_TWO_LEVEL}RATIO,SHARE with RATIO > 0 and SHARE below 1"),
)


class CovarianceDomain:
    """Names of spectra, or the eigenvalues, which are divided by their mean."""

    def __str__(self) -> str:
        return f"{SPECTRA}, or 2 to {MOST_DIRECTIONS} eigenvalues > 0"

    def read(self, name: str, value: Any) -> tuple[Any, list[Fault]]:
        """Return a name, or a tuple of eigenvalues of mean one."""
        if isinstance(value, str):
            return value, [Fault(name, value, str(self))] * bool(SPECTRA.faults(name, value))
        try:
            values = np.array(value, dtype=float)
        except (TypeError, ValueError):
            values = np.empty(0)
        positive = np.all((values > 0) & np.isfinite(values))
        if values.ndim != 1 or not 2 <= values.size <= MOST_DIRECTIONS or not positive:
            return IDENTITY, [Fault(name, value, str(self))]
        mean = float(values.mean())
        return tuple((values / (mean if abs(mean - 1) > _ROUNDING else 1)).tolist()), []


def target_weights(count: int, decay: float) -> Array:
    """Compute the squared components of the target's direction along the eigenvectors."""
    weights = np.arange(1.0, count + 1) ** -decay
    return np.asarray(weights / weights.sum())


def eigenvalues(name: str, dimension: float) -> Array:
    """Compute the eigenvalues of a covariance by name, of mean one.

    Examples
    --------
    >>> eigenvalues("power:1", dimension=4)
    array([1.92, 0.96, 0.64, 0.48])
    """
    values = SPECTRA.lookup(name)(_DIRECTIONS if math.isinf(dimension) else round(dimension))
    return np.asarray(values / values.mean())
