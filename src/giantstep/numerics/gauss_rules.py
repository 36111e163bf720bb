"""Rules of thousands of nodes compressed to Gauss rules, by the Lanczos method.

A rule here has J sets of weights, for averages of J functions times any smooth function of the
nodes. The first set is that of the distribution itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from giantstep.arrays import Array, RealOrComplex

# A polynomial of less relative size vanishes on all values, if these are real or complex.
_ROUNDING, _COMPLEX_ROUNDING = 1e-10, 1e-6


def split_gauss_rule(
    values: RealOrComplex, weights: RealOrComplex, scale: float, nodes: int
) -> tuple[RealOrComplex, RealOrComplex]:
    """Compress rules to Gauss rules on parts: around zero, and from size to twice that size.

    Parameters
    ----------
    values : Array, shape (K, M)
    weights : Array, shape (J, K or 1, M)
    scale : float
        Twice the size of the part around zero.
    nodes : int
        On each part.

    Returns
    -------
    nodes, weights : array, shape (K, N) and (J, K, N)
    """
    size = max(float(np.abs(values).max()), scale)
    edges = scale / 2 * 2.0 ** np.arange(math.ceil(math.log2(2 * size / scale)) + 1)
    inner: Array = np.concatenate([-edges[-2::-1], edges[:-1]])
    rules = [_gauss_rule(*part, nodes) for part in _parts(values, weights, inner)]
    of_parts, their_weights = zip(*rules, strict=True)
    return np.concatenate(of_parts, axis=-1), np.concatenate(their_weights, axis=-1)


def _parts(
    values: RealOrComplex, weights: RealOrComplex, inner_edges: Array
) -> Iterator[tuple[RealOrComplex, RealOrComplex]]:
    """Yield the values between edges with their weights; rows with fewer are filled up with zeros.

    Copying the values of a part is far faster than giving all others the weight zero.
    """
    size = np.copysign(np.abs(values), values.real)
    part = np.searchsorted(inner_edges, size).astype(np.int8)
    rows = values.shape[1] * np.arange(len(values))[:, None]
    order = np.argsort(part, axis=1, kind="stable")
    counts = np.stack([(part == k).sum(axis=1) for k in range(inner_edges.size + 1)], axis=1)
    starts = np.cumsum(counts, axis=1) - counts
    flat, shared = weights.reshape(len(weights), -1), weights.shape[1] == 1
    for start, count in zip(starts.T, counts.T, strict=True):
        place = np.arange(count.max())
        if place.size:
            inside = place < count[:, None]
            index = order.take(np.where(inside, rows + start[:, None] + place, 0))
            of_weights = flat.take(index if shared else rows + index, axis=1)
            yield values.take(rows + index) * inside, of_weights * inside


def _gauss_rule(
    values: RealOrComplex, weights: RealOrComplex, count: int
) -> tuple[RealOrComplex, RealOrComplex]:
    """Compress K rules to Gauss rules, by the Lanczos method; those without weight remain so."""
    total = weights[0].sum(axis=1)[:, None]
    weight = np.divide(weights[0], total, where=total != 0, out=np.zeros_like(weights[0]))
    on_axis = not np.iscomplexobj(values)
    rounding = _ROUNDING if on_axis else _COMPLEX_ROUNDING
    alpha, beta, basis = [], [], []
    before, current = np.zeros_like(values), np.ones_like(values)
    unit, off = np.sqrt(np.einsum("ks,ks,ks->k", weight, values, values)), np.zeros(len(values))
    for _ in range(count):
        basis.append(current)
        rest = values * current
        alpha.append(np.einsum("ks,ks,ks->k", weight, rest, current))
        rest -= alpha[-1][:, None] * current + off[:, None] * before
        for other in basis:  # where few values differ, what is left is rounding
            rest -= np.einsum("ks,ks,ks->k", weight, rest, other)[:, None] * other
        off = np.sqrt(np.einsum("ks,ks,ks->k", weight, rest, rest))
        off = np.where(np.abs(off) > rounding * np.abs(unit), off, 0.0)
        beta.append(off)
        norm = off[:, None]
        before, current = current, np.divide(rest, norm, where=norm != 0, out=np.zeros_like(rest))
    jacobi = np.zeros((len(values), count, count), dtype=values.dtype)
    diagonal, off_diagonal = np.arange(count), np.stack(beta[:-1], axis=1)
    jacobi[:, diagonal, diagonal] = np.stack(alpha, axis=1)
    jacobi[:, diagonal[1:], diagonal[:-1]] = off_diagonal
    jacobi[:, diagonal[:-1], diagonal[1:]] = off_diagonal
    nodes, vectors = np.linalg.eigh(jacobi) if on_axis else np.linalg.eig(jacobi)
    if not on_axis:
        vectors /= np.sqrt(np.sum(vectors**2, axis=1, keepdims=True))
    on_basis = np.einsum("skm,jkm->jks", np.stack(basis), weights)
    return nodes, vectors[:, 0] * np.einsum("jks,ksn->jkn", on_basis, vectors)
