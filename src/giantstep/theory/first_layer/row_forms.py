"""Quadratic forms of the resolvent of the rows' covariance: see `row_resolvent`.

They are taken in the m directions on which labels depend (the spike v, and the target's D
directions across it) and in a, the covariance of a row and its |b|^2/c - 1. The resolvent is a
block of the inverse of a matrix. Along all other directions the self-energy determines this matrix;
along the m directions it is corrected. Mean vectors of the batch are sources of their own.
theory.md section 13.
"""

from __future__ import annotations

import numpy as np

from giantstep.arrays import Array
from giantstep.theory.first_layer.covariance_step import CovarianceStep
from giantstep.theory.first_layer.row_resolvent import SelfEnergy
from giantstep.theory.rows.row_functions import Forms


def forms_after(step: CovarianceStep, sigma: Array, at: SelfEnergy, before: Forms) -> Forms:
    """Compute the forms after a step from those before.

    Parameters
    ----------
    step : CovarianceStep
    sigma : Array, shape (m + 1, m + 1)
        Sigma before the step.
    at : SelfEnergy
        As `solve_self_energy` finds it.
    before : Forms
        Those before the step, at `at.before.t`.
    """
    t, m = at.t, len(step.along)
    # The vectors: v and those across it, the mean of the gradient, L a, h, and what else is in a'.
    gradient, stretched, longer, rest = range(m, m + 4)
    K = _projected(_uniform(step, at, before), at, step)
    sources = np.zeros((t.size, m + 4, 2 * m + 1))
    sources[:, range(m), range(m)] = sources[:, stretched, -1] = 1
    places = [gradient, longer, rest]
    sources[:, places, :-1], own = _means(step, at)
    result = sources @ K @ sources.transpose(0, 2, 1)
    rows, columns = np.ix_(places, places)
    result[:, rows, columns] += own
    along = step.along @ step.norm
    square = step.inverse_batch * step.bulk_variance * (step.weight @ step.norm**2)
    result[:, rest, rest] += (along @ sigma[:m, :m] @ along + square) / t
    result[:, stretched, rest] += along @ sigma[:m, m] / t
    result[:, rest, stretched] += along @ sigma[:m, m] / t
    # The effect of longer rows: the terms with h.
    pair, own_norm = [stretched, longer], np.array([[-sigma[m, m], 1], [1, 0]]) / t[:, None, None]
    both = result[:, pair]
    result = result - both.swapaxes(1, 2) @ np.linalg.inv(own_norm + both[:, :, pair]) @ both
    p = step.keeps_norm
    turn = np.zeros((m + 1, m + 4))
    turn[:m, : m + 1] = step.turn
    turn[m, m + 1 :] = p, p * sigma[m, m] + along @ sigma[:m, m], 1
    resolvent = turn @ result @ turn.T
    return Forms(resolvent, (np.eye(m) - resolvent[:, :m, :m]) / t[:, None, None])


def _uniform(step: CovarianceStep, at: SelfEnergy, before: Forms) -> Array:
    """Compute the forms of the inverse in its sources as if all directions were alike.

    The sources are v and those across it in the first block, then in the second, and the vector
    a/(t C) in the second; shape (S, 2 m + 1, 2 m + 1). The form in the last source has
    `a C^-1 a/t` added.
    """
    a, ratio, t = (each[:, None, None] for each in (at.a, at.b / at.a, at.t))
    own = (step.inverse_batch * at.f * at.w)[:, None, None]
    m, filtered = before.filtered.shape[-1], t * before.filtered
    R, column = before.resolvent[:, :m, :m], before.resolvent[:, :m, m:]
    row, last = column.swapaxes(1, 2), before.resolvent[:, m:, m:]
    return np.block([
        [(R + own * filtered) / a, ratio * filtered, ratio * column],
        [ratio * filtered, -filtered, -column],
        [ratio * row, -row, at.before.t[:, None, None] / t * last],
    ])  # fmt: skip


def _projected(K: Array, at: SelfEnergy, step: CovarianceStep) -> Array:
    """Correct the inverse in the directions that labels depend on."""
    m = len(step.along)
    change = _by_blocks(at, step.squares - np.eye(m)[..., None] * step.weight)
    change = change.transpose(0, 1, 3, 2, 4).reshape(-1, 2 * m, 2 * m)
    update = change @ np.linalg.inv(np.eye(2 * m) + K[:, :-1, :-1] @ change)
    return K - K[:, :, :-1] @ update @ K[:, :-1]


def _means(step: CovarianceStep, at: SelfEnergy) -> tuple[Array, Array]:
    """Compute the sources of the means of the batch, and their forms beyond these sources.

    The means are those of the gradient, h, and the rest of a': shapes (S, 3, 2 m), (S, 3, 3).
    """
    functions = np.stack([step.gradient, step.by_norm, step.pull, step.norm])
    block, joined = [0, 0, 0, 1], np.eye(3)[[0, 1, 2, 2]]  # the last mean has parts in both
    units = np.ones((at.t.size, 4))
    units[:, 3] = 1 / at.t
    traces = np.stack([at.f, at.mixed_trace, at.mixed_trace, -at.t * at.before.phi], -1)
    gamma = step.inverse_batch * traces.reshape(-1, 2, 2)
    on_labels = functions[:, None] * step.along
    pairs = functions[:, None] * functions * step.weight
    felt = -np.einsum("sacjy,scj->sajy", _by_blocks(at, on_labels), gamma[:, :, block])
    felt[:, block, range(4)] += on_labels.sum(axis=-1)
    sources = np.einsum("sajy,sj,jp->spay", felt, units, joined)
    seen = gamma[:, block]
    own = seen[:, :, block] * pairs.sum(axis=-1)
    own -= np.einsum("sia,sacij,sjc->sij", seen, _by_blocks(at, pairs), seen)
    own = joined.T @ (own * units[:, :, None] * units[:, None]) @ joined
    return sources.reshape(at.t.size, 3, -1), own


def _by_blocks(at: SelfEnergy, values: Array) -> Array:
    """Average values, shape (..., N), times each block of the samples' parts: (S, 2, 2, ...)."""
    flat = values.reshape(-1, values.shape[-1]).T
    first, mixed, second = at.parts @ flat
    averages = at.t[:, None] * first, mixed, mixed, -(at.reach / at.t)[:, None] * second
    return np.stack(averages, axis=1).reshape(-1, 2, 2, *values.shape[:-1])
