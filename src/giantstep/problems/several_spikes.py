"""Spikes of larger rank, W + U V^T (Appendix C.8): each group of neurons has a spike of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from giantstep.arrays import Array
from giantstep.problems.domains import SPIKE_STRENGTH
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.validation import refusal

# Eigenvalues of a Gram matrix below this fraction of the largest are rounding, and how far the
# target's overlaps may be from those of a vector with such spikes.
_RANK, _CONSISTENT = 1e-11, 1e-6


def several_spikes(gram: ArrayLike, overlaps: ArrayLike, /, **parameters: Any) -> SpikedFeatures:
    """Create spiked features from what the spikes of groups of neurons have in common.

    Row i of group g is `U_g + b_i`, where the bulk row `b_i` has the squared norm
    `bulk_variance[g]`. Nothing else of the spikes matters.

    Parameters
    ----------
    gram : array, shape (G, G)
        Overlaps U_g . U_h of the spikes, of rank three at most.
    overlaps : array, shape (G,)
        Overlaps theta . U_g with the target's direction.
    **parameters
        Those of `SpikedFeatures`, without `spike_strength`, `alignment` and `further_spikes`.

    Raises
    ------
    InvalidParametersError
        If no vectors have these overlaps, or with every value that is out of its domain.

    Examples
    --------
    >>> from giantstep import solve, several_spikes
    >>> relu = several_spikes(
    ...     [[1.0, -0.5], [-0.5, 2.0]], [-0.6, 1.1], activation="relu", target="sign",
    ...     bulk_variance=1.2, beta=1, fraction=(0.5, 0.5),
    ... )
    >>> relu.beside.shape  # further directions, of two groups
    (2, 1)
    >>> solve(relu, alpha=2, ridge=0.1).test_error.round(3).item()
    0.732
    """
    t, Q = np.asarray(overlaps, dtype=float), np.asarray(gram, dtype=float)
    bounded = Q.shape == (t.size,) * 2 and t.ndim == 1 and np.abs(Q).max() <= SPIKE_STRENGTH.upper
    if not bounded or not np.allclose(Q, Q.T) or np.linalg.eigvalsh(Q)[0] < -_CONSISTENT:
        raise refusal("gram", gram, "a Gram matrix, with a row for each of the target's overlaps")
    alignment, u = spike_coordinates(t, Q)
    if np.abs(alignment * u[:, 0] - t).max() > _CONSISTENT or alignment > 1 + _CONSISTENT:
        allowed = "those of a unit vector with spikes of this Gram matrix"
        raise refusal("overlaps", overlaps, allowed)
    return SpikedFeatures(
        spike_strength=tuple(u[:, 0]),
        alignment=min(alignment, 1.0),
        further_spikes=tuple(map(tuple, u[:, 1:])),
        **parameters,
    )


def spike_coordinates(overlaps: Array, gram: Array) -> tuple[float, Array]:
    """Find coordinates of spikes on orthonormal directions, the first along the target's part.

    Parameters
    ----------
    overlaps : Array, shape (G,)
    gram : Array, shape (G, G)

    Returns
    -------
    alignment : float
        Norm of the target's part in the span of the spikes.
    coordinates : Array, shape (G, r)
        The target overlaps with the first direction alone; r is the rank, or 1 without a spike.
    """
    values, vectors = np.linalg.eigh(gram)
    kept = values > _RANK * max(float(values[-1]), 1e-3)
    if not kept.any():
        return 0.0, np.zeros((overlaps.size, 1))
    u = vectors[:, kept] * np.sqrt(values[kept])
    gamma = overlaps @ vectors[:, kept] / np.sqrt(values[kept])
    size = float(np.linalg.norm(gamma))
    if size > _RANK:
        turn = np.linalg.qr(np.column_stack([gamma, np.eye(gamma.size)]))[0]
        u = u @ turn * np.where(np.arange(gamma.size) == 0, np.sign(turn[:, 0] @ gamma), 1.0)
    # Further directions in the order of the groups, so that nearby spikes have nearby coordinates.
    further = np.linalg.qr(u[:, 1:].T)[1].T
    largest = np.abs(further).argmax(axis=0)
    return size, np.hstack([u[:, :1], further * np.sign(further[largest, range(len(largest))])])
