"""The losses that the readout minimises, `sum loss(y, Phi a) + ridge/2 |a|^2`: theory.md section 6.

The derivatives of square, Huber and hinge loss are clipped straight lines, so that their proximal
operators have closed forms. Logistic loss is smooth, and its operator is found by Newton's method.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from giantstep.arrays import Array
from giantstep.problems.domains import HUBER_TURN
from giantstep.registry import Family, Registry
from giantstep.validation import read_number

SQUARE = "square"
_HUBER = "huber"
# Newton steps for the logistic proximal operator. After a step as short as this one only rounding
# is left of the error.
_MAX_STEPS, _SHORT_STEP = 60, 1e-9


@dataclass(frozen=True)
class ClippedLoss:
    """A loss whose derivative by the residual u is `clip(u/inverse_curvature, low, high)`.

    The residual is `y - prediction` or, for a margin loss, `1 - y prediction`.

    Attributes
    ----------
    low, high : float
        Least and largest derivative; low <= 0 <= high.
    inverse_curvature : float
        1; or 0 for a loss that is linear on either side of a corner at u = 0.
    margin : bool
        Whether the labels must be +1 and -1.
    """

    low: float
    high: float
    inverse_curvature: float
    margin: bool = False

    def residual(self, labels: Array, predictions: Array) -> Array:
        """Compute the residual u."""
        return 1 - labels * predictions if self.margin else labels - predictions

    def value(self, labels: Array, predictions: Array) -> Array:
        """Compute the loss of each prediction."""
        u = self.residual(labels, predictions)
        if self.inverse_curvature == 0:
            return np.maximum(self.high * u, self.low * u)
        derivative = np.clip(u, self.low, self.high)
        return derivative * (u - derivative / 2)


@dataclass(frozen=True)
class LogisticLoss:
    """`log(1 + exp(-y prediction))`, for labels of +1 and -1."""

    margin = True

    def value(self, labels: Array, predictions: Array) -> Array:
        """Compute the loss of each prediction."""
        return np.logaddexp(0, -labels * predictions)

    def negative_derivative(self, margin: Array) -> Array:
        """Compute minus the derivative by the margin `y prediction`."""
        slope: Array = expit(-margin)
        return slope

    def prox(self, margin: Array, V: Array) -> Array:
        """Minimise `(x - margin)^2/2V + log(1 + exp(-x))` over x.

        The minimum is the root of `x - margin - V/(1 + exp(x))`, which increases with x and is
        convex for x < 0, concave for x > 0. Newton's method therefore converges monotonically from
        zero, or from the bound margin (or margin + V) on the root's side of zero if it is nearer.
        """
        x = np.where(margin + V / 2 > 0, np.maximum(margin, 0.0), np.minimum(margin + V, 0.0))
        for _ in range(_MAX_STEPS):
            with np.errstate(over="ignore"):
                p = 1 / (1 + np.exp(x))  # several times as fast as expit
            step = (x - margin - V * p) / (1 + V * p * (1 - p))
            x = x - step
            if not np.any(np.abs(step) > _SHORT_STEP * np.maximum(np.abs(x), 1)):
                break
        return x


Loss = ClippedLoss | LogisticLoss
LOSSES: dict[str, Loss] = {
    SQUARE: ClippedLoss(-math.inf, math.inf, 1.0),
    _HUBER: ClippedLoss(-1.0, 1.0, 1.0),
    "hinge": ClippedLoss(0.0, 1.0, 0.0, margin=True),
    "logistic": LogisticLoss(),
}


def _huber(text: str) -> ClippedLoss:
    """Make the Huber loss that turns from a parabola into straight lines at +-`text`."""
    turn = read_number(text)
    if turn not in HUBER_TURN:
        raise ValueError(text)
    return ClippedLoss(-turn, turn, 1.0)


# `huber` is `huber:1`.
KNOWN_LOSSES: Registry[Loss] = Registry(
    LOSSES, Family(f"{_HUBER}:", _huber, f"{_HUBER}:DELTA with DELTA {HUBER_TURN}")
)
lookup_loss = KNOWN_LOSSES.lookup
