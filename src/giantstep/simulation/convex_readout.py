"""Readouts for any convex loss, theory.md section 6, fitted with scipy's L-BFGS-B.

Let X be the rows of Phi, each times its label for a loss of margins. The readout is
`a = X^T f/ridge`, where f is the derivative of the loss at each sample's residual. For a clipped
loss f minimises a quadratic function in a box, the dual problem. For a smooth loss a is minimised
over directly. Every fit starts afresh, so that a readout does not
depend on which other ridges and sample sizes are fitted.

A fit must be certified by its duality gap, which bounds the distance of the objective from its
minimum (and so, by strong convexity, `ridge/2 |a - a*|^2`). For a smooth loss the squared gradient
takes its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy  # whose modules are imported when they are first used
from scipy.linalg import inv

from giantstep.arrays import Array, Reals
from giantstep.problems.convex_losses import ClippedLoss, Loss, SmoothLoss
from giantstep.simulation.arithmetic import KERNEL_UP_TO
from giantstep.simulation.ridge import Fit
from giantstep.validation import refusal

# Largest relative distance of an objective from its minimum. It is usually far smaller: test errors
# are within 1e-5 of those of the exact minimum.
ACCURACY = 3e-5
# L-BFGS-B runs until rounding stops it or a certificate is likely; without one it starts again from
# there.
_METHOD = {"method": "L-BFGS-B", "jac": True}
_OPTIONS = {"maxiter": 20_000, "maxfun": 40_000, "ftol": 0.0, "maxcor": 30}
_ROUNDS = 4
# Inverse curvature of a corner, over the response of a prediction: rows at it may be dependent.
_SOFT = 1e-9


class ConvexPath:
    """The readout `argmin sum loss(y, Phi a) + ridge/2 |a|^2` as rows are added to Phi.

    It is as `RidgePath`, but keeps all rows. A fit that cannot be certified raises
    `InvalidParametersError`.

    Parameters
    ----------
    loss : Loss
    """

    def __init__(self, loss: Loss) -> None:
        self.loss = loss
        self._blocks: list[tuple[Reals, Array]] = []

    def extend(self, features: Reals, labels: Array) -> None:
        """Add a block of samples: features of shape (n, p)."""
        self._blocks.append((features, labels))

    def fit(self, count: int) -> Callable[[tuple[float, ...]], Fit]:
        """Return a function that fits the first `count` samples; see `RidgePath`."""
        features, labels = zip(*self._blocks, strict=True)
        return lambda ridges: _fit(self.loss, features, np.concatenate(labels)[:count], ridges)


def leave_one_out(loss: Loss, features: Array, labels: Array, ridge: float) -> Array:
    """Predict each label by the readout of all other samples, approximately.

    The readout without a sample is a Newton step away from that of all: docs/cross-validation.md.
    Where the derivative of a clipped loss is at an end of its range, it stays there.

    Parameters
    ----------
    loss : Loss
    features : Array, shape (n, p)
    labels : Array, shape (n,)
    ridge : float
        As in `ConvexPath`.

    Returns
    -------
    Array, shape (n,)

    Raises
    ------
    InvalidParametersError
        If the readout cannot be certified.

    Examples
    --------
    >>> from giantstep.problems.losses import lookup_loss
    >>> features, labels = np.array([[1.0], [-1.0], [-2.0]]), np.array([1.0, -1.0, -1.0])
    >>> leave_one_out(lookup_loss("hinge"), features, labels, ridge=1.0).round(3)
    array([ 1., -1., -2.])
    """
    signs = labels if loss.margin else np.ones_like(labels)
    rows = features * signs[:, None]
    kernel = rows @ rows.T
    at_zero = loss.residual(labels, np.zeros_like(labels))
    f, readout = _readout(loss, _System(rows, kernel, at_zero, ridge))
    fitted, response = rows @ readout, kernel / ridge
    if isinstance(loss, ClippedLoss):
        softest = max(loss.inverse_curvature, _SOFT * float(response.diagonal().mean()))
        free, stiffness = (loss.low < f) & (f < loss.high), np.full(f.size, softest)
    else:
        f, curvature = loss.derivatives(at_zero - fitted)
        free, stiffness = np.ones(f.size, dtype=bool), 1 / curvature
    inverse = inv(response[np.ix_(free, free)] + np.diag(stiffness[free]))
    # How much a sample's prediction moves with its own f while the others respond.
    own = response.diagonal() - np.sum(response[:, free] @ inverse * response[:, free], axis=1)
    own[free] = 1 / inverse.diagonal() - stiffness[free]
    return np.asarray(signs * (fitted - own * f))


def _fit(loss: Loss, blocks: Sequence[Reals], labels: Array, ridges: tuple[float, ...]) -> Fit:
    """Fit the first samples of the blocks: as many as there are labels."""
    rows = np.concatenate(blocks, dtype=float)[: labels.size]
    signs = labels if loss.margin else np.ones_like(labels)
    rows *= signs[:, None]
    small = isinstance(loss, ClippedLoss) and labels.size <= KERNEL_UP_TO * rows.shape[1]
    kernel = rows @ rows.T if small else None
    at_zero = loss.residual(labels, np.zeros_like(labels))
    fitted = [_readout(loss, _System(rows, kernel, at_zero, ridge))[1] for ridge in ridges]
    predictions = [signs * (rows @ readout) for readout in fitted]
    return Fit(
        np.stack(fitted),
        np.array([np.mean((labels - y) ** 2) for y in predictions]),
        np.array([np.mean(loss.value(labels, y)) for y in predictions]),
    )


class _System(NamedTuple):
    """Signed rows X, the residuals of the prediction zero, and the ridge.

    The residuals of other predictions are less by `X a`. `kernel` is `X X^T`, or None where it is
    not used.
    """

    rows: Array
    kernel: Array | None
    at_zero: Array
    ridge: float


def _readout(loss: Loss, system: _System) -> tuple[Array, Array]:
    """Fit one readout; return it after f for a clipped loss, and twice for others.

    Raises
    ------
    InvalidParametersError
        If it cannot be certified.
    """
    minimise: Any = _minimise_dual if isinstance(loss, ClippedLoss) else _minimise_primal
    start: Array | None = None
    for _ in range(_ROUNDS):
        start, readout, value, gap = minimise(loss, system, start)
        if gap <= ACCURACY * value:
            return start, readout
    ridge = float(f"{system.ridge / system.rows.shape[1]:.12g}")
    allowed = f"larger: the fit of a network is not known to a relative accuracy of {ACCURACY:g}"
    raise refusal("ridge", ridge, allowed)


def _minimise_dual(
    loss: ClippedLoss, system: _System, start: Array | None
) -> tuple[Array, Array, float, float]:
    """Minimise `|X^T f|^2/2 ridge + inverse_curvature |f|^2/2 - t.f` over `low <= f <= high`.

    Here t is `at_zero`. Returns f, the readout, its objective and the duality gap.
    """
    t = system.at_zero

    def dual(f: Array) -> tuple[float, Array]:
        image = system.rows @ (f @ system.rows) if system.kernel is None else system.kernel @ f
        slope = image / system.ridge + loss.inverse_curvature * f
        return float(f @ (slope / 2 - t)), slope - t

    start = np.clip(t / 2, loss.low, loss.high) if start is None else start
    bounds = [(loss.low, loss.high)] * t.size
    options = _OPTIONS | {"gtol": 1e-9}
    minimum = scipy.optimize.minimize(dual, start, bounds=bounds, options=options, **_METHOD)
    readout = minimum.x @ system.rows / system.ridge
    losses = float(np.sum(loss.of(t - system.rows @ readout)))
    value = losses + system.ridge * float(readout @ readout) / 2
    return minimum.x, readout, value, value + float(minimum.fun)


def _minimise_primal(
    loss: SmoothLoss, system: _System, start: Array | None
) -> tuple[Array, Array, float, float]:
    """Minimise a smooth loss; return the readout twice, its objective and the gap."""
    rows, t = system.rows, system.at_zero
    scale = np.sqrt(system.ridge)  # makes the ridge one, and half the squared gradient a gap

    def primal(b: Array) -> tuple[float, Array]:
        u = t - rows @ b / scale
        value = float(np.sum(loss.of(u)) + b @ b / 2)
        return value, b - loss.derivatives(u)[0] @ rows / scale

    start = np.zeros(rows.shape[1]) if start is None else start * scale
    minimum = scipy.optimize.minimize(primal, start, options=_OPTIONS | {"gtol": 1e-7}, **_METHOD)
    readout = minimum.x / scale
    value, slope = primal(minimum.x)
    return readout, readout, value, float(slope @ slope) / 2
