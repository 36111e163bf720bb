"""Spiked random features (sRF): Definition 3.1 of the paper, given directly."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from giantstep.arrays import Array
from giantstep.problems.domains import BETA, BULK_VARIANCE, LETTER, SPIKE_STRENGTH
from giantstep.problems.field_checks import (
    LATER,
    NOISE_INTERVALS,
    check_fields,
)
from giantstep.problems.function_field import (
    FunctionArgument,
    FunctionName,
    WithFields,
    function_faults,
    problem_class,
)
from giantstep.problems.inputs import GAUSSIAN, KNOWN_INPUTS
from giantstep.problems.readout import (
    FRACTION_ROUNDING,
    UNBIASED,
    UNIFORM,
    Vocabulary,
    check_vocabulary,
)
from giantstep.problems.targets import target_faults, teacher_of
from giantstep.problems.teachers import Teacher
from giantstep.validation import (
    POSITIVE,
    Fault,
    Interval,
    InvalidParametersError,
    interval_faults,
    plain_number,
)

# What spiked features have and a protocol has not.
SPIKED_FIELDS = ("bulk_variance", "spike_strength", "alignment")
# What simulations use as features: a network's, or Gaussian ones given the input's projection on
# the spike.
NETWORK, CONDITIONAL_GAUSSIAN = MODELS = ("network", "conditional_gaussian")
_ALIGNMENT = Interval(-1, 1)
# A spike whose overlaps with a teacher's directions are one in all, to rounding, is in their span.
_ALIGNED = 1e-12
_PER_GROUP = {
    "bulk_variance": BULK_VARIANCE,
    "spike_strength": SPIKE_STRENGTH,
    "fraction": POSITIVE,
    "bias": LETTER,
}


class Groups(NamedTuple):
    """Groups of neurons as arrays of shape (G,), in the notation of theory.md section 4."""

    c: Array
    u: Array
    pi: Array
    b: Array


@problem_class
class SpikedFeatures(WithFields):
    """Spiked random features sigma(b + F x), F = W + u v^T (Definition 3.1), in groups of neurons.

    `bulk_variance`, `spike_strength`, `fraction` and `bias` are each one number for all neurons,
    or a sequence with one entry per group; they are stored as tuples.

    Attributes
    ----------
    activation, target : str
        Names, such as "tanh", or callables, or a teacher as target; as in
        `Protocol`.
    bulk_variance : float or tuple of float
        c > 0, the squared norm of a row of the bulk W.
    spike_strength : float or tuple of float
        r, the entry of u, where |v| = 1.
    alignment : float or tuple of float
        gamma = v . theta, in [-1, 1]: overlap of spike and target direction. For a teacher, the
        overlap with each of its directions; the sum of their squares is at most one.
    beta : float
        Width over d, > 0.
    noise : float
        Variance of the label noise, >= 0.
    fraction : float or tuple of float
        Fractions pi > 0 of the neurons, which add up to one.
    bias : float or tuple of float
        Quenched biases b of the neurons.
    inputs : str
        Distribution of the inputs' entries, as in `Protocol`.
    model : str
        Features of simulations. "network", or "conditional_gaussian" for those of theory.md
        section 3 (Result 3.2), for which the theory is exact.
    outlier_fraction, outlier_variance : float
        As in `Protocol`.

    Raises
    ------
    InvalidParametersError
        With every value that is out of its domain.

    Examples
    --------
    >>> from giantstep import SpikedFeatures
    >>> one = SpikedFeatures("tanh", "sign", 1.2, 1.5, alignment=0.9, beta=1)
    >>> one.spike_strength
    (1.5,)
    >>> two = SpikedFeatures("relu", "sin", 1.2, (0.5, 2.0), 0.8, 1, fraction=(0.25, 0.75))
    >>> two.groups.c
    array([1.2, 1.2])
    """

    activation: FunctionName
    target: FunctionName
    bulk_variance: float | tuple[float, ...]
    spike_strength: float | tuple[float, ...]
    alignment: float | tuple[float, ...]
    beta: float
    noise: float = 0.0
    fraction: float | tuple[float, ...] = 1.0
    bias: float | tuple[float, ...] = 0.0
    inputs: str = GAUSSIAN
    model: str = NETWORK
    outlier_fraction: float = field(default=0.0, metadata=LATER)
    outlier_variance: float = field(default=0.0, metadata=LATER)

    def __post_init__(self) -> None:
        floats = {"beta": BETA, **NOISE_INTERVALS}
        faults = target_faults(self)
        teacher = None if faults else teacher_of(self.target)
        faults += function_faults(self, "activation") + _check_alignment(self, teacher)
        faults += KNOWN_INPUTS.faults("inputs", self.inputs)
        if self.model not in MODELS:
            faults.append(Fault("model", self.model, f"one of {', '.join(MODELS)}"))
        check_fields(self, floats, faults + _check_groups(self))

    @cached_property
    def groups(self) -> Groups:
        """The groups as arrays."""
        return Groups(*(np.array(getattr(self, name)) for name in _PER_GROUP))

    @property
    def alignments(self) -> Array:
        """Overlaps of the spike with the target's directions, shape (D,)."""
        return np.atleast_1d(np.asarray(self.alignment, dtype=float))

    @property
    def first_alignment(self) -> float:
        """Overlap of the spike with the target's direction, or with the first of several."""
        return float(self.alignments[0])

    @property
    def overlap(self) -> float:
        """Overlap of the spike with the target's direction, or with the span of several."""
        if isinstance(self.alignment, tuple):
            return float(np.linalg.norm(self.alignment))
        return self.alignment

    @property
    def is_aligned(self) -> bool:
        """Whether the spike lies in the span of the target's directions."""
        return abs(self.overlap) >= 1 - _ALIGNED


