"""The problem objects that theory and simulation both take, and the grid they are asked about.

A problem is either the one-step `Protocol` (theory.md section 1) or `SpikedFeatures`, an sRF model
given directly (Definition 3.1 of the paper). Both are checked when they are made.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from giantstep.activations import FUNCTIONS, known_names
from giantstep.faults import (
    EXTENDED,
    NON_NEGATIVE,
    POSITIVE,
    Fault,
    Interval,
    InvalidParametersError,
    interval_faults,
    plain_number,
)


def _function_faults(name: str, value: object) -> list[Fault]:
    if isinstance(value, str) and value in FUNCTIONS:
        return []
    return [Fault(name, value, f"one of {known_names()}")]


def _activation_faults(value: object) -> list[Fault]:
    """Refuse activations that the one-step protocol cannot train (theory.md section 1)."""
    if faults := _function_faults("activation", value):
        return faults
    function = FUNCTIONS[str(value)]
    if function.parity == "odd" and function.continuous:
        return []
    return [Fault("activation", value, "odd and continuous in the one-step protocol")]


def _settle(problem: Any, intervals: dict[str, Interval], faults: list[Fault]) -> None:
    """Make the numeric fields plain floats, and raise every fault of the problem at once."""
    for name in intervals:
        object.__setattr__(problem, name, plain_number(getattr(problem, name)))
    faults = faults + interval_faults(vars(problem), intervals)
    if faults:
        order = [field.name for field in fields(problem)]
        raise InvalidParametersError(sorted(faults, key=lambda fault: order.index(fault.name)))


@dataclass(frozen=True)
class Protocol:
    """One large gradient step on the first layer, then ridge on the readout; theory.md section 1.

    Attributes
    ----------
    activation, target : str
        Names in `activations.FUNCTIONS`; the activation odd and continuous.
    learning_rate : float
        eta tilde, >= 0: the step is eta = learning_rate * d.
    alpha0 : float
        Samples of the first step over d, in [0, inf]; 0 leaves the network at initialisation,
        inf steps along the population gradient.
    beta : float
        Width over d, > 0.
    noise : float
        Variance of the label noise, >= 0.

    Raises
    ------
    InvalidParametersError
        With every value that is out of its domain.
    """

    activation: str
    target: str
    learning_rate: float
    alpha0: float
    beta: float
    noise: float = 0.0

    def __post_init__(self) -> None:
        intervals = {
            "learning_rate": NON_NEGATIVE,
            "alpha0": EXTENDED,
            "beta": POSITIVE,
            "noise": NON_NEGATIVE,
        }
        faults = _activation_faults(self.activation) + _function_faults("target", self.target)
        _settle(self, intervals, faults)


@dataclass(frozen=True)
class SpikedFeatures:
    """Spiked random features sigma(F x), F = W + u v^T (Definition 3.1, one uniform spike).

    Attributes
    ----------
    activation, target : str
        Names in `activations.FUNCTIONS`.
    bulk_variance : float
        c > 0, the squared norm of a row of the bulk W.
    spike_strength : float
        r >= 0, every entry of u (|v| = 1).
    alignment : float
        gamma = v . theta, in [-1, 1].
    beta : float
        Width over d, > 0.
    noise : float
        Variance of the label noise, >= 0.

    Raises
    ------
    InvalidParametersError
        With every value that is out of its domain.
    """

    activation: str
    target: str
    bulk_variance: float
    spike_strength: float
    alignment: float
    beta: float
    noise: float = 0.0

    def __post_init__(self) -> None:
        intervals = {
            "bulk_variance": POSITIVE,
            "spike_strength": NON_NEGATIVE,
            "alignment": Interval(-1, 1),
            "beta": POSITIVE,
            "noise": NON_NEGATIVE,
        }
        faults = _function_faults("activation", self.activation)
        _settle(self, intervals, faults + _function_faults("target", self.target))


Problem = Protocol | SpikedFeatures


@dataclass(frozen=True)
class Grid:
    """The sample complexities and ridges at which a problem is solved, as their product.

    Attributes
    ----------
    alpha : tuple of float
        Training samples of the readout over d, each > 0.
    ridge : tuple of float
        Penalties lambda >= 0, without 1/n; zero is the ridgeless limit.

    Raises
    ------
    InvalidParametersError
        With every value that is out of its domain, and for an empty axis.
    """

    alpha: tuple[float, ...]
    ridge: tuple[float, ...]

    def __post_init__(self) -> None:
        faults: list[Fault] = []
        for name, interval in (("alpha", POSITIVE), ("ridge", NON_NEGATIVE)):
            values = tuple(plain_number(value) for value in getattr(self, name))
            object.__setattr__(self, name, values)
            faults += [Fault(name, v, str(interval)) for v in values if v not in interval]
            if not values:
                faults.append(Fault(name, [], "at least one number"))
        if faults:
            raise InvalidParametersError(faults)


def merged_axis(*axes: Iterable[float]) -> tuple[float, ...]:
    """Unite grid axes into one sorted axis without repetitions."""
    return tuple(sorted({float(value) for axis in axes for value in axis}))


def even_axis(start: float, stop: float, points: int) -> tuple[float, ...]:
    """Space `points` values evenly, written as a person would: 0.6, not 0.6000000000000001."""
    return tuple(float(f"{value:.12g}") for value in np.linspace(start, stop, points))


def written(value: float) -> str:
    """Write a number shortly and uniquely: 1, 0.5, inf."""
    return str(int(value)) if math.isfinite(value) and value == int(value) else repr(value)
