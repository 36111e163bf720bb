"""Quadratic forms of the resolvent of the rows' covariance: see `row_resolvent`.

They are taken in the m directions on which labels depend (the spike v, and the target's D
directions across it) and in a, the covariance of a row and its delta = |b|^2/c - 1. The resolvent
is a block of the inverse of a matrix, to whose second block delta adds one coordinate. Along all
other directions the self-energy determines this matrix; along the m directions, and where samples
act by the mean of the batch, it is corrected. theory.md section 13.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import block_diag

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
    means, own = _means(step, at)
    by_norm, p = means[:, :1], step.keeps_norm
    labels = _by_blocks(at, step.squares - np.eye(m)[..., None] * step.weight)
    labels = labels.transpose(0, 1, 3, 2, 4).reshape(-1, 2 * m, 2 * m)
    change = np.block([[labels, by_norm.swapaxes(1, 2)], [by_norm, -own[:, :1, :1]]])
    K = _uniform(step, sigma[m, m], at, before)
    K = K @ np.linalg.inv(np.eye(2 * m + 1) + change @ K)
    # The sources: v and those across it, the mean of the gradient, and a'.
    sources = np.zeros((t.size, m + 2, 2 * m + 1))
    sources[:, range(m), range(m)] = 1
    sources[:, m:, :-1], sources[:, m:, -1] = means[:, 1:], -own[:, 0, 1:]
    sources[:, m + 1, -1] += p / t
    result = sources @ K @ sources.swapaxes(1, 2)
    result[:, m:, m:] += own[:, 1:, 1:]
    # Delta after the step responds to the row along the labels' directions, to delta, and to the
    # rest.
    response = np.append(step.along @ step.norm, p)
    square = step.inverse_alpha0 * step.bulk_variance * (step.weight @ step.norm**2)
    result[:, m + 1, m + 1] += (response @ sigma @ response + square) / t
    turn = block_diag(step.turn, 1.0)
    resolvent = turn @ result @ turn.T
    return Forms(resolvent, (np.eye(m) - resolvent[:, :m, :m]) / t[:, None, None])


def _uniform(step: CovarianceStep, norm_variance: float, at: SelfEnergy, before: Forms) -> Array:
    """Compute the forms of the inverse if all directions were alike, (S, 2 m + 1, 2 m + 1).

    They are in v and those across it in the first block, then in the second, and in delta.
    """
    a, ratio, t, t0 = (x[:, None, None] for x in (at.a, at.ratio, at.t, at.before.t))
    own, m = (step.inverse_alpha0 * at.f * at.w)[:, None, None], before.filtered.shape[-1]
    R, column = before.resolvent[:, :m, :m], before.resolvent[:, :m, m:]
    norm = norm_variance - t0 * before.resolvent[:, m:, m:]
    filtered = t * np.block([[before.filtered, column], [column.swapaxes(1, 2), norm]])
    first = (R + own * filtered[:, :m, :m]) / a
    return np.block([[first, ratio * filtered[:, :m]], [ratio * filtered[:, :, :m], -filtered]])


def _means(step: CovarianceStep, at: SelfEnergy) -> tuple[Array, Array]:
    """Average the effects of samples, each reduced by its own effect on the rows.

    The effects are the response of b to delta, the gradient, and the batch's part of a'. They are
    returned as sources in both blocks, and as the forms that these sources leave out: shapes (S, 3,
    2 m) and (S, 3, 3).
    """
    functions = np.stack([step.by_norm, step.gradient, step.coupling, step.norm])
    places = np.zeros((at.t.size, 3, 2, 4))  # of these functions in sources and blocks
    places[:, range(3), 0, range(3)], places[:, 2, 1, 3] = 1, 1 / at.t
    traces = np.stack([at.f, at.mixed_trace, at.mixed_trace, -at.t * at.before.phi], axis=-1)
    seen = step.inverse_alpha0 * traces.reshape(-1, 1, 2, 2) @ places
    on_labels = functions[:, None] * step.along
    pairs = functions[:, None] * functions * step.weight
    means = places @ on_labels.sum(axis=-1)
    means -= np.einsum("sabky,sjbk->sjay", _by_blocks(at, on_labels), seen)
    own = np.einsum("siak,kl,sjal->sij", places, pairs.sum(axis=-1), seen)
    own -= np.einsum("siak,sabkl,sjbl->sij", seen, _by_blocks(at, pairs), seen)
    return means.reshape(at.t.size, 3, -1), own


def _by_blocks(at: SelfEnergy, values: Array) -> Array:
    """Average values, shape (..., N), times each block of the samples' parts: (S, 2, 2, ...)."""
    flat = values.reshape(-1, values.shape[-1]).T
    first, mixed, second = at.parts @ flat
    averages = at.t[:, None] * first, mixed, mixed, -(at.reach / at.t)[:, None] * second
    return np.stack(averages, axis=1).reshape(-1, 2, 2, *values.shape[:-1])
