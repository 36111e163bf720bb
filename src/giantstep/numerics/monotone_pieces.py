"""The pieces of the real line on which a function is monotone, and its inverse on each."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from giantstep.arrays import Array, Mask
from giantstep.numerics.function_table import ScalarFunction
from giantstep.numerics.quadrature import split_rule, unit_edges

# End of the pieces on either side: N(0, 1) has a mass of 6e-15 beyond.
REACH = 7.8
# Number of places at which the sign of a function's slope is computed.
_SEEN = 1203
# Panels end at these distances from turning points and kinks; nodes of less weight are left out.
_GRADED, _NEGLIGIBLE = 2.0 ** -np.arange(11.0), 1e-11


def _root(values: Callable[[Array], Array], low: Array, high: Array, y: Array | float) -> Array:
    """Find where a function that is monotone between low and high has the values y, or else 0."""
    from scipy.optimize.elementwise import find_root  # many modules, for this alone

    return np.nan_to_num(find_root(lambda z, y: values(z) - y, (low, high), args=(y,)).x)


class Pieces:
    """The intervals, shape (P, 2), on which a function is monotone, or constant."""

    def __init__(self, function: ScalarFunction) -> None:
        self._function = function
        found: list[tuple[float, float]] = []
        cuts = np.unique(np.clip([-REACH, *function.kinks, REACH], -REACH, REACH))
        for start, end in pairwise(cuts.tolist()):
            z = np.linspace(start, end, _SEEN)[1:-1]
            slope = function.derivative(z) + 0 * z
            z, slope = z[slope != 0], slope[slope != 0]
            turns = np.flatnonzero(slope[:-1] * slope[1:] < 0)
            places = _root(function.derivative, z[turns], z[turns + 1], 0.0)
            found += pairwise([start, *places.tolist(), end])
        self.ends = np.array(found)
        # Functions may jump at the ends.
        self._inner = self.ends + 1e-13 * np.diff(self.ends) * [1, -1]
        self.values = function.value(self._inner)

    def holding(self, z: Array, chosen: Mask) -> Mask:
        """Tell which places are on one of the chosen pieces."""
        low, high = self.ends[chosen].T[..., None]
        return np.any((low < z) & (z < high), axis=0)

    def preimages(self, y: Array) -> tuple[Array, Array]:
        """Find the places at which the function is y, one on each piece.

        Returns
        -------
        z, log_density : Array, shape (*y.shape, P)
            The latter is -log |f'(z)|, and -inf on pieces that do not have the value.
        """
        y = y[..., None]
        start, end = self._inner.T
        z = _root(self._function.value, start, end, y)
        low, high = np.sort(self.values).T
        inside = (y >= low) & (y <= high) & (low < high)
        slope = np.where(inside, self._function.derivative(z), np.inf)
        return z, -np.log(np.abs(slope))

    def graded_rule(self, fineness: float) -> tuple[Array, Array]:
        """Build a rule under N(0, 1), finer where pieces end, and where f is +- its value there.

        For odd and even functions it covers one half.
        """
        near = self.values[np.abs(self.ends) < REACH]
        z, logs = self.preimages(np.concatenate([near, -near]))
        places = np.concatenate([self.ends.ravel(), z[np.isfinite(logs)]]).round(11)
        edges = np.unique(places) + np.concatenate([-_GRADED, [0], _GRADED])[:, None]
        z, weights = split_rule(unit_edges(np.unique(edges)), fineness)
        half = self._function.parity != "none"
        kept = (weights > _NEGLIGIBLE) & (np.abs(z) < REACH) & ((z > 0) | (not half))
        return z[kept], weights[kept] * (2 if half else 1)
