"""The bulk after one step on inputs with a covariance: docs/theory/structured-inputs.md."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from giantstep.arrays import Array
from giantstep.theory.features.bulk.coloured_rows import ColouredRows
from giantstep.theory.features.bulk.row_functions import RowFunctions
from giantstep.theory.features.bulk.row_resolvent import Traces
from giantstep.theory.features.bulk.trained import TrainedBulk
from giantstep.theory.features.coloured_step import coloured_step
from giantstep.theory.features.network_state import NetworkState

# Of the polynomials in t: steep spectra need larger degrees than those of a trained bulk.
_TOLERANCE, _MOST, _FEWER = 1e-11, 768, 576


@dataclass(frozen=True, eq=False)
class ColouredBulk(TrainedBulk):
    """Whitened rows, with the covariance of the inputs and what the step makes of it.

    Attributes
    ----------
    trained : bool
        As in `ColouredRows`.
    """

    trained: bool

    @cached_property
    def _rows(self) -> ColouredRows:
        return ColouredRows(self.protocol, self.trained)

    @cached_property
    def _in_the_limit(self) -> tuple[RowFunctions, NetworkState]:
        (c, r, gamma), norms = coloured_step(self.protocol).features(), self._rows.norm_variance
        state = NetworkState(c, r, gamma, covariance=np.diag([1.0, 1.0, norms / c**2]))
        return self._fitted(self._rows.columns), state

    def _fitted(self, functions: Callable[[Array], Array]) -> RowFunctions:
        """Fit functions of t."""
        bulk, most = coloured_step(self.protocol).bulk, _MOST if self.fineness == 1 else _FEWER
        # Halfway, on a logarithmic scale, between the least and the largest eigenvalue of D.
        scale = math.sqrt(bulk.min() * bulk.max())
        return RowFunctions.fitted(scale, functions, _TOLERANCE, most)

    @cached_property
    def _mean_row(self) -> RowFunctions:
        return self._fitted(self._rows.mean_row)

    def mean_row(self, at: Traces) -> Traces:
        """Return the traces by which the readout screens the rows' mean.

        Of rows that are longer or shorter, as `RowFunctions.with_norm` makes them.
        """
        c, before = float(self.isotropic.groups.c[0]), self._in_the_limit[1].bulk_variance
        added, stretch = max(c - before, 0.0), min(c / before, 1.0)
        own = 1 / (1 + added * at.t)
        of = self._mean_row.traces(stretch * at.t * own)
        f, slope = own * of.f, own**3 * stretch * of.df - added * own**2 * of.f
        return Traces(at.t, f, f, slope, slope)
