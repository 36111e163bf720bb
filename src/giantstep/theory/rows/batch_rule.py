"""A quadrature rule over the samples of a batch, with few nodes: for functions of the residual.

theory.md section 13.

The effect of a sample on the covariance of the rows is a smooth function of its projection kappa on
the spike and of its residual rho, times powers of its projections u on the target's directions
across the spike. At each kappa, rho has some distribution over u and the labels' noise: Gauss rules
for parts of that distribution replace thousands of nodes over u and noise by some dozens over rho.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array, RealOrComplex
from giantstep.numerics.quadrature import WIDE_PANELS, product_rule, split_rule, unit_edges
from giantstep.problems.readout import Vocabulary
from giantstep.theory.rows.label_path import label_path

# Nodes over each part of the distribution of rho. Before that, least and most nodes over the noise;
# functions with poles nearer than its standard deviation need more, by this factor.
NODES, _NOISE_NODES, _NEAR_POLES = 6, (32, 150), 12
# Beyond the most, panels over the noise are no narrower than this.
_NARROWEST = 0.01
# A rule with no more nodes than the first, and with noise than the second, is kept as it is.
_FEW, _MANY = 1000, 300_000
# A polynomial of less relative size vanishes on all values of rho, if these are real or complex.
_ROUNDING, _COMPLEX_ROUNDING = 1e-10, 1e-6


class ResidualRule(NamedTuple):
    """Nodes and weights of E[f_j(u) g(rho) | kappa], for J functions of which the first is one.

    Attributes
    ----------
    rho : array, shape (K, N)
    weights : array, shape (J, K, N)
    """

    rho: RealOrComplex
    weights: RealOrComplex


def residual_rule(
    noise_levels: Vocabulary,
    clean: RealOrComplex,
    weights: RealOrComplex,
    scale: float,
    nodes: int = NODES,
) -> ResidualRule:
    """Build the rule from nodes over u.

    Parameters
    ----------
    noise_levels : tuple of (variance, fraction)
    clean : array, shape (K, M)
        The residuals without noise. Where they are on `label_path`, so are those with noise.
    weights : array, shape (J, K or 1, M)
    scale : float
        Functions of rho may have poles as near to the real axis as this.
    nodes : int
        On each part of the distribution of rho.
    """
    on_path = np.iscomplexobj(clean)
    rules = [
        (z, math.sqrt(variance) * z, fraction * weight)
        for variance, fraction in noise_levels
        for z, weight in [WIDE_PANELS if on_path else _noise_rule(variance, scale)]
    ]
    z, noise, share = (np.concatenate(parts) for parts in zip(*rules, strict=True))
    if clean.size <= _FEW and clean.size * noise.size <= _MANY:
        rule = ResidualRule(clean, np.broadcast_to(weights, (len(weights), *clean.shape)))
    else:
        rule = split_gauss_rule(clean, weights, scale, nodes)
    if not noise.any():
        return rule
    rho, noisy = np.add.outer(rule.rho, noise), np.multiply.outer(rule.weights, share)
    if on_path:
        _, factors, rho = label_path(z, rho)
        noisy *= factors
    noisy = noisy.reshape(*noisy.shape[:2], -1)
    return split_gauss_rule(rho.reshape(len(rho), -1), noisy, scale, nodes)


def _noise_rule(variance: float, scale: float) -> tuple[Array, Array]:
    """Choose a Gauss rule or, where that would need too many nodes, panels."""
    if variance == 0:
        return np.zeros(1), np.ones(1)
    needed, (least, most) = (_NEAR_POLES / scale) ** 2 * variance / 2, _NOISE_NODES
    if needed > most:
        panel = max(2 * scale / math.sqrt(variance), _NARROWEST)
        return split_rule(unit_edges(np.empty(0), panel))
    points, weights = product_rule(1, max(round(needed), least))
    return points[:, 0], weights


def split_gauss_rule(
    values: RealOrComplex, weights: RealOrComplex, scale: float, nodes: int
) -> ResidualRule:
    """Compress rules to Gauss rules on parts: around zero, and from size to twice that size.

    Parameters
    ----------
    values : Array, shape (K, M)
    weights : Array, shape (J, K or 1, M)
    scale : float
        Twice the size of the part around zero.
    nodes : int
        On each part.
    """
    size = max(float(np.abs(values).max()), scale)
    edges = scale / 2 * 2.0 ** np.arange(math.ceil(math.log2(2 * size / scale)) + 1)
    inner: Array = np.concatenate([-edges[-2::-1], edges[:-1]])
    rules = [_gauss_rule(*part, nodes) for part in _parts(values, weights, inner)]
    return ResidualRule(*(np.concatenate(parts, axis=-1) for parts in zip(*rules, strict=True)))


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


def _gauss_rule(values: RealOrComplex, weights: RealOrComplex, count: int) -> ResidualRule:
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
    return ResidualRule(nodes, vectors[:, 0] * np.einsum("jks,ksn->jkn", on_basis, vectors))
