"""What the readout minimises: `sum loss(y, Phi a) + ridge/2 |a|^2`, theory.md section 6.

Square, Huber and hinge loss are alike: minus their derivative, the *pull* of a sample on its
prediction, is a clipped straight line. Their proximal operators are then closed forms. Logistic
loss is smooth, and its operator is found by a safeguarded Newton iteration.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import expit

from giantstep.arrays import Array
from giantstep.validation import POSITIVE

SQUARE = "square"
_HUBER = "huber"
# Newton steps for the logistic prox; a step as short as this one leaves no error but rounding.
_SWEEPS, _NEAR = 60, 1e-9


@dataclass(frozen=True)
class ClippedLoss:
    """A loss whose pull is `clip(u/inverse_curvature, low, high)` in the gap u.

    The gap is `y - prediction` or, of a margin loss, `1 - y prediction`, whose pull is towards y.

    Attributes
    ----------
    low, high : float
        What the pull is clipped to; low <= 0 <= high.
    inverse_curvature : float
        1; or 0 for a loss that is straight on either side of a corner at u = 0.
    margin : bool
        Whether it is a loss of labels of +1 and -1.
    """

    low: float
    high: float
    inverse_curvature: float
    margin: bool = False

    def residual(self, labels: Array, predictions: Array) -> Array:
        """Give u."""
        return 1 - labels * predictions if self.margin else labels - predictions

    def value(self, labels: Array, predictions: Array) -> Array:
        """Give the loss of each prediction."""
        u = self.residual(labels, predictions)
        if self.inverse_curvature == 0:
            return np.maximum(self.high * u, self.low * u)
        pull = np.clip(u, self.low, self.high)
        return pull * (u - pull / 2)


@dataclass(frozen=True)
class LogisticLoss:
    """`log(1 + exp(-y prediction))`, of labels of +1 and -1."""

    margin = True

    def value(self, labels: Array, predictions: Array) -> Array:
        """Give the loss of each prediction."""
        return np.logaddexp(0, -labels * predictions)

    def negative_derivative(self, margin: Array) -> Array:
        """Give minus the derivative by the margin, `y prediction`."""
        pull: Array = expit(-margin)
        return pull

    def prox(self, margin: Array, V: Array) -> Array:
        """Minimise `(x - margin)^2/2V + log(1 + exp(-x))` over x.

        The root of `x - margin - V/(1 + exp(x))`, which rises in x, convex below zero and concave
        above. So Newton's method goes to it without a turn from zero, or from the bound on its own
        side where that is nearer: margin below, margin + V above.
        """
        x = np.where(margin + V / 2 > 0, np.maximum(margin, 0.0), np.minimum(margin + V, 0.0))
        for _ in range(_SWEEPS):
            p = expit(-x)
            step = (x - margin - V * p) / (1 + V * p * (1 - p))
            x = x - step
            if not np.any(np.abs(step) > _NEAR * np.maximum(np.abs(x), 1)):
                break
        return x


Loss = ClippedLoss | LogisticLoss
LOSSES: dict[str, Loss] = {
    SQUARE: ClippedLoss(-math.inf, math.inf, 1.0),
    _HUBER: ClippedLoss(-1.0, 1.0, 1.0),
    "hinge": ClippedLoss(0.0, 1.0, 0.0, margin=True),
    "logistic": LogisticLoss(),
}


@cache
def lookup_loss(name: str) -> Loss:
    """Find a loss of a name; `huber:0.5` turns from square to straight at 0.5, `huber` at 1.

    Raises
    ------
    KeyError
        If there is none of that name.
    """
    if not name.startswith(f"{_HUBER}:"):
        return LOSSES[name]
    try:
        turn = float(name.partition(":")[2])
    except ValueError:
        raise KeyError(name) from None
    if turn not in POSITIVE:
        raise KeyError(name)
    return ClippedLoss(-turn, turn, 1.0)


def known_losses() -> str:
    """List the names, for messages."""
    return ", ".join(LOSSES) + f", {_HUBER}:DELTA with DELTA > 0"
