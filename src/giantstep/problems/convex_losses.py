"""Convex losses of a residual, in two kinds: by their derivatives, or analytic.

The residual u is `y - prediction` or, for labels of +1 and -1, `1 - y prediction`, one less the
margin. The derivative of a `ClippedLoss` is a straight line between two constants, so that averages
have closed forms. A `SmoothLoss` is analytic, so that trapezoidal rules average it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from giantstep.arrays import Array, RealOrComplex
from giantstep.numerics.differences import with_slope

# Newton steps for a proximal operator. After a step as short as this one only rounding is left of
# the error.
_MAX_STEPS, _SHORT_STEP = 60, 1e-9
# After such a step of third order less than 1e-11 is left.
_SHORT_CUBIC = 3e-4
# Where functions given as callables are checked: intervals whose ends are no round numbers, at
# which corners usually are. And the relative error of an integral over one of them.
_CHECKED = 0.00314159 + np.linspace(-20, 20, 2001)
_SAME_INTEGRAL, _SIMPSON = 1e-5, np.array([1, 4, 1]) / 6
_ROUNDING = 1e-12
# What a smooth loss must be.
_SMOOTH = "convex and analytic, with `slope` its derivative (complex, unless `curvature` is given)"


class _Residual(ABC):
    """A convex loss of a residual.

    Attributes
    ----------
    margin : bool
        Whether the labels must be +1 and -1.
    far : float
        A typical size of predictions, at which `like_square` matches the slopes.
    """

    margin: bool
    far = 1.0

    def residual(self, labels: Array, predictions: Array) -> Array:
        """Compute the residual u."""
        return 1 - labels * predictions if self.margin else labels - predictions

    def value(self, labels: Array, predictions: Array) -> Array:
        """Compute the loss of each prediction."""
        return self.of(self.residual(labels, predictions))

    def is_symmetric(self) -> bool:
        """Tell whether it is the same where labels and predictions change their signs."""
        u = _CHECKED
        return self.margin or bool(np.allclose(self.of(u), self.of(-u), rtol=1e-9, atol=0))

    def residual_and_curvature(self, labels: Array, outputs: Array) -> tuple[Array, Array]:
        """Compute minus the first derivative by the prediction, and the second derivative.

        The first is the residual itself for the square loss.
        """
        slope, curvature = self.derivatives(self.residual(labels, outputs))
        return (labels * slope if self.margin else slope), curvature

    def like_square(self) -> tuple[float, float]:
        """Compute what makes half a square most like the loss: a factor on it, and on labels.

        Its derivative is a line through that of the loss at predictions `far` from zero.
        """
        middle = 1.0 if self.margin else 0.0
        below, here, above = self.derivatives(middle + self.far * np.array([-1.0, 0.0, 1.0]))[0]
        curvature = float(above - below) / (2 * self.far)
        return curvature, float(here) / curvature if self.margin else 1.0

    @abstractmethod
    def of(self, u: Array) -> Array:
        """Compute the loss at some residuals."""

    @abstractmethod
    def response(self, u: Array, V: Array) -> tuple[Array, Array]:
        """Compute the derivative at the proximal point `x = u - V derivative`, and its slope in u.

        The proximal point is the minimum over x of `(x - u)^2/2V + l(x)`: equation (118).
        """

    @abstractmethod
    def derivatives(self, u: Array) -> tuple[Array, Array]:
        """Compute the first and the second derivative, where there is one."""

    @property
    def corners(self) -> tuple[float, ...]:
        """The residuals at which a derivative jumps."""
        return ()

    def fault(self) -> str:
        """Say why it cannot be minimised, or nothing."""
        return ""


@dataclass(frozen=True)
class ClippedLoss(_Residual):
    """A loss whose derivative by the residual is `clip(u/inverse_curvature, low, high)`.

    Attributes
    ----------
    low, high : float
        Least and largest derivative; low <= 0 <= high.
    inverse_curvature : float
        1; or 0 for a loss that is linear on either side of a corner at u = 0.
    margin : bool
        Whether the labels must be +1 and -1.

    Examples
    --------
    >>> import numpy as np
    >>> squared_hinge = ClippedLoss(0, np.inf, inverse_curvature=1, margin=True)
    >>> squared_hinge.value(np.array([1.0, -1.0]), np.array([0.5, 0.5]))
    array([0.125, 1.125])
    """

    low: float
    high: float
    inverse_curvature: float
    margin: bool = False

    def of(self, u: Array) -> Array:
        """Compute the loss at some residuals."""
        derivative, _ = self.derivatives(u)
        return derivative * (u - self.inverse_curvature * derivative / 2)

    def response(self, u: Array, V: Array) -> tuple[Array, Array]:
        """Compute the derivative at the proximal point, and its slope in u."""
        w = self.inverse_curvature + V
        straight = u / w
        derivative = np.clip(straight, self.low, self.high)
        return derivative, (derivative == straight) / w

    def derivatives(self, u: Array) -> tuple[Array, Array]:
        """Compute the first and the second derivative, which is left out at corners."""
        if self.inverse_curvature == 0:
            return self.high * (u > 0) + self.low * (u < 0), np.zeros_like(u)
        return np.clip(u, self.low, self.high), ((self.low < u) & (u < self.high)).astype(u.dtype)

    @property
    def corners(self) -> tuple[float, ...]:
        """The residuals at which a derivative jumps."""
        ends = (0.0,) if self.inverse_curvature == 0 else (self.low, self.high)
        return tuple(end for end in ends if math.isfinite(end))


@dataclass(frozen=True)
class SmoothLoss(_Residual):
    """An analytic loss.

    Attributes
    ----------
    function : callable
        The loss l(u) of an array of residuals, entry by entry.
    slope : callable
        Its derivative.
    curvature : callable, optional
        The second derivative; by default found by a complex step, of a slope that takes complex
        arrays.
    margin : bool
        Whether the labels must be +1 and -1.
    strip : float
        Half-width of the strip about the real line in which `prox` is analytic, whatever V. Rules
        of quadrature follow from it; one that is too large shows in `quadrature_error`.

    Examples
    --------
    >>> import numpy as np
    >>> loss = SmoothLoss(lambda u: np.log(np.cosh(u)), np.tanh)
    >>> loss.derivatives(np.array([0.0, 0.5]))
    (array([0.        , 0.46211716]), array([1.        , 0.78644773]))
    >>> loss.prox(np.array([2.0]), np.array([1.0])).round(6)  # x + tanh(x) = 2
    array([1.174341])
    """

    function: Callable[[Array], Array]
    slope: Callable[[RealOrComplex], RealOrComplex]
    curvature: Callable[[Array], Array] | None = None
    margin: bool = False
    strip: float = 1.0

    def of(self, u: Array) -> Array:
        """Compute the loss at some residuals."""
        return self.function(u)

    def derivatives(self, u: Array) -> tuple[Array, Array]:
        """Compute the first and the second derivative."""
        if self.curvature:
            return self.slope(u), self.curvature(u)
        return with_slope(self.slope, u)

    def prox(self, u: Array, V: Array) -> Array:
        """Minimise `(x - u)^2/2V + l(x)` over x.

        By Newton's method between bounds, at first u and u - V slope; where a step leaves them, or
        is longer than half their distance, by bisection.
        """
        slope, curvature = self.derivatives(u)
        low, high = np.sort([u, u - V * slope], axis=0)
        x, gap = u, V * slope
        for _ in range(_MAX_STEPS):
            step = gap / (1 + V * curvature)
            short = np.abs(step) <= _SHORT_STEP * np.maximum(np.abs(x), 1)
            inside = (low < x - step) & (x - step < high) & (2 * np.abs(step) < high - low)
            x = np.where(short | inside, x - step, (low + high) / 2)
            if np.all(short):
                break
            slope, curvature = self.derivatives(x)
            gap = x - u + V * slope
            low, high = np.where(gap < 0, x, low), np.where(gap > 0, x, high)
        return x

    def response(self, u: Array, V: Array) -> tuple[Array, Array]:
        """Compute the derivative at the proximal point, and its slope in u."""
        slope, curvature = self.derivatives(self.prox(u, V))
        return slope, curvature / (1 + V * curvature)

    def fault(self) -> str:
        """Say why it cannot be minimised, or nothing."""
        start, end = _CHECKED[:-1], _CHECKED[1:]
        nodes = np.stack([start, (start + end) / 2, end])
        try:
            with np.errstate(all="ignore"):
                f = np.stack(self.derivatives(nodes))
                rises = np.stack([self.of(nodes), f[0]])
        except TypeError:
            return _SMOOTH
        error = np.abs(_SIMPSON @ f * (end - start) - np.diff(rises[:, [0, 2]], axis=1)[:, 0])
        right = np.all(error <= _SAME_INTEGRAL * np.abs(f).max(axis=1) + _ROUNDING, axis=0)
        wrong = start[~(right & (f[1, 1] >= -_ROUNDING))]
        return f"{_SMOOTH}: it is not at a residual of {wrong[0]:.3g}" if wrong.size else ""


# What readouts and channels know how to treat.
Loss = ClippedLoss | SmoothLoss


def logistic_slope(u: RealOrComplex) -> RealOrComplex:
    """Compute the derivative of the logistic loss by its residual."""
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(1 - u))  # several times as fast as expit


class LogisticLoss(SmoothLoss):
    """`log(1 + exp(-y prediction))`, whose slope gives its curvature and good starts of `prox`."""

    far = 3.0

    def derivatives(self, u: Array) -> tuple[Array, Array]:
        """Compute the first and the second derivative."""
        slope = self.slope(u)
        return slope, slope * (1 - slope)

    def prox(self, u: Array, V: Array) -> Array:
        """Minimise `(x - u)^2/2V + l(x)` over x.

        The minimum is at the margin t, the root of `t - (1 - u) - V/(1 + exp(t))`. Steps are of
        third order, from the root of the tangent at zero or from the bound 1 - u (or 1 - u + V) on
        the root's side of zero if it is nearer.
        """
        margin = 1 - u
        tangent = (margin + V / 2) / (1 + V / 4)
        t = np.where(tangent > 0, np.maximum(margin, tangent), np.minimum(margin + V, tangent))
        for _ in range(_MAX_STEPS):
            with np.errstate(over="ignore"):
                slope = 1 / (1 + np.exp(t))
            curved = V * slope * (1 - slope)
            gap, turn = t - margin - V * slope, 1 + curved
            step = gap / (turn + gap * curved * (0.5 - slope) / turn)
            t = t - step
            if not np.any(np.abs(step) > _SHORT_CUBIC):
                break
        return 1 - t
