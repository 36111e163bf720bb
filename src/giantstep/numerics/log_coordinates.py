"""Coordinates in which symmetric matrices and vectors with positive entries stay positive."""

from __future__ import annotations

from functools import cache

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.linear_systems import TINY, solve_small
from giantstep.numerics.packed_symmetric import triangle_of


class LogCoordinates:
    """Coordinates of a symmetric matrix, packed as by `Triangle`, followed by a vector.

    They are the logarithms of the matrix's diagonal, its correlations (entries off the diagonal
    over the geometric mean of the two on it), and the logarithms of the vector.

    Parameters
    ----------
    order : int
        Of the matrix.
    extra : int
        Length of the vector.

    Attributes
    ----------
    multiplicity : Array, shape (K,)
        How often an entry occurs in matrix and vector.
    logarithmic, correlated : integer arrays
        Entries whose coordinates are logarithms, and those whose coordinates are correlations.
    """

    def __init__(self, order: int, extra: int) -> None:
        triangle = triangle_of(order)
        self.multiplicity = np.concatenate([triangle.multiplicity, np.ones(extra)])
        self.logarithmic = np.flatnonzero(self.multiplicity == 1)
        self.correlated = np.flatnonzero(self.multiplicity == 2)
        i, j = triangle.rows[self.correlated], triangle.columns[self.correlated]
        position = triangle.rows * order + triangle.columns
        # The two entries of the diagonal that a correlation is between.
        self._ends = np.searchsorted(position, [i * order + i, j * order + j])

    def of(self, values: Array) -> Array:
        """Compute the coordinates of values, shape (S, K)."""
        positive, means = self._sizes(values)
        coordinates = np.log(positive)
        coordinates[:, self.correlated] = values[:, self.correlated] / means
        return coordinates

    def move(self, values: Array, step: Array) -> Array:
        """Go from some values along a step in coordinates."""
        positive, means = self._sizes(values)
        moved = positive * np.exp(step)
        correlation = values[:, self.correlated] / means + step[:, self.correlated]
        first, second = self._ends
        moved[:, self.correlated] = correlation * np.sqrt(moved[:, first] * moved[:, second])
        return moved

    def derivative(self, values: Array) -> Array:
        """Compute the derivative of the values by their coordinates, shape (S, K, K)."""
        positive, means = self._sizes(values)
        derivative = np.zeros((*values.shape, values.shape[-1]))
        logarithmic, correlated = self.logarithmic, self.correlated
        derivative[:, logarithmic, logarithmic] = positive[:, logarithmic]
        derivative[:, correlated, correlated] = means
        for end in self._ends:
            derivative[:, correlated, end] = values[:, correlated] / 2
        return derivative

    def jacobian(self, derivative: Array, values: Array, mapped: Array) -> Array:
        """Turn d mapped/d values into the derivative of coordinates by coordinates."""
        if not self.correlated.size:  # both are diagonal
            (values, _), (mapped, _) = self._sizes(values), self._sizes(mapped)
            return derivative * values[:, None] / mapped[:, :, None]
        return solve_small(self.derivative(mapped), derivative @ self.derivative(values))

    def _sizes(self, values: Array) -> tuple[Array, Array]:
        """Return positive values, and the geometric means that correlations divide by."""
        positive = np.maximum(values, TINY)
        first, second = self._ends
        return positive, np.sqrt(positive[:, first] * positive[:, second])


# Coordinates are made once for each pair of sizes.
log_coordinates = cache(LogCoordinates)
