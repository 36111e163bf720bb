"""Readouts of any convex loss, theory.md section 6: Newton steps, each a weighted ridge regression.

With signed rows X (those of Phi, times the labels for a loss of margins) the readout is
`a = X^T f/ridge`, where f, one a sample, is the loss's pull on its prediction. For a clipped loss f
minimises a quadratic in a box, which an interior-point method does (Mehrotra's predictor and
corrector); logistic loss is smooth, and minimised by Newton's. Both start afresh at each ridge and
sample size, so that a readout does not depend on which others are asked for.

A fit ends when it is certified: by strong convexity `ridge/2 |a - a*|^2` is at most the duality
gap, and `ridge |a - a*|` at most the gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from giantstep.activations import Array, Reals
from giantstep.faults import Fault, InvalidParametersError
from giantstep.losses import ClippedLoss, LogisticLoss, Loss
from giantstep.ridge import Fit

# How far a readout may be from the minimum, over its norm: rounding allows it from ridges of 1e-5.
ACCURACY = 1e-5
# Steps until a fit is given up; 5 to 30 are usual.
_STEPS = 100
# With more samples a feature than this the features' moments are factorised, not the kernel.
KERNEL_UP_TO = 1.5
# How much of the way to the edge of the box a step may go, and how soft the system may become, over
# the kernel's diagonal: less, and rounding spoils the steps; more, and they fall short.
_INSIDE, _SOFTEST = 0.99, 1e-10
# The decrease that a step has to bring, of what its slope promises, and what rounding may hide.
_DECREASE, _ROUNDING = 1e-4, 1e-13
# Curvatures of the logistic loss below this are taken to be it.
_FLAT = 1e-12

Solver = Callable[[Array, Array], tuple[Array, Array]]


class ConvexPath:
    """The readout `argmin sum loss(y, Phi a) + ridge/2 |a|^2` as rows are added to Phi.

    All rows are kept. Fits are `ridge.ReadoutPath`'s; one that cannot be certified raises
    `InvalidParametersError`.

    Parameters
    ----------
    loss : Loss
    """

    def __init__(self, loss: Loss) -> None:
        self.loss = loss
        self._features: list[Reals] = []
        self._labels: list[Array] = []

    def extend(self, features: Reals, labels: Array) -> None:
        """Add a block of samples: features of shape (n, p)."""
        self._features.append(features)
        self._labels.append(labels)

    def fit(self, count: int) -> Callable[[tuple[float, ...]], Fit]:
        """Give what fits the first `count` samples; see `ReadoutPath`."""
        features, labels = list(self._features), np.concatenate(self._labels)[:count]
        return lambda ridges: _fit(self.loss, features, labels, ridges)


def _fit(loss: Loss, blocks: list[Reals], labels: Array, ridges: tuple[float, ...]) -> Fit:
    """Fit the first samples of the blocks, as many as there are labels."""
    rows = np.empty((labels.size, blocks[0].shape[1]))
    start = 0
    for block in blocks:
        rows[start : start + len(block)] = block[: labels.size - start]
        start += len(block)
    signs = labels if loss.margin else np.ones_like(labels)
    rows *= signs[:, None]
    kernel = rows @ rows.T if labels.size <= KERNEL_UP_TO * rows.shape[1] else None
    fitted = [_readout(loss, _System(rows, kernel, ridge), labels) for ridge in ridges]
    predictions = [signs * (rows @ readout) for readout in fitted]
    return Fit(
        np.stack(fitted),
        np.array([np.mean((labels - found) ** 2) for found in predictions]),
        np.array([np.mean(loss.value(labels, found)) for found in predictions]),
    )


class _System(NamedTuple):
    """Signed rows X and the ridge; `kernel` is `X X^T`, or None where it is not to be used."""

    rows: Array
    kernel: Array | None
    ridge: float

    def solver(self, softness: Array) -> Solver:
        """Give what solves `X a + softness f = left`, `ridge a - X^T f = right` for a and f."""
        return self._moments(softness) if self.kernel is None else self._kernel(softness)

    def _kernel(self, softness: Array) -> Solver:
        """Eliminate a."""
        rows, ridge = self.rows, self.ridge
        assert self.kernel is not None
        factor = _factor(self.kernel / ridge, softness)

        def solve(left: Array, right: Array) -> tuple[Array, Array]:
            f = cho_solve(factor, left - rows @ right / ridge, check_finite=False)
            return (f @ rows + right) / ridge, f

        return solve

    def _moments(self, softness: Array) -> Solver:
        """Eliminate f."""
        rows = self.rows
        scaled = rows / np.sqrt(softness)[:, None]
        factor = _factor(scaled.T @ scaled, self.ridge)

        def solve(left: Array, right: Array) -> tuple[Array, Array]:
            a = cho_solve(factor, (left / softness) @ rows + right, check_finite=False)
            return a, (left - rows @ a) / softness

        return solve


def _factor(matrix: Array, diagonal: Array | float) -> tuple[Array, bool]:
    """Factorise a symmetric matrix, with a diagonal added, in its place."""
    matrix[np.diag_indices_from(matrix)] += diagonal
    # Its transpose is the same, in the order that LAPACK can overwrite.
    return cho_factor(matrix.T, overwrite_a=True, check_finite=False)  # type: ignore[no-any-return]


def _readout(loss: Loss, system: _System, labels: Array) -> Array:
    """Fit one readout.

    Raises
    ------
    InvalidParametersError
        If it cannot be certified.
    """
    try:
        if isinstance(loss, LogisticLoss):
            found = _newton(loss, system)
        else:
            found = _interior_point(loss, system, loss.gap(labels, np.zeros_like(labels)))
    except LinAlgError:
        found = None
    if found is None:
        ridge = float(f"{system.ridge / system.rows.shape[1]:.12g}")
        allowed = f"such that the readout is found to {ACCURACY:g} of its norm; larger, mostly"
        raise InvalidParametersError([Fault("ridge", ridge, allowed)])
    return found


class _Point(NamedTuple):
    """A readout and its pulls, how far these are from either edge, and the edges' multipliers."""

    readout: Array
    pulls: Array
    to_low: Array
    to_high: Array
    below: Array
    above: Array

    def moved(self, step: _Point, length: float) -> _Point:
        """Take a step."""
        return _Point(*(x + length * d for x, d in zip(self, step, strict=True)))

    def room(self, step: _Point, share: float = 1.0) -> float:
        """Give how much of a step, 1 at most, takes a share of the way to where a side vanishes."""
        pairs = zip(self[2:], step[2:], strict=True)
        return share / max(share, *(float(np.max(-d / x)) for x, d in pairs))

    @property
    def power(self) -> float:
        """How much edges and multipliers are apart from excluding one another."""
        return float(np.mean(self.below * self.to_low + self.above * self.to_high))


