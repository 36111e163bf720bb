"""The filter of gradient flow as a sum of ridges: docs/theory/early-stopping.md.

What is left of a label along an eigenvector of the features' covariance, of eigenvalue x/t, is
`exp(-x)` after a time t of gradient flow, and `z/(x + z)` with a ridge z/t. A sum of the latter
holds the former for all x > 0.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from giantstep.arrays import Array

# Ridges times t; their ratio is the root of two, and one of them is 1.
_RIDGES = 2.0 ** (np.arange(-4, 15) / 2)
PAIRS = _RIDGES.size * (_RIDGES.size + 1) // 2
# Values of x at which the two are compared.
_AT = np.geomspace(1e-5, 1e6, 4000)
# Directions of the fit with smaller singular values are left out, in the fine fit and in a coarse
# one: less would be left out at the price of weights that amplify rounding.
_CUTS = 1e-9, 1e-6


@cache
def stopping_filter() -> tuple[Array, Array, int]:
    """Fit the filter of gradient flow, with more weight where a small eigenvalue makes readouts.

    Returns
    -------
    ridges : Array, shape (N,)
        For a time 1; for a time t all are over t.
    weights : Array, shape (2, N)
        Of a fit that is off by 6e-6, and of a coarse one; both add up to 1.
    first : int
        The place of the ridge 1.

    Examples
    --------
    >>> ridges, weights, _ = stopping_filter()
    >>> left = weights @ (ridges / (3.0 + ridges))
    >>> abs(left - np.exp(-3)) < [1e-5, 2e-4]
    array([ True,  True])
    """
    residuals = _RIDGES / (_AT[:, None] + _RIDGES)
    even = np.full(_RIDGES.size, 1 / _RIDGES.size)
    differences = np.linalg.svd(even[None])[2][1:].T  # add up to zero
    emphasis = 1 + _AT**-0.5
    right = emphasis * (1 + np.expm1(-_AT) - residuals @ even)
    system = emphasis[:, None] * (residuals @ differences)
    fits = [np.linalg.pinv(system, rcond=cut) @ right for cut in _CUTS]
    weights = even + np.stack(fits) @ differences.T
    return _RIDGES, weights, int(np.flatnonzero(_RIDGES == 1)[0])
