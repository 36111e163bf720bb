"""What a readout can reach at best: bounds (26)-(31) and (132), theory.md section 7."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize_scalar

from giantstep.arrays import Array
from giantstep.numerics.gaussian import moments
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.conditional_features import conditional_features
from giantstep.theory.equivalent_features import equivalent_features
from giantstep.validation import Fault, InvalidParametersError

# Where the best learning rate or bias is looked for.
LEARNING_RATES = np.geomspace(1e-3, 1e3, 61)
BIASES = np.linspace(-10, 10, 81)


@dataclass(frozen=True)
class Bounds:
    """Bounds on the test error optimised over the ridge, for a spike along the target.

    Attributes
    ----------
    upper, lower : float
        Equations (26) and (27); the upper one is the error as the ridge grows.
    upper_coefficients : Array, shape (G,)
        b, with which sum b mu0 realises the upper bound.
    lower_coefficients : Array, shape (2 G,)
        b and b', with which sum b mu0 + b' kappa mu1 realises the lower bound.
    """

    upper: float
    lower: float
    upper_coefficients: Array
    lower_coefficients: Array


def best_linear_error(target: str) -> float:
    """Compute the error of the best linear predictor, `E f*^2 - (E z f*)^2`.

    Neither kernels nor random features do better when n is proportional to d (Section 4.1 of the
    paper); dimensionless.
    """
    teacher = moments(lookup(target), 0.0, 1.0)
    return float(teacher.residual + teacher.mean**2)


def bounds(problem: Problem) -> Bounds:
    """Compute the bounds (26) and (27), for any groups of neurons.

    Raises
    ------
    InvalidParametersError
        Unless the spike is along the target: an alignment of 1 or -1 (an infinite first batch).
    """
    srf = equivalent_features(problem)
    if abs(srf.alignment) != 1:
        allowed = "1 or -1 for the bounds to hold: take an infinite first batch (alpha0 = inf)"
        raise InvalidParametersError([Fault("alignment", srf.alignment, allowed)])
    f = conditional_features(srf)
    upper, b = _distance(f.h, f.mu0, f.weight)
    lower, both = _distance(f.h, np.concatenate([f.mu0, f.kappa * f.mu1]), f.weight)
    return Bounds(upper, lower, b, both)


def _distance(h: Array, span: Array, weight: Array) -> tuple[float, Array]:
    """Give the squared distance of h to a span, and the coefficients of the nearest point."""
    root = np.sqrt(weight)
    coefficients: Array = np.linalg.lstsq((span * root).T, h * root, rcond=1e-12)[0].astype(float)
    return float(weight @ (h - coefficients @ span) ** 2), coefficients


def best_over_learning_rate(protocol: Protocol) -> tuple[float, float]:
    """Minimise both bounds over the learning rate: equations (28)-(31).

    Returns
    -------
    upper, lower : float
    """

    def at(learning_rate: float) -> Bounds:
        return bounds(replace(protocol, learning_rate=learning_rate))

    return (
        _least(lambda rate: at(float(np.exp(rate))).upper, np.log(LEARNING_RATES)),
        _least(lambda rate: at(float(np.exp(rate))).lower, np.log(LEARNING_RATES)),
    )


def lower_bound_with_bias(problem: Problem) -> float:
    """Minimise the lower bound over a bias common to all neurons: equation (132)."""
    srf = equivalent_features(problem)

    def at(bias: float) -> float:
        return bounds(shifted(srf, bias)).lower

    return _least(at, BIASES)


def shifted(srf: SpikedFeatures, bias: float) -> SpikedFeatures:
    """Add a bias to all neurons."""
    return replace(srf, bias=tuple(srf.groups.b + bias))


def _least(function: Callable[[float], float], candidates: Array) -> float:
    """Minimise over an interval: the best of the candidates, improved between its neighbours."""
    values = np.array([function(float(x)) for x in candidates])
    best = int(np.argmin(values))
    around = candidates[max(best - 1, 0)], candidates[min(best + 1, candidates.size - 1)]
    found = minimize_scalar(function, bounds=around, method="bounded", options={"xatol": 1e-6})
    return float(min(values[best], found.fun))