def _interior_point(loss: ClippedLoss, system: _System, offsets: Array) -> Array | None:
    """Minimise `|X^T f|^2/2 ridge + stiffness |f|^2/2 - offsets.f` over `low <= f <= high`.

    Returns the readout, or None if it cannot be certified.
    """
    if not offsets.any():
        return np.zeros(system.rows.shape[1])
    # As the loss is at most that of a = 0, pulls of a stiff one are at most |offsets|: edges that
    # are farther away are as none.
    edge = 2 * float(np.linalg.norm(offsets)) if loss.stiffness else np.inf
    low, high = max(loss.low, -edge), min(loss.high, edge)
    point = _start(system, offsets, loss.stiffness, low, high)
    softest = _SOFTEST * float(np.mean(system.rows**2)) * system.rows.shape[1] / system.ridge
    for _ in range(_STEPS):
        gaps = offsets - system.rows @ point.readout
        missing = point.pulls @ system.rows - system.ridge * point.readout
        gap = _fenchel_gap(loss.stiffness, gaps, point, low, high)
        gap += float(missing @ missing) / (2 * system.ridge)
        if 2 * gap <= ACCURACY**2 * system.ridge * (point.readout @ point.readout):
            return point.readout
        softness = loss.stiffness + point.below / point.to_low + point.above / point.to_high
        solve = system.solver(np.maximum(softness, softest))
        residual = gaps - loss.stiffness * point.pulls + point.below - point.above
        step = _step(solve, point, residual, missing)
        point = point.moved(step, point.room(step, _INSIDE))
    return None


def _start(system: _System, offsets: Array, stiffness: float, low: float, high: float) -> _Point:
    """Start in the middle of the box, with multipliers whose difference is what it has to be."""
    pulls = np.full_like(offsets, (low + high) / 2)
    readout = pulls @ system.rows / system.ridge
    excess = offsets - system.rows @ readout - stiffness * pulls
    root = np.hypot(excess, np.mean(np.abs(excess)))
    return _Point(
        readout, pulls, pulls - low, high - pulls, (root - excess) / 2, (root + excess) / 2
    )


def _fenchel_gap(stiffness: float, gaps: Array, point: _Point, low: float, high: float) -> float:
    """Sum `loss(u) + loss*(f) - u f`, none of which is negative, over samples.

    From how far pulls are from the edges, as differences of the two would cancel.
    """
    _, pulls, to_low, to_high, _, _ = point
    if stiffness == 0:
        return float(np.sum(to_high * np.maximum(gaps, 0) - to_low * np.minimum(gaps, 0)))
    short = np.where(gaps >= high, to_high, np.where(gaps <= low, -to_low, gaps - pulls))
    return float(np.sum(short * (gaps - pulls - short / 2)))


def _step(solve: Solver, point: _Point, residual: Array, missing: Array) -> _Point:
    """Predict where a step without centring leads, and correct for it."""
    _, _, to_low, to_high, below, above = point

    def aimed(at_low: Array, at_high: Array) -> _Point:
        left = residual + at_low / to_low - at_high / to_high
        a, f = solve(left, missing)
        return _Point(a, f, f, -f, (at_low - below * f) / to_low, (at_high + above * f) / to_high)

    first = aimed(-below * to_low, -above * to_high)
    ahead = point.moved(first, point.room(first)).power
    centre = (ahead / point.power) ** 3 * point.power / 2
    return aimed(
        centre - below * to_low - first.below * first.to_low,
        centre - above * to_high - first.above * first.to_high,
    )


def _newton(loss: LogisticLoss, system: _System) -> Array | None:
    """Minimise a smooth loss of margins; give the readout, or None if it cannot be certified."""
    rows, ridge = system.rows, system.ridge
    readout, predictions = np.zeros(rows.shape[1]), np.zeros(rows.shape[0])

    def objective(length: float) -> float:
        a = readout + length * step
        losses = loss.value(np.ones(1), predictions + length * moved)
        return float(np.sum(losses) + ridge * (a @ a) / 2)

    for _ in range(_STEPS):
        pulls = loss.pull(predictions)
        downhill = pulls @ rows - ridge * readout
        if downhill @ downhill <= (ACCURACY * ridge) ** 2 * (readout @ readout):
            return readout
        solve = system.solver(1 / np.maximum(pulls * (1 - pulls), _FLAT))
        step = solve(np.zeros_like(pulls), downhill)[0]
        moved = rows @ step
        start, promised, length = objective(0.0), _DECREASE * float(downhill @ step), 1.0
        while objective(length) > (1 + _ROUNDING) * start - length * promised:
            length /= 2
        readout, predictions = readout + length * step, predictions + length * moved
    return None
