"""The problem objects that theory and simulation both take, and the grid they are asked about.

A problem is either the one-step `Protocol` (theory.md section 1) or `SpikedFeatures`, an sRF model
given directly (Definition 3.1 of the paper). Both are checked when they are made.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.scalar_functions import SIGN, known_names, lookup
from giantstep.problems.inputs import GAUSSIAN, known_inputs, lookup_inputs
from giantstep.problems.losses import SQUARE, known_losses, lookup_loss
from giantstep.validation import (
    COUNT,
    EXTENDED,
    FINITE,
    NON_NEGATIVE,
    POSITIVE,
    Fault,
    Interval,
    InvalidParametersError,
    interval_faults,
    plain_number,
)

# Of a field that is no part of the canonical form at its default: streams and keys from before it
# was there stand.
LATER = {"later": True}


def _function_faults(name: str, value: object) -> list[Fault]:
    try:
        lookup(str(value))
    except KeyError:
        return [Fault(name, value, f"one of {known_names()}")]
    return []


def _inputs_faults(value: object) -> list[Fault]:
    try:
        lookup_inputs(str(value))
    except KeyError:
        return [Fault("inputs", value, f"one of {known_inputs()}")]
    return []


def _loss_faults(value: object) -> list[Fault]:
    try:
        lookup_loss(str(value))
    except KeyError:
        return [Fault("loss", value, f"one of {known_losses()}")]
    return []


def _activation_faults(value: object) -> list[Fault]:
    """Refuse activations that the one-step protocol cannot train (theory.md section 1)."""
    if faults := _function_faults("activation", value):
        return faults
    function = lookup(str(value))
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


_NOISE = {
    "noise": NON_NEGATIVE,
    "outlier_fraction": Interval(0, 1),
    "outlier_variance": NON_NEGATIVE,
}
# What makes a problem one step, or an sRF, besides what both have.
STEP_FIELDS = ("learning_rate", "alpha0")
SPIKED_FIELDS = ("bulk_variance", "spike_strength", "alignment")

Readout = tuple[tuple[float, float], ...]
UNIFORM: Readout = ((1.0, 1.0),)
UNBIASED: Readout = ((0.0, 1.0),)
# How far fractions may be from adding up to one; they are then made to.
_ROUNDING = 1e-6


def _settled_readout(value: Any, name: str = "readout") -> tuple[Readout, list[Fault]]:
    """Make a vocabulary a tuple of (value, fraction) pairs whose fractions add up to one."""
    allowed = "pairs of a finite value and a fraction > 0, the fractions adding up to 1"
    try:
        pairs = [(plain_number(letter), plain_number(fraction)) for letter, fraction in value]
    except (TypeError, ValueError):
        return UNIFORM, [Fault(name, value, allowed)]
    total = sum(fraction for _, fraction in pairs if fraction in POSITIVE)
    sound = all(letter in FINITE and fraction in POSITIVE for letter, fraction in pairs)
    if not pairs or not sound or abs(total - 1) > _ROUNDING:
        return UNIFORM, [Fault(name, value, allowed)]
    return tuple((letter, fraction / total) for letter, fraction in pairs), []


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
    outlier_fraction, outlier_variance : float
        Share of the labels, in [0, 1], whose noise has another variance, >= 0.
    readout : tuple of (float, float)
        The readout at initialisation: values of sqrt(p) a0 and the fractions of neurons that have
        them. One value for all is the paper's main text.
    inputs : str
        Distribution of the inputs' entries, a name that `inputs.lookup_inputs` knows. The theory
        is the same for all: that it holds beyond Gaussian ones is a conjecture to be tested.
    steps : int
        How many gradient steps; the theory is that of one.
    reuse_batch : bool
        Whether later steps take the batch of the first, instead of a fresh one each.

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
    readout: Readout = UNIFORM
    inputs: str = GAUSSIAN
    steps: int = 1
    reuse_batch: bool = False
    outlier_fraction: float = field(default=0.0, metadata=LATER)
    outlier_variance: float = field(default=0.0, metadata=LATER)

    def __post_init__(self) -> None:
        intervals = {
            "learning_rate": NON_NEGATIVE,
            "alpha0": EXTENDED,
            "beta": POSITIVE,
            **_NOISE,
        }
        readout, faults = _settled_readout(self.readout)
        object.__setattr__(self, "readout", readout)
        faults += _activation_faults(self.activation) + _function_faults("target", self.target)
        faults += _inputs_faults(self.inputs) + self._step_faults()
        _settle(self, intervals, faults)

    def _step_faults(self) -> list[Fault]:
        """Refuse steps that cannot be taken."""
        faults = []
        if self.steps not in COUNT:
            faults.append(Fault("steps", self.steps, str(COUNT)))
        if not isinstance(self.reuse_batch, bool):
            faults.append(Fault("reuse_batch", self.reuse_batch, "true or false"))
        if self.alpha0 == math.inf:  # the population gradient is known in closed form only for
            if self.steps != 1:
                faults.append(Fault("steps", self.steps, "1 where alpha0 = inf"))
            if self.inputs != GAUSSIAN and not _inputs_faults(self.inputs):
                faults.append(Fault("inputs", self.inputs, f"{GAUSSIAN} where alpha0 = inf"))
        return faults


# What an sRF's features are: a network's, or Gaussian given the input's projection on the spike.
NETWORK, CONDITIONAL_GAUSSIAN = MODELS = ("network", "conditional_gaussian")
_PER_GROUP = ("bulk_variance", "spike_strength", "fraction", "bias")


def _group_faults(srf: SpikedFeatures, allowed: dict[str, Interval]) -> list[Fault]:
    """Spread what is given once over all groups, and check each entry."""
    given = {name: getattr(srf, name) for name in _PER_GROUP}
    columns = {
        name: tuple(map(plain_number, value)) if np.ndim(value) else (plain_number(value),)
        for name, value in given.items()
    }
    groups = max(map(len, columns.values()))
    faults = []
    for name, column in columns.items():
        column = column * groups if len(column) == 1 else column
        if len(column) != groups:
            faults.append(
                Fault(name, given[name], f"one number, or one for each of {groups} groups")
            )
        faults += [Fault(name, x, str(allowed[name])) for x in column if x not in allowed[name]]
        object.__setattr__(srf, name, column)
    if not faults and abs(np.sum(srf.fraction) - 1) > _ROUNDING:
        faults.append(Fault("fraction", given["fraction"], "numbers that add up to 1"))
    return faults


@dataclass(frozen=True)
class SpikedFeatures:
    """Spiked random features sigma(b + F x), F = W + u v^T (Definition 3.1), in groups of neurons.

    The first three attributes after the functions may be one number for all neurons, or a
    sequence with one entry a group, as may `bias`; once made they are tuples.

    Attributes
    ----------
    activation, target : str
        Names that `activations.lookup` knows.
    bulk_variance : float or tuple of float
        c > 0, the squared norm of a row of the bulk W.
    spike_strength : float or tuple of float
        r, the entry of u (|v| = 1).
    alignment : float
        gamma = v . theta, in [-1, 1].
    beta : float
        Width over d, > 0.
    noise : float
        Variance of the label noise, >= 0.
    outlier_fraction, outlier_variance : float
        As in `Protocol`.
    fraction : float or tuple of float
        Shares pi > 0 of the neurons, which add up to one.
    bias : float or tuple of float
        Quenched biases b of the neurons.
    inputs : str
        Distribution of the inputs' entries, as in `Protocol`.
    model : str
        What simulations take as features: "network", or "conditional_gaussian", those of theory.md
        section 3 (Result 3.2), with which the theory is exact.

    Raises
    ------
    InvalidParametersError
        With every value that is out of its domain.
    """

    activation: str
    target: str
    bulk_variance: float | tuple[float, ...]
    spike_strength: float | tuple[float, ...]
    alignment: float
    beta: float
    noise: float = 0.0
    fraction: float | tuple[float, ...] = 1.0
    bias: float | tuple[float, ...] = 0.0
    inputs: str = GAUSSIAN
    model: str = NETWORK
    outlier_fraction: float = field(default=0.0, metadata=LATER)
    outlier_variance: float = field(default=0.0, metadata=LATER)

    def __post_init__(self) -> None:
        intervals = {"alignment": Interval(-1, 1), "beta": POSITIVE, **_NOISE}
        faults = _function_faults("activation", self.activation)
        faults += _function_faults("target", self.target) + _inputs_faults(self.inputs)
        if self.model not in MODELS:
            faults.append(Fault("model", self.model, f"one of {', '.join(MODELS)}"))
        per_group = {
            "bulk_variance": POSITIVE, "spike_strength": FINITE,
            "fraction": POSITIVE, "bias": FINITE,
        }  # fmt: skip
        _settle(self, intervals, faults + _group_faults(self, per_group))

    @cached_property
    def groups(self) -> Groups:
        """The groups as arrays."""
        return Groups(*(np.array(getattr(self, name)) for name in _PER_GROUP))


class Groups(NamedTuple):
    """Neuron groups as arrays of shape (G,), in the notation of theory.md section 4."""

    c: Array
    u: Array
    pi: Array
    b: Array


def _spread(
    bulk_variance: float, spike_strength: float, readout: Readout, bias: Readout
) -> dict[str, tuple[float, ...]]:
    """Give the groups of two vocabularies, from bulk and spike of a neuron whose readout is one.

    `u = omega r` and `c = 1 + omega^2 (c - 1)`, theory.md section 2; biases are independent of
    readouts.
    """
    pairs = list(product(readout, bias))
    return {
        "bulk_variance": tuple(1 + omega**2 * (bulk_variance - 1) for (omega, _), _ in pairs),
        "spike_strength": tuple(omega * spike_strength for (omega, _), _ in pairs),
        "fraction": tuple(share * part for (_, share), (_, part) in pairs),
        "bias": tuple(b for _, (b, _) in pairs),
    }


def one_spike(
    activation: str,
    target: str,
    bulk_variance: float,
    spike_strength: float,
    alignment: float,
    beta: float,
    noise: float = 0.0,
    readout: Readout = UNIFORM,
    inputs: str = GAUSSIAN,
    model: str = NETWORK,
    bias: Readout = UNBIASED,
    outlier_fraction: float = 0.0,
    outlier_variance: float = 0.0,
) -> SpikedFeatures:
    """Make the sRF of vocabularies, from bulk and spike of a neuron whose readout is one.

    Quenched biases, like readouts, are given as pairs of a value and a fraction of the neurons.
    """
    readout, faults = _settled_readout(readout)
    bias, further = _settled_readout(bias, "bias")
    if faults + further:
        raise InvalidParametersError(faults + further)
    groups: dict[str, Any] = _spread(bulk_variance, spike_strength, readout, bias)
    return SpikedFeatures(
        activation=activation,
        target=target,
        alignment=alignment,
        beta=beta,
        noise=noise,
        inputs=inputs,
        model=model,
        outlier_fraction=outlier_fraction,
        outlier_variance=outlier_variance,
        **groups,
    )


Problem = Protocol | SpikedFeatures


def noise_levels(problem: Problem) -> Readout:
    """Give the variances of the label noise, each with the share of the labels that have it."""
    share = problem.outlier_fraction
    levels = (problem.noise, 1 - share), (problem.outlier_variance, share)
    return tuple(level for level in levels if level[1] > 0)


def noise_power(problem: Problem) -> float:
    """Give the variance of the label noise over all labels: Delta of theory.md section 1."""
    return sum(variance * share for variance, share in noise_levels(problem))


@dataclass(frozen=True)
class Grid:
    """The sample complexities and ridges at which a problem is solved, as their product.

    Attributes
    ----------
    alpha : tuple of float
        Training samples of the readout over d, each > 0.
    ridge : tuple of float
        Penalties lambda >= 0, without 1/n; zero, for the square loss, is the ridgeless limit.
    loss : str
        What the readout minimises, a name that `losses.lookup_loss` knows.

    Raises
    ------
    InvalidParametersError
        With every value that is out of its domain, and for an empty axis.
    """

    alpha: tuple[float, ...]
    ridge: tuple[float, ...]
    loss: str = field(default=SQUARE, metadata=LATER)

    def __post_init__(self) -> None:
        faults = _loss_faults(self.loss)
        ridges = NON_NEGATIVE if self.loss == SQUARE else POSITIVE
        for name, interval in (("alpha", POSITIVE), ("ridge", ridges)):
            values = tuple(plain_number(value) for value in getattr(self, name))
            object.__setattr__(self, name, values)
            faults += [Fault(name, v, str(interval)) for v in values if v not in interval]
            if not values:
                faults.append(Fault(name, [], "at least one number"))
        if faults:
            raise InvalidParametersError(faults)


def check_loss(problem: Problem, loss: str) -> None:
    """Refuse losses of labels of +1 and -1 where labels are others.

    Raises
    ------
    InvalidParametersError
    """
    signs = problem.target == SIGN and noise_power(problem) == 0
    if lookup_loss(loss).margin and not signs:
        allowed = "square or huber, since only the target sign without noise has labels +1 and -1"
        raise InvalidParametersError([Fault("loss", loss, allowed)])


def merged_axis(*axes: Iterable[float]) -> tuple[float, ...]:
    """Unite grid axes into one sorted axis without repetitions."""
    return tuple(sorted({float(value) for axis in axes for value in axis}))


def spaced_axis(start: float, stop: float, points: int, spacing: str = "even") -> tuple[float, ...]:
    """Space values evenly or, `log`, in ratios, written as a person would: 0.6, not 0.6...01."""
    space = np.geomspace if spacing == "log" else np.linspace
    return tuple(float(f"{value:.12g}") for value in space(start, stop, points))


def written_readout(readout: Readout) -> str:
    """Write a vocabulary as the command line takes it: `0.5:0.3 2:0.7`."""
    return " ".join(f"{written(letter)}:{written(fraction)}" for letter, fraction in readout)


def written(value: float) -> str:
    """Write a number shortly and uniquely: 1, 0.5, inf."""
    return str(int(value)) if math.isfinite(value) and value == int(value) else repr(value)
