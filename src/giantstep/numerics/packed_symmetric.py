"""Symmetric matrices packed into vectors: the upper triangle, row by row."""

from __future__ import annotations

from functools import cache

import numpy as np

from giantstep.arrays import RealOrComplex


class Triangle:
    """The upper triangle of symmetric matrices of some order.

    Attributes
    ----------
    order : int
    size : int
        Number of entries P = order (order + 1)/2.
    rows, columns : integer arrays, shape (P,)
    multiplicity : Array, shape (P,)
        How often an entry occurs in the matrix: once on the diagonal, twice off it.
    """

    def __init__(self, order: int) -> None:
        self.order = order
        self.rows, self.columns = np.triu_indices(order)
        self.multiplicity = np.where(self.rows == self.columns, 1.0, 2.0)
        self.size = self.rows.size

    def pack(self, matrices: RealOrComplex) -> RealOrComplex:
        """Return the triangles, shape (..., P), of matrices of shape (..., order, order)."""
        return matrices[..., self.rows, self.columns]

    def unpack(self, vectors: RealOrComplex) -> RealOrComplex:
        """Return the symmetric matrices of triangles, the first entries of vectors (..., K)."""
        matrices = np.empty((*vectors.shape[:-1], self.order, self.order), dtype=vectors.dtype)
        matrices[..., self.rows, self.columns] = vectors[..., : self.size]
        matrices[..., self.columns, self.rows] = vectors[..., : self.size]
        return matrices


# The triangle of each order is made once.
triangle_of = cache(Triangle)
