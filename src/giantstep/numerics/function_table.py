"""Scalar functions that have a name, with what the theory needs to know of them.

To add one, append an entry to `FUNCTIONS`: its value, derivative, parity and kinks are enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import erf, expit, ndtr

from giantstep.arrays import Array
from giantstep.numerics.quadrature import normal_density

Parity = Literal["odd", "even", "none"]


@dataclass(frozen=True, eq=False)
class ScalarFunction:
    """A function R -> R that serves as activation or target.

    Attributes
    ----------
    name : str
        As in configs and on the command line.
    value, derivative : callable
        Elementwise, in single precision too; the derivative holds away from `kinks`.
    parity : {"odd", "even", "none"}
        The paper has odd activations; others take section 13 of theory.md.
    kinks : tuple of float
        Where the value or a derivative jumps; quadrature rules are split there.
    continuous : bool
        Whether the value itself has no jump. A gradient step needs a continuous activation.
    strip : float or None
        Half-width of the strip about the real line in which the function is analytic and bounded,
        if there is one: the trapezoidal rule is then used, which converges exponentially.
    oscillates : bool
        Whether it varies even far from the origin, as a sine does.
    degree : int or None
        That of a polynomial, whose averages are exact.
    symbol : str
        LaTeX, without dollars; by default the name.
    """

    name: str
    value: Callable[[Any], Any]
    derivative: Callable[[Any], Any]
    parity: Parity = "none"
    kinks: tuple[float, ...] = ()
    continuous: bool = True
    strip: float | None = None
    oscillates: bool = False
    degree: int | None = None
    symbol: str = ""

    @property
    def label(self) -> str:
        """The function in LaTeX, without dollars."""
        return self.symbol or rf"\mathrm{{{self.name}}}"


def polynomial(name: str, symbol: str, coefficients: Sequence[float] | Array) -> ScalarFunction:
    """Make a polynomial from its coefficients, constant first.

    Parameters
    ----------
    name, symbol : str
    coefficients : sequence of float
        Of 1, x, x^2, ...
    """
    poly, degree = np.polynomial.Polynomial(coefficients), int(np.flatnonzero(coefficients)[-1])
    powers = {k % 2 for k, coefficient in enumerate(coefficients) if coefficient != 0}
    parity: Parity = "none" if powers == {0, 1} else "odd" if powers == {1} else "even"
    return ScalarFunction(name, poly, poly.deriv(), parity, degree=degree, symbol=symbol)


def _hermite(degree: int) -> ScalarFunction:
    """Make the probabilists' Hermite polynomial He_k."""
    coefficients = np.polynomial.hermite_e.herme2poly([0] * degree + [1]).astype(float)
    return polynomial(f"he{degree}", rf"\mathrm{{He}}_{degree}", coefficients)


FUNCTIONS: dict[str, ScalarFunction] = {
    function.name: function
    for function in (
        ScalarFunction(
            "tanh", np.tanh, lambda x: 1 - np.tanh(x) ** 2, "odd", strip=np.pi / 2, symbol=r"\tanh"
        ),
        ScalarFunction(
            "erf", erf, lambda x: 2 / np.sqrt(np.pi) * np.exp(-(x**2)), "odd", strip=1.5
        ),
        ScalarFunction("sin", np.sin, np.cos, "odd", strip=2, oscillates=True, symbol=r"\sin"),
        ScalarFunction("sign", np.sign, np.zeros_like, "odd", kinks=(0.0,), continuous=False),
        ScalarFunction(
            "relu", lambda x: np.maximum(x, 0.0), lambda x: np.heaviside(x, 0.5), kinks=(0.0,)
        ),
        ScalarFunction(
            "hardtanh",
            lambda x: np.clip(x, -1.0, 1.0),
            lambda x: np.heaviside(1 - np.abs(x), 0.5),
            "odd",
            kinks=(-1.0, 1.0),
        ),
        ScalarFunction(
            "softsign",
            lambda x: x / (1 + np.abs(x)),
            lambda x: (1 + np.abs(x)) ** -2,
            "odd",
            kinks=(0.0,),
        ),
        ScalarFunction(
            "elu",
            lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
            lambda x: np.exp(np.minimum(x, 0)),
            kinks=(0.0,),
        ),
        ScalarFunction("softplus", lambda x: np.logaddexp(x, 0.0), expit),
        ScalarFunction("gelu", lambda x: x * ndtr(x), lambda x: ndtr(x) + x * normal_density(x)),
        ScalarFunction("silu", lambda x: x * expit(x), lambda x: expit(x) * (1 + x * expit(-x))),
        ScalarFunction("sigmoid", expit, lambda x: expit(x) * expit(-x), strip=np.pi),
        ScalarFunction("probit", ndtr, normal_density, strip=2, symbol=r"\Phi"),
        ScalarFunction(
            "leaky_relu",
            lambda x: np.maximum(x, 0.01 * x),
            lambda x: np.where(x > 0, 1.0, 0.01),
            kinks=(0.0,),
            symbol=r"\mathrm{leaky\,relu}",
        ),
        ScalarFunction("abs", np.abs, np.sign, "even", kinks=(0.0,)),
        polynomial("linear", r"\mathrm{id}", (0.0, 1.0)),
        *map(_hermite, range(1, 6)),
    )
}
