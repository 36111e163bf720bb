"""The dimension from which on answers are reliable."""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np

from giantstep.arrays import Array
from giantstep.problems.covariance import IDENTITY
from giantstep.theory.readout.columns import RELIABILITY, Columns
from giantstep.theory.readout.readout import Readout
from giantstep.theory.readout.square_readout import SquareReadout
from giantstep.theory.reliability import LARGE_DIMENSION
from giantstep.validation import InvalidParametersError

# The estimated relative correction up to which an answer is reliable.
RELIABLE = 0.05
# Most points at which the limit d -> infinity is compared with large dimensions.
_COMPARED = 200
# The same for losses other than the square, of which points take a thousand times as long.
_COMPARED_CONVEX = 2
# The dimensions that the limit is compared with.
_DIMENSIONS = LARGE_DIMENSION * 10.0 ** np.arange(4)


def reliable_dimension(readout: Readout, solved: Columns, alpha: Array, ridge: Array) -> Array:
    """Compute the dimension from which on the answers at S points are reliable.

    Corrections are assumed to fall as 1/d, and so is the difference between the limit and a large
    dimension.
    """
    corrections = solved[RELIABILITY] / RELIABLE
    if math.isfinite(readout.layer.first.dimension):
        return readout.layer.first.dimension * corrections
    most = _COMPARED if isinstance(readout, SquareReadout) else _COMPARED_CONVEX
    some = np.unique(np.linspace(0, alpha.size - 1, min(alpha.size, most)).round().astype(int))
    needed = _near_limit(readout, solved.test_error[some], alpha[some], ridge[some])
    nearby = np.arange(alpha.size) * some.size // alpha.size
    return LARGE_DIMENSION * corrections + needed[nearby]


def _near_limit(readout: Readout, limit: Array, alpha: Array, ridge: Array) -> Array:
    """Compute the dimension from which on errors are near those of the limit.

    If one is not at a large dimension, larger ones are tried; if at none, the result is infinite.
    """
    needed, last = np.where(np.isfinite(limit), np.inf, np.nan), np.full(limit.size, np.nan)
    s = getattr(readout.layer.first.problem, "covariance", IDENTITY)
    for dimension in _DIMENSIONS if isinstance(s, str) else (len(s),):
        if not (far := np.isinf(needed)).any():
            break
        # Rows may be too long at this dimension, and errors zero.
        with suppress(InvalidParametersError), np.errstate(divide="ignore", invalid="ignore"):
            gap = np.abs(readout.at(dimension).errors(alpha, ridge) / limit - 1)
            near = far & (gap < RELIABLE)
            # Beyond the first dimension, a power law between two of them.
            power = np.where(np.isfinite(last), np.log10(last / gap), 1.0)
            needed[near] = dimension * (gap / RELIABLE)[near] ** (1 / power[near])
            last = gap
    return needed
