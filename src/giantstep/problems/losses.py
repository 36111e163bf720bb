"""The losses that the readout minimises, `sum loss(y, Phi a) + ridge/2 |a|^2`: theory.md section 6.

To add a loss, enter it in `LOSSES`; nothing else needs to know of it. One whose derivative is a
straight line between two constants is a `ClippedLoss` with other numbers. A smooth loss of margins
is a `MarginLoss` with its value and two derivatives.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from giantstep.arrays import Array
from giantstep.problems.domains import HUBER_TURN
from giantstep.registry import Family, Registry
from giantstep.validation import read_number

SQUARE = "square"
# The square loss by gradient flow from zero, stopped at the time 1/ridge: docs/early-stopping.md.
FLOW = "gradient_flow"
_HUBER = "huber"
# Newton steps for a proximal operator. After a step as short as this one only rounding is left of
# the error.
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


class MarginLoss(ABC):
    """A smooth and convex loss that falls with the margin `y prediction`, for labels of +1 and -1.

    Attributes
    ----------
    strip : float
        Half-width of the strip about the real line in which `prox` is analytic, whatever V.
    """

    margin = True
    strip: float

    @abstractmethod
    def of_margin(self, margin: Array) -> Array:
        """Compute the loss."""

    @abstractmethod
    def derivatives(self, margin: Array) -> tuple[Array, Array]:
        """Compute minus its first derivative by the margin, and its second."""

    def value(self, labels: Array, predictions: Array) -> Array:
        """Compute the loss of each prediction."""
        return self.of_margin(labels * predictions)

    def prox(self, margin: Array, V: Array) -> Array:
        """Minimise `(x - margin)^2/2V + loss(x)` over x.

        By Newton's method between bounds, at first margin and margin + V slope; where a step
        leaves them, or is longer than half their distance, by bisection.
        """
        low = margin
        high = margin + V * self.derivatives(margin)[0]
        x = low
        for _ in range(_MAX_STEPS):
            slope, curvature = self.derivatives(x)
            gap = x - margin - V * slope
            low, high = np.where(gap < 0, x, low), np.where(gap > 0, x, high)
            step = gap / (1 + V * curvature)
            short = np.abs(step) <= _SHORT_STEP * np.maximum(np.abs(x), 1)
            inside = (low < x - step) & (x - step < high) & (2 * np.abs(step) < high - low)
            x = np.where(short | inside, x - step, (low + high) / 2)
            if np.all(short):
                break
        return x


class LogisticLoss(MarginLoss):
    """`log(1 + exp(-y prediction))`."""

    strip = math.pi

    def of_margin(self, margin: Array) -> Array:
        """Compute the loss."""
        return np.logaddexp(0, -margin)

    def derivatives(self, margin: Array) -> tuple[Array, Array]:
        """Compute minus its first derivative by the margin, and its second."""
        with np.errstate(over="ignore"):
            slope = 1 / (1 + np.exp(margin))  # several times as fast as expit
        return slope, slope * (1 - slope)

    def prox(self, margin: Array, V: Array) -> Array:
        """Minimise `(x - margin)^2/2V + loss(x)` over x.

        The minimum is the root of `x - margin - V/(1 + exp(x))`, which increases with x and is
        convex for x < 0, concave for x > 0. Newton's method therefore converges monotonically from
        zero, or from the bound margin (or margin + V) on the root's side of zero if it is nearer.
        """
        x = np.where(margin + V / 2 > 0, np.maximum(margin, 0.0), np.minimum(margin + V, 0.0))
        for _ in range(_MAX_STEPS):
            slope, curvature = self.derivatives(x)
            step = (x - margin - V * slope) / (1 + V * curvature)
            x = x - step
            if not np.any(np.abs(step) > _SHORT_STEP * np.maximum(np.abs(x), 1)):
                break
        return x


Loss = ClippedLoss | MarginLoss
LOSSES: dict[str, Loss] = {
    SQUARE: ClippedLoss(-math.inf, math.inf, 1.0),
    _HUBER: ClippedLoss(-1.0, 1.0, 1.0),
    "hinge": ClippedLoss(0.0, 1.0, 0.0, margin=True),
    "logistic": LogisticLoss(),
    FLOW: ClippedLoss(-math.inf, math.inf, 1.0),
}


def _huber(text: str) -> ClippedLoss:
    """Make the Huber loss that turns from a parabola into straight lines at +-`text`."""
    turn = read_number(text)
    if turn not in HUBER_TURN:
        raise ValueError(text)
    return ClippedLoss(-turn, turn, 1.0)


def is_square(loss: str) -> bool:
    """Tell whether it is the square loss, fitted or stopped early."""
    return loss in (SQUARE, FLOW)


# `huber` is `huber:1`.
KNOWN_LOSSES: Registry[Loss] = Registry(
    LOSSES,
    Family(f"{_HUBER}:", _huber, f"{_HUBER}:DELTA with DELTA {HUBER_TURN}"),
)
lookup_loss = KNOWN_LOSSES.lookup
