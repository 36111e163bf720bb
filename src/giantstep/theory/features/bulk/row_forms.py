"""Quadratic forms of the resolvent of the rows' covariance: see `row_resolvent`.

They are in the spike v, the direction across it, and a, the covariance of a row and its
|b|^2/c - 1. The matrix whose inverse holds the resolvent is given by the self-energy where labels
have no say, and corrected in the two directions that they depend on; mean vectors of the batch are
sources of their own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array
from giantstep.theory.features.bulk.covariance_step import CovarianceStep
from giantstep.theory.features.bulk.row_resolvent import SelfEnergy

# The sources: v and the direction across it in the first block and in the second, and the vector
# a/(t C) in the second.
_FIRST, _SECOND, _NORMS = slice(0, 2), slice(2, 4), 4
_LABELS = slice(0, 4)
# The vectors: v, across, the gradient, L a, h, and what else is in a'.
_GRADIENT, _STRETCHED, _LONGER, _REST = range(2, 6)


class Forms(NamedTuple):
    """Quadratic forms at some t, in the spike v, the direction across it, and a.

    Attributes
    ----------
    resolvent : Array, shape (S, 3, 3)
        Of `(1 + t C)^-1`.
    filtered : Array, shape (S, 2, 2)
        Of `C (1 + t C)^-1`, without a.
    """

    resolvent: Array
    filtered: Array


def forms_after(step: CovarianceStep, at: SelfEnergy, before: Forms) -> Forms:
    """Compute the forms after a step from those before.

    Parameters
    ----------
    step : CovarianceStep
    at : SelfEnergy
        As `solve_self_energy` finds it.
    before : Forms
        Those before the step, at `at.before.t`.
    """
    samples, sigma = step.samples, step.covariance
    single = np.stack([at.first, at.mixed, at.mixed, at.second], -1)
    single = single.reshape(*at.first.shape, 2, 2)
    K = _projected(_uniform(step, at, before), single, step)
    traces = _block_traces(step, at)
    zero = np.zeros_like(samples.norm)
    means = {
        _GRADIENT: (samples.gradient, zero),
        _LONGER: (samples.by_norm, zero),
        _REST: (samples.pull, samples.norm),
    }
    t = at.t
    sources = np.zeros((t.size, 6, 5))
    sources[:, 0, 0] = sources[:, 1, 1] = sources[:, _STRETCHED, _NORMS] = 1
    vectors, screened = {}, {}
    for place, (first, second) in means.items():
        vector = np.stack([np.broadcast_to(first, at.first.shape), second / t[:, None]], -1)
        vectors[place] = vector
        screened[place] = vector @ traces  # Gamma is symmetric
        one, two = screened[place][..., :1], screened[place][..., 1:]
        felt = vector - (single[..., 0] * one + single[..., 1] * two)
        on_labels = (samples.along @ felt).transpose(0, 2, 1)
        sources[:, place, _LABELS] = on_labels.reshape(-1, 4)
        screened[place] = felt @ traces
    result = sources @ K @ sources.transpose(0, 2, 1)
    for i, vector in vectors.items():
        weighted = (vector * samples.weight[:, None]).reshape(t.size, 1, -1)
        for j, other in screened.items():
            result[:, i, j] += (weighted @ other.reshape(t.size, -1, 1))[:, 0, 0]
    along = samples.along @ samples.norm
    square = step.inverse_batch * step.bulk_variance * (samples.weight @ samples.norm**2)
    result[:, _REST, _REST] += (along @ sigma[:2, :2] @ along + square) / t
    result[:, _STRETCHED, _REST] += along @ sigma[:2, 2] / t
    result[:, _REST, _STRETCHED] += along @ sigma[:2, 2] / t
    result = _with_longer_rows(result, sigma[2, 2], t)
    p = step.keeps_norm
    turn = np.zeros((3, 6))
    turn[:2, :3] = step.turn
    turn[2, 3:] = p, p * sigma[2, 2] + along @ sigma[:2, 2], 1
    resolvent = turn @ result @ turn.T
    return Forms(resolvent, (np.eye(2) - resolvent[:, :2, :2]) / t[:, None, None])


def _uniform(step: CovarianceStep, at: SelfEnergy, before: Forms) -> Array:
    """Compute the forms of the inverse in the sources, if all directions were alike: (S, 5, 5).

    That in the last source has `a C^-1 a/t` added.
    """
    a, b, t = at.a[:, None, None], at.b[:, None, None], at.t[:, None, None]
    second = (step.inverse_batch * at.f * at.w)[:, None, None]
    R, filtered = before.resolvent, before.filtered
    K = np.empty((len(R), 5, 5))
    K[:, _FIRST, _FIRST] = (R[:, :2, :2] + second * t * filtered) / a
    K[:, _FIRST, _SECOND] = K[:, _SECOND, _FIRST] = b / a * t * filtered
    K[:, _SECOND, _SECOND] = -t * filtered
    K[:, _FIRST, _NORMS] = K[:, _NORMS, _FIRST] = (b / a)[:, 0] * R[:, :2, 2]
    K[:, _SECOND, _NORMS] = K[:, _NORMS, _SECOND] = -R[:, :2, 2]
    K[:, _NORMS, _NORMS] = at.before.t / at.t * R[:, 2, 2]
    return K


def _projected(K: Array, single: Array, step: CovarianceStep) -> Array:
    """Correct the inverse in the directions that labels depend on."""
    squares = np.stack([step.samples.squares[k] for k in (0, 1, 1, 2)])
    blocks = single.reshape(*single.shape[:2], 4).transpose(0, 2, 1)
    moments = (blocks @ squares.T).reshape(-1, 2, 2, 2, 2)
    mean = (blocks @ step.samples.weight).reshape(-1, 2, 2)
    change = moments - mean[..., None, None] * np.eye(2)
    change = change.transpose(0, 1, 3, 2, 4).reshape(-1, 4, 4)
    update = change @ np.linalg.inv(np.eye(4) + K[:, _LABELS, _LABELS] @ change)
    corrected: Array = K - K[:, :, _LABELS] @ update @ K[:, _LABELS]
    return corrected


def _block_traces(step: CovarianceStep, at: SelfEnergy) -> Array:
    """Compute Gamma: the traces of the blocks of the inverse over n0, shape (S, 2, 2)."""
    traces = np.stack([at.f, at.mixed_trace, at.mixed_trace, -at.t * at.before.phi], -1)
    gamma: Array = step.inverse_batch * traces.reshape(-1, 2, 2)
    return gamma


def _with_longer_rows(forms: Array, norm_variance: float, t: Array) -> Array:
    """Add to C' what longer rows do: the terms with h."""
    places = [_STRETCHED, _LONGER]
    own = np.array([[-norm_variance, 1], [1, 0]]) / t[:, None, None]
    inner = np.linalg.inv(own + forms[:, places][:, :, places])
    added: Array = forms - forms[:, :, places] @ inner @ forms[:, places]
    return added
