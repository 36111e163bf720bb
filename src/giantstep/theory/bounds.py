"""Bounds on the error of the best readout: equations (26)-(31) and (132), theory.md section 7."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.gaussian import standard_moments
from giantstep.numerics.minimisation import refine_on_grid
from giantstep.problems.inputs import GAUSSIAN, mixture_mean
from giantstep.problems.problem import Problem, label_agreement, noise_power
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.problems.targets import target_function, teacher_of
from giantstep.theory.features.conditional_features import conditional_features, mean_of_class
from giantstep.theory.features.kappa_rules import check_resolution, fewest_nodes
from giantstep.theory.first_layer.equivalent_features import equivalent_features
from giantstep.validation import InvalidParametersError

# Candidates for the best learning rate and the best bias.
LEARNING_RATES = np.geomspace(1e-3, 1e3, 61)
BIASES = np.linspace(-10, 10, 81)
# Functions of less than this size are rounding, such as mu1 of an even activation without a spike;
# and so are combinations of less than that size, relative to the largest.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Bounds:
    """Bounds on the test error at the optimal ridge.

    Attributes
    ----------
    upper, lower : float
        Equations (26) and (27), or their counterparts for a spike that is not along the target. The
        upper bound is the limit of the error for a large ridge.
    upper_coefficients : Array, shape (G,)
        The b for which `sum b mu0` is nearest to the target.
    lower_coefficients : Array, shape (2 G,), or more for several spikes
        The b0 and b1 for which `sum b0 mu0 + b1 kappa mu1` is nearest to the target.
    """

    upper: float
    lower: float
    upper_coefficients: Array
    lower_coefficients: Array


def best_linear_error(target: str, inputs: str = GAUSSIAN) -> float:
    """Compute the error of the best linear predictor, `Var f* - |E z f*|^2/E z^2`.

    It has an intercept, which features that are not odd have, too. Neither kernels nor random
    features do better when n is proportional to d (section 4.1 of the paper, for odd targets).
    Targets of a mixture are odd.
    """
    if teacher := teacher_of(target):
        explained = teacher.mean**2 + float(teacher.linear @ teacher.linear)
        return teacher.second_moments()[0] - explained
    of_one, mean = standard_moments(target_function(target, inputs)), mixture_mean(inputs)
    if mean is None:
        return float(of_one.residual)
    along = of_one.slope + mean * of_one.mean
    return float(of_one.second - along**2 / (1 + mean**2))


def bounds(problem: Problem) -> Bounds:
    """Compute the bounds (26) and (27), for any groups of neurons and any alignment.

    Given the projection kappa on the spike, the target is `h(kappa) + h_z(kappa) z` plus a residual
    that no prediction contains, where z is the input's projection on the target's part across the
    spike. Predictions are `sum m mu0 + zeta kappa mu1 + psi mu1 z` plus noise. So the error is at
    least the variance of the residual plus two squared distances: of h from the span of mu0 and
    kappa mu1, and of h_z from that of mu1. At a large ridge predictions have only the part along
    mu0. If the spike is along the target, as in the paper, there is no z. Norms that depend on the
    overlap with the spike (the bulk "trained") add a function of kappa, which the lower bound
    leaves out.

    Examples
    --------
    >>> import math
    >>> from giantstep import Protocol
    >>> limits = bounds(Protocol("tanh", "sin", learning_rate=3, alpha0=math.inf, beta=1))
    >>> print(f"{limits.lower:.4f} {limits.upper:.4f}")
    0.0038 0.0211
    """
    srf, agreement = equivalent_features(problem), label_agreement(problem)
    check_resolution(problem, srf)
    f = conditional_features(replace(srf, label_flips=0.0), rule=fewest_nodes)
    upper, b = _distance(f.h, f.mu0, f.weight)
    if agreement < 1:  # fits approach the mean label
        upper = float(f.weight @ (f.h - agreement * b @ f.mu0) ** 2)
    on_spike, beside = mean_of_class(srf)
    span = [f.mu0, *((on_spike + k) * f.mu1 for k in f.projections), *[f.mu1] * (beside > 0)]
    lower, both = _distance(f.h, np.concatenate(span), f.weight)
    rest = float(f.weight @ (f.target_residual - noise_power(srf)))
    across = sum(_distance(slope, f.mu1, f.weight)[0] for slope in f.h_z)
    return Bounds(upper + rest + float(f.weight @ f.slope_power), lower + rest + across, b, both)


def _distance(h: Array, span: Array, weight: Array) -> tuple[float, Array]:
    """Compute the squared distance of h from a span, and the coefficients of its projection."""
    root = np.sqrt(weight)
    span = np.where(np.abs(span) @ weight[:, None] > _ROUNDING, span, 0.0)
    coefficients: Array = np.linalg.lstsq((span * root).T, h * root, _ROUNDING)[0].astype(float)
    return float(weight @ (h - coefficients @ span) ** 2), coefficients


def bounds_at_best_learning_rate(protocol: Protocol) -> tuple[float, float]:
    """Minimise each bound over the learning rate: equations (28)-(31).

    Returns
    -------
    upper, lower : float
    """

    def at(which: str, log_rate: Array) -> float:
        with suppress(InvalidParametersError):  # rows that are too long at this rate
            of = bounds(replace(protocol, learning_rate=float(np.exp(log_rate[0]))))
            return float(getattr(of, which))
        return math.inf

    candidates = np.log(LEARNING_RATES)
    return _least(partial(at, "upper"), candidates), _least(partial(at, "lower"), candidates)


def _least(function: Callable[[Array], float], candidates: Array) -> float:
    """Minimise over an interval: find the best candidate, then refine between its neighbours."""
    best = int(np.argmin([function(x) for x in candidates[:, None]]))
    return refine_on_grid(function, [candidates], [best], 1e-6)[1]


def lower_bound_with_bias(problem: Problem) -> float:
    """Minimise the lower bound over a bias common to all neurons: equation (132)."""
    srf = equivalent_features(problem)
    return _least(lambda b: bounds(with_common_bias(srf, float(b[0]))).lower, BIASES)


def with_common_bias(srf: SpikedFeatures, bias: float) -> SpikedFeatures:
    """Add a bias to those of all neurons."""
    return replace(srf, bias=tuple(srf.groups.b + bias))
