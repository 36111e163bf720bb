"""Readouts of any convex loss, theory.md section 6, fitted by scipy's L-BFGS-B.

With signed rows X (those of Phi, times the labels for a loss of margins) the readout is
`a = X^T f/ridge`, where f is minus the derivative of the loss at each sample. For a clipped loss f
minimises a quadratic in a box; for the logistic loss, which is smooth, a itself is looked for. Both
start afresh at each ridge and sample size, so that a readout does not depend on which others are
asked for.

A fit must be certified by its duality gap, which bounds how far the objective is above its minimum
(and, by strong convexity, `ridge/2 |a - a*|^2`); for the logistic loss, by its gradient's square.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from giantstep.arrays import Array, Reals
from giantstep.problems.losses import ClippedLoss, LogisticLoss, Loss
from giantstep.simulation.ridge import Fit
from giantstep.validation import Fault, InvalidParametersError

# How far above its minimum an objective may be, over itself, at worst. As a rule it is far nearer:
# test errors are then within 1e-5 of those of an exact minimum.
ACCURACY = 3e-5
# L-BFGS-B goes on until rounding stops it, or the certificate is likely; then from there again.
_OPTIONS = {"maxiter": 20_000, "maxfun": 40_000, "ftol": 0.0, "maxcor": 30}
_ROUNDS = 4
# With more samples a feature than this, products with the kernel are taken in two steps.
_KERNEL_UP_TO = 2.0


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
    small = not isinstance(loss, LogisticLoss) and labels.size <= _KERNEL_UP_TO * rows.shape[1]
    kernel = rows @ rows.T if small else None
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

    def curvature(self, f: Array) -> Array:
        """Compute `X X^T f/ridge`."""
        image: Array = self.rows @ (f @ self.rows) if self.kernel is None else self.kernel @ f
        return image / self.ridge


def _readout(loss: Loss, system: _System, labels: Array) -> Array:
    """Fit one readout.

    Raises
    ------
    InvalidParametersError
        If it cannot be certified.
    """
    start: Array | None = None
    for _ in range(_ROUNDS):
        if isinstance(loss, LogisticLoss):
            start, readout, value, gap = _smooth(loss, system, start)
        else:
            start, readout, value, gap = _boxed(loss, system, labels, start)
        if gap <= ACCURACY * value:
            return readout
    ridge = float(f"{system.ridge / system.rows.shape[1]:.12g}")
    allowed = f"such that the minimum is found to {ACCURACY:g} of itself; larger, mostly"
    raise InvalidParametersError([Fault("ridge", ridge, allowed)])


def _boxed(
    loss: ClippedLoss, system: _System, labels: Array, start: Array | None
) -> tuple[Array, Array, float, float]:
    """Minimise `|X^T f|^2/2 ridge + inverse_curvature |f|^2/2 - t.f` over `low <= f <= high`.

    Here t is the residual of a prediction of zero. Returns f, the readout, its objective and the
    duality gap.
    """
    t = loss.residual(labels, np.zeros_like(labels))

    def dual(f: Array) -> tuple[float, Array]:
        slope = system.curvature(f) + loss.inverse_curvature * f
        return float(f @ (slope / 2 - t)), slope - t

    start = np.clip(t / 2, loss.low, loss.high) if start is None else start
    bounds = [(loss.low, loss.high)] * t.size
    options = _OPTIONS | {"gtol": 1e-9}
    found = minimize(dual, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    readout = found.x @ system.rows / system.ridge
    losses = loss.value(labels, (labels if loss.margin else 1) * (system.rows @ readout))
    value = float(np.sum(losses)) + system.ridge * float(readout @ readout) / 2
    return found.x, readout, value, value + float(found.fun)


def _smooth(
    loss: LogisticLoss, system: _System, start: Array | None
) -> tuple[Array, Array, float, float]:
    """Minimise a smooth loss of margins; gives the readout twice, its objective and a gap."""
    rows, ridge = system.rows, system.ridge
    scale = np.sqrt(ridge)  # so that the ridge is one, and half the gradient's square a gap

    def primal(b: Array) -> tuple[float, Array]:
        margins = rows @ b / scale
        value = float(np.sum(loss.value(np.ones(1), margins)) + b @ b / 2)
        return value, b - loss.negative_derivative(margins) @ rows / scale

    start = np.zeros(rows.shape[1]) if start is None else start * scale
    found = minimize(primal, start, jac=True, method="L-BFGS-B", options=_OPTIONS | {"gtol": 1e-7})
    readout = found.x / scale
    value, slope = primal(found.x)
    return readout, readout, value, float(slope @ slope) / 2