def _check_alignment(srf: SpikedFeatures, teacher: Teacher | None) -> list[Fault]:
    """Store a number, or for a teacher a tuple of them, and check it."""
    given = srf.alignment
    if teacher is None:
        object.__setattr__(srf, "alignment", plain_number(given))
        return interval_faults({"alignment": srf.alignment}, {"alignment": _ALIGNMENT})
    several = given if isinstance(given, Iterable) else (given,)
    overlaps = tuple(map(plain_number, several))
    object.__setattr__(srf, "alignment", overlaps)
    if len(overlaps) == teacher.directions and all(x in _ALIGNMENT for x in overlaps):
        size = np.linalg.norm(overlaps)
        if size <= 1 + _ALIGNED:
            object.__setattr__(srf, "alignment", tuple(x / max(1.0, float(size)) for x in overlaps))
            return []
    allowed = f"{teacher.directions} numbers whose squares add up to at most 1, for this target"
    return [Fault("alignment", given, allowed)]


def _check_groups(srf: SpikedFeatures) -> list[Fault]:
    """Store one entry per group in each field, and check the entries."""
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
            allowed = f"one number, or one for each of the {groups} groups"
            faults.append(Fault(name, given[name], allowed))
        interval = _PER_GROUP[name]
        faults += [Fault(name, x, str(interval)) for x in column if x not in interval]
        object.__setattr__(srf, name, column)
    if not faults and abs(np.sum(srf.fraction) - 1) > FRACTION_ROUNDING:
        faults.append(Fault("fraction", given["fraction"], "numbers that add up to 1"))
    return faults


def one_spike(
    activation: FunctionArgument,
    target: FunctionArgument,
    bulk_variance: float,
    spike_strength: float,
    alignment: float | tuple[float, ...],
    beta: float,
    noise: float = 0.0,
    readout: Vocabulary = UNIFORM,
    inputs: str = GAUSSIAN,
    model: str = NETWORK,
    bias: Vocabulary = UNBIASED,
    outlier_fraction: float = 0.0,
    outlier_variance: float = 0.0,
) -> SpikedFeatures:
    """Create spiked features whose groups follow from vocabularies of readouts and biases.

    One gradient step gives a neuron with readout omega the strength `omega r` and the bulk
    variance `1 + omega^2 (c - 1)`; theory.md section 2.

    Parameters
    ----------
    bulk_variance, spike_strength : float
        c and r of a neuron whose readout is one.
    readout, bias : tuple of (float, float)
        Values, each with the fraction of the neurons that have it; biases are independent of
        readouts.
    activation, target, alignment, beta, noise, inputs, model, outlier_fraction, outlier_variance
        As in `SpikedFeatures`.

    Raises
    ------
    InvalidParametersError
        With every value that is out of its domain.

    Examples
    --------
    >>> from giantstep import one_spike
    >>> srf = one_spike(
    ...     "tanh", "sign", 1.2, 1.5, alignment=0.9, beta=1, readout=((1, 0.5), (-2, 0.5))
    ... )
    >>> srf.spike_strength, srf.fraction
    ((1.5, -3.0), (0.5, 0.5))
    """
    readout, readout_faults = check_vocabulary(readout, "readout")
    bias, bias_faults = check_vocabulary(bias, "bias")
    if readout_faults + bias_faults:
        raise InvalidParametersError(readout_faults + bias_faults)
    groups: dict[str, Any] = _group_fields(bulk_variance, spike_strength, readout, bias)
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


def _group_fields(
    bulk_variance: float, spike_strength: float, readout: Vocabulary, bias: Vocabulary
) -> dict[str, tuple[float, ...]]:
    """Compute the fields of one group per pair of a readout and a bias, theory.md section 2."""
    pairs = list(product(readout, bias))
    return {
        "bulk_variance": tuple(1 + omega**2 * (bulk_variance - 1) for (omega, _), _ in pairs),
        "spike_strength": tuple(omega * spike_strength for (omega, _), _ in pairs),
        "fraction": tuple(share * part for (_, share), (_, part) in pairs),
        "bias": tuple(b for _, (b, _) in pairs),
    }
