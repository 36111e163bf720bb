"""Covariances of the inputs, by name or by eigenvalues: docs/structured-inputs.md.

To add one, append to `SPECTRA` a function from the number of directions to their eigenvalues.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from giantstep.arrays import Array
from giantstep.problems.number_files import SUFFIXES, load_numbers
from giantstep.registry import Family, Registry
from giantstep.validation import Interval, RefusalError, refusal, whole_number

# Where what is known of such inputs must hold, to end a message.
ALWAYS = "where inputs have a covariance or are a mixture"
THEORY = f"in theory, {ALWAYS}"
IDENTITY = "identity"
# How many directions a spectrum by name has where no dimension is given, and at most.
DIRECTIONS, MOST_DIRECTIONS = 2000, 20_000
_RATIO, _SHARE = Interval(1e-6, 1e6), Interval(1e-6, 1 - 1e-6)
_ROUNDING = 1e-12
_EIGENVALUES = (
    f"2 to {MOST_DIRECTIONS} eigenvalues > 0, with or without the target's weights >= 0 beside them"
)


def _power(exponent: float) -> Callable[[int], Array]:
    return lambda count: np.arange(1.0, count + 1) ** -exponent


def _two_level(ratio: float, share: float) -> Callable[[int], Array]:
    return lambda count: np.where(np.arange(count) < round(share * count), ratio, 1.0)


SPECTRA: Registry[Callable[[int], Array]] = Registry(
    {IDENTITY: np.ones},
    Family.of_numbers("power:", _power, A=Interval(0, 3)),
    Family.of_numbers("two_level:", _two_level, RATIO=_RATIO, SHARE=_SHARE),
)


def names_file(value: Any) -> bool:
    """Tell whether a covariance is the name of a file."""
    return isinstance(value, str) and value.endswith(SUFFIXES)


class CovarianceDomain:
    """Names of spectra; or eigenvalues, which are divided by their mean, in an array or a file."""

    def __str__(self) -> str:
        return f"{SPECTRA}; or {_EIGENVALUES}, or a file of them ({' or '.join(SUFFIXES)})"

    def read(self, value: Any) -> Any:
        """Return a name, a tuple of eigenvalues, or one of pairs of eigenvalues and weights.

        Raises
        ------
        ValueError or TypeError
        """
        if names_file(value):
            try:
                return self.read(load_numbers(value))
            except (OSError, RefusalError, TypeError, ValueError) as error:
                raise refusal("", value, f"a file of {_EIGENVALUES} ({error})") from None
        if isinstance(value, str):
            return SPECTRA.read(value)
        columns = np.atleast_2d(np.asarray(value).astype(float, casting="same_kind").T)
        count = columns.shape[1]
        if len(columns) > 2 or not 2 <= count <= MOST_DIRECTIONS:
            raise ValueError(f"it holds an array of shape {np.shape(value)}")
        if not np.all(columns[0] > 0):
            row = np.argmin(columns[0] > 0)
            raise ValueError(f"row {row + 1} of its numbers holds {columns[0, row]:g}")
        scaled = [_with_sum(*one) for one in zip(columns, (count, 1), strict=False)]
        return tuple(zip(*scaled, strict=True)) if len(scaled) > 1 else scaled[0]


def _with_sum(values: Array, total: float) -> tuple[float, ...]:
    """Scale numbers >= 0 to a sum; to their bits, if they have it.

    Raises
    ------
    ValueError
        If they are no such numbers, or all are zero.
    """
    factor = float(values.sum()) / total
    if values.ndim != 1 or not (np.all(values >= 0) and 0 < factor < np.inf):
        raise ValueError("weights must be numbers >= 0")
    return tuple((values / (factor if abs(factor - 1) > _ROUNDING else 1)).tolist())


def directions_of(covariance: Any, decay: float) -> tuple[Array, Array]:
    """Return the eigenvalues that are given, and the target's squared components along each."""
    values, *beside = np.atleast_2d(np.array(covariance).T)
    if beside:
        return values, beside[0]
    weights = np.arange(1.0, values.size + 1) ** -decay
    return values, np.asarray(weights / weights.sum())


def eigenvalues(name: str, dimension: float) -> Array:
    """Compute the eigenvalues of a covariance by name, of mean one.

    Raises
    ------
    InvalidParametersError
        For more than `MOST_DIRECTIONS`.

    Examples
    --------
    >>> eigenvalues("power:1", dimension=4)
    array([1.92, 0.96, 0.64, 0.48])
    """
    if MOST_DIRECTIONS < dimension < math.inf:
        raise refusal("dimension", whole_number(dimension), f"at most {MOST_DIRECTIONS} {ALWAYS}")
    values = SPECTRA.lookup(name)(DIRECTIONS if math.isinf(dimension) else round(dimension))
    return np.asarray(values / values.mean())
