"""What an activation or a target is: a scalar function with what the theory needs to know of it.

To add one, append an entry to `FUNCTIONS`: its value, derivative, parity and kinks are enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf, erfc, owens_t

Array = NDArray[np.float64]


@dataclass(frozen=True)
class GaussianMoments:
    """Moments of f(t), `t = mean + std z`, under z ~ N(0, 1); theory.md sections 2-4.

    Attributes
    ----------
    mean : Array
        E f(t).
    slope : Array
        E z f(t).
    residual : Array
        E (f(t) - mean - slope z)^2, the part of f that is not linear in z; never negative.
    """

    mean: Array
    slope: Array
    residual: Array

    @property
    def second(self) -> Array:
        """E f(t)^2."""
        return self.residual + self.mean**2 + self.slope**2


@dataclass(frozen=True)
class ScalarFunction:
    """A function R -> R that serves as activation or target.

    Attributes
    ----------
    name : str
        What users write in configs and on the command line.
    label : str
        LaTeX, without dollars.
    value, derivative : callable
        Elementwise; the derivative holds away from `kinks`.
    parity : {"odd", "even", "none"}
        The one-step protocol takes odd activations only.
    kinks : tuple of float
        Where the value or a derivative jumps; quadrature rules split there.
    continuous : bool
        Whether the value itself has no jump. A gradient step needs it of the activation.
    moments : callable or None
        `(mean, std) -> GaussianMoments` in closed form for std > 0, where one is known.
    """

    name: str
    label: str
    value: Callable[[Array], Array]
    derivative: Callable[[Array], Array]
    parity: Literal["odd", "even", "none"]
    kinks: tuple[float, ...] = ()
    continuous: bool = True
    moments: Callable[[Array, float], GaussianMoments] | None = None


def _linear_moments(mean: Array, std: float) -> GaussianMoments:
    return GaussianMoments(mean, np.full_like(mean, std), np.zeros_like(mean))


def _sign_moments(mean: Array, std: float) -> GaussianMoments:
    x = mean / (np.sqrt(2) * std)
    slope = np.sqrt(2 / np.pi) * np.exp(-(x**2))
    tail = erfc(np.abs(x))  # 1 - erf^2 = tail (2 - tail), without cancellation
    return GaussianMoments(erf(x), slope, np.maximum(tail * (2 - tail) - slope**2, 0))


def _sin_moments(mean: Array, std: float) -> GaussianMoments:
    damping = np.exp(-(std**2) / 2)
    value, slope = damping * np.sin(mean), std * damping * np.cos(mean)
    second = (1 - damping**4 * np.cos(2 * mean)) / 2
    return GaussianMoments(value, slope, np.maximum(second - value**2 - slope**2, 0))


def _erf_moments(mean: Array, std: float) -> GaussianMoments:
    width = np.sqrt(1 + 2 * std**2)
    value = erf(mean / width)
    slope = 2 * std / (np.sqrt(np.pi) * width) * np.exp(-((mean / width) ** 2))
    second = 1 - 8 * owens_t(np.sqrt(2) * mean / width, 1 / np.sqrt(1 + 4 * std**2))
    return GaussianMoments(value, slope, np.maximum(second - value**2 - slope**2, 0))


FUNCTIONS: dict[str, ScalarFunction] = {
    function.name: function
    for function in (
        ScalarFunction("tanh", r"\tanh", np.tanh, lambda x: 1 - np.tanh(x) ** 2, "odd"),
        ScalarFunction(
            "erf",
            r"\mathrm{erf}",
            erf,
            lambda x: 2 / np.sqrt(np.pi) * np.exp(-(x**2)),
            "odd",
            moments=_erf_moments,
        ),
        ScalarFunction("sin", r"\sin", np.sin, np.cos, "odd", moments=_sin_moments),
        ScalarFunction(
            "sign",
            r"\mathrm{sign}",
            np.sign,
            np.zeros_like,
            "odd",
            kinks=(0.0,),
            continuous=False,
            moments=_sign_moments,
        ),
        ScalarFunction(
            "linear",
            r"\mathrm{id}",
            lambda x: np.array(x, dtype=float),
            np.ones_like,
            "odd",
            moments=_linear_moments,
        ),
        ScalarFunction(
            "softsign",
            r"\mathrm{softsign}",
            lambda x: x / (1 + np.abs(x)),
            lambda x: (1 + np.abs(x)) ** -2,
            "odd",
            kinks=(0.0,),
        ),
        ScalarFunction(
            "relu",
            r"\mathrm{relu}",
            lambda x: np.maximum(x, 0.0),
            lambda x: np.heaviside(x, 0.5),
            "none",
            kinks=(0.0,),
        ),
        ScalarFunction("he2", r"\mathrm{He}_2", lambda x: x**2 - 1, lambda x: 2 * x, "even"),
        ScalarFunction(
            "he3", r"\mathrm{He}_3", lambda x: x**3 - 3 * x, lambda x: 3 * x**2 - 3, "odd"
        ),
    )
}


def known_names() -> str:
    """List the registered names, for messages."""
    return ", ".join(sorted(FUNCTIONS))
