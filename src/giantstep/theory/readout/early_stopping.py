"""The readout by gradient flow for a finite time: docs/theory/early-stopping.md.

Its predictions are a weighted sum of those at several ridges (`numerics.stopping_filter`), so that
its errors are sums over pairs of ridges of the covariance of two residuals. This follows from the
equations for the variance of one, with products in place of squares.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array, Indices, Mask
from giantstep.numerics.stopping_filter import stopping_filter
from giantstep.theory.features.bulk.pairs import pair_of
from giantstep.theory.readout.fixed_point import Points, Resolvent, solve_resolvent
from giantstep.theory.readout.square_loss import SquareLoss, SquareLossSolution


class StoppedSolution(NamedTuple):
    """Readouts stopped at some times, at S points.

    Attributes
    ----------
    values : dict of Array, shape (S, ...)
        Errors, overlaps and the largest residual, as in `Solution`; NaN what only a ridge has.
    coarse_error : Array, shape (S,)
        The test error by the coarse fit of the filter.
    q : Array, shape (S, K)
        (q1, q2) over the functions phi and the groups.
    power : Array, shape (S, N')
        As in `ResidualErrors`.
    at : Resolvent
        That of the ridges 1/t.
    """

    values: dict[str, Array]
    coarse_error: Array
    q: Array
    power: Array
    at: Resolvent


def solve_stopped(square_loss: SquareLoss, alpha: Array, times: Array) -> StoppedSolution:
    """Solve at S points (alpha, time), both of shape (S,); times > 0."""
    multiples, weights, first = stopping_filter()
    S, N = times.size, multiples.size
    ridges = (multiples / times[:, None]).ravel()
    at = solve_resolvent(square_loss.equations, np.repeat(alpha, N), ridges)
    solutions = square_loss.order_parameters(at)
    i, j = np.triu_indices(N)
    start = N * np.arange(S)[:, None]
    pairs = _pairs(square_loss, at, solutions, (start + i).ravel(), (start + j).ravel())
    products = weights[:, i] * weights[:, j] * np.where(i == j, 1, 2)
    error, power, q, residual = (x.reshape(S, i.size, *x.shape[1:]) for x in pairs)
    fine, coarse = products @ error.T
    power, q = (np.einsum("p,spn->sn", products[0], x) for x in (power, q))
    groups, equations = square_loss.of_groups(solutions), square_loss.equations
    linear = {"m": solutions.mean.m, "zeta": groups.zeta, "psi": groups.psi, "xi": groups.xi}
    split, nothing = equations.triangle.size, np.full_like(fine, np.nan)
    q1 = equations.B @ equations.triangle.unpack(q[:, :split]) @ equations.B.T
    worst = np.maximum(solutions.errors.residual, at.residual).reshape(S, N)
    converged: Mask = np.asarray(at.converged)
    values = {
        "test_error": fine,
        "training_error": power.sum(axis=-1),
        "leave_one_out": nothing,
        "gcv": nothing.copy(),
        **{k: np.einsum("n,sng->sg", weights[0], x.reshape(S, N, -1)) for k, x in linear.items()},
        "q1": q1,
        "q2": q[:, split:],
        "V1": np.full_like(q1, np.nan),
        "V2": np.full_like(q[:, split:], np.nan),
        "residual": np.maximum(worst.max(axis=1), residual.max(axis=1)),
        "iterations": at.iterations.reshape(S, N).max(axis=1).astype(float),
        "converged": converged.reshape(S, N).all(axis=1).astype(float),
    }
    return StoppedSolution(values, coarse, q, power, at.at(start[:, 0] + first))


def _pairs(
    square_loss: SquareLoss, at: Resolvent, solutions: SquareLossSolution, i: Indices, j: Indices
) -> tuple[Array, Array, Array, Array]:
    """Compute covariances of the residuals of ridges i and j, shape (P,).

    Returns
    -------
    test_error : Array, shape (P,)
    power : Array, shape (P, N')
    q : Array, shape (P, K)
        As in `StoppedSolution`.
    residual : Array, shape (P,)
    """
    equations, both = square_loss.equations, (i, j)
    V1_hat = equations.triangle.unpack(at.V_hat[:, : equations.triangle.size])
    pair = pair_of(*(equations.bulk.spike_response(V1_hat[k], at.V[k]) for k in both))
    squared = at.contraction[i] * at.contraction[j]
    points = Points.of(at.alpha[i], at.ridge[i], equations.beta)
    H = equations.hats_derivative(np.sqrt(squared), points)
    joint = replace(at.at(i), V=(at.V[i] + at.V[j]) / 2, T=pair.response, H=H)
    means = solutions.mean.at(i), solutions.mean.at(j)
    errors = square_loss.residual_errors(joint, squared, pair, means)
    return errors.test_error, errors.power, errors.q, errors.residual
