"""Spiked random features (sRF): Definition 3.1 of the paper, given directly."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.scalar_functions import CLASS
from giantstep.problems.domains import BULK_VARIANCE, LETTER, OVERLAP, SPIKE_STRENGTH, Several
from giantstep.problems.function_field import FunctionName
from giantstep.problems.inputs import GAUSSIAN, mixture_mean
from giantstep.problems.parameter import (
    Parameter,
    means,
    parameters_of,
    read_parameters,
    unmet,
)
from giantstep.problems.readout import (
    BIAS,
    FRACTION_ROUNDING,
    READOUT,
    UNBIASED,
    UNIFORM,
    Vocabulary,
)
from giantstep.problems.shared import (
    ACTIVATION,
    BETA,
    INPUTS,
    LABEL_FLIPS,
    NOISE,
    OUTLIER_FRACTION,
    OUTLIER_VARIANCE,
    TARGET,
)
from giantstep.problems.targets import CLASS_INPUTS, teacher_of
from giantstep.registry import one_of
from giantstep.validation import POSITIVE, Fault, collected, raise_all, read_value

# What spiked features have and a protocol has not.
SPIKED_FIELDS = ("bulk_variance", "spike_strength", "alignment")
# What simulations use as features: a network's, or Gaussian ones given the input's projection on
# the spike.
NETWORK, CONDITIONAL_GAUSSIAN = MODELS = ("network", "conditional_gaussian")
# Directions that spikes and the target may span together: what quadrature can do.
MOST_SPIKES = 4
# A spike whose overlaps with a teacher's directions are one in all, to rounding, is in their span.
_ALIGNED = 1e-12
_COLUMN = "one number, or one for each of the %d groups"
_OVERLAPS = "as many numbers as the target has directions, %d, of squares that add up to at most 1"
_EACH = f"as many numbers, {MOST_SPIKES - 1} at most, for each"
_PER_GROUP = "bulk_variance", "spike_strength", "fraction", "bias"


_BULK_VARIANCE = Parameter("squared norm of a bulk row", "c", Several(BULK_VARIANCE), "(11)")
_SPIKE_STRENGTH = Parameter("spike strength", "r", Several(SPIKE_STRENGTH), "(10)")
_ALIGNMENT = Parameter("overlap of spike and target", r"\gamma", Several(OVERLAP), "(9)")
_FRACTION = Parameter("share of the neurons", r"\pi", Several(POSITIVE), "theory.md section 4")
_BIASES = Parameter("quenched bias of the neurons", "b", Several(LETTER), "App. D")
_COORDINATES = Several(Several(SPIKE_STRENGTH, least=0), least=0)
_FURTHER = Parameter("spike strengths on further directions", "r'", _COORDINATES, "C.8")
_MODEL = Parameter("what simulations of an sRF take as features", "model", one_of(*MODELS), "(15)")


class Groups(NamedTuple):
    """Groups of neurons as arrays of shape (G,), in the notation of theory.md section 4."""

    c: Array
    u: Array
    pi: Array
    b: Array


@dataclass(frozen=True)
class SpikedFeatures:
    """Spiked random features sigma(b + F x), F = W + u v^T (Definition 3.1), in groups of neurons.

    `bulk_variance`, `spike_strength`, `fraction` and `bias` are each one number for all neurons,
    or a sequence with one entry per group; they are stored as tuples.

    Attributes
    ----------
    activation, target : str
        Names, callables, or a teacher as target, as in `Protocol`.
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
    further_spikes : tuple of tuple of float
        Of each group, the entries of u on further directions, which are orthogonal to v, to one
        another and to the target: a spike of larger rank. `several_spikes` finds them from
        the overlaps of the groups' spikes.

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

    activation: FunctionName = field(metadata=means(ACTIVATION))
    target: FunctionName = field(metadata=means(TARGET))
    bulk_variance: float | tuple[float, ...] = field(metadata=means(_BULK_VARIANCE))
    spike_strength: float | tuple[float, ...] = field(metadata=means(_SPIKE_STRENGTH))
    alignment: float | tuple[float, ...] = field(metadata=means(_ALIGNMENT))
    beta: float = field(metadata=means(BETA))
    noise: float = field(default=0.0, metadata=means(NOISE))
    fraction: float | tuple[float, ...] = field(default=1.0, metadata=means(_FRACTION))
    bias: float | tuple[float, ...] = field(default=0.0, metadata=means(_BIASES))
    inputs: str = field(default=GAUSSIAN, metadata=means(INPUTS))
    model: str = field(default=NETWORK, metadata=means(_MODEL))
    outlier_fraction: float = field(default=0.0, metadata=means(OUTLIER_FRACTION))
    outlier_variance: float = field(default=0.0, metadata=means(OUTLIER_VARIANCE))
    label_flips: float = field(default=0.0, metadata=means(LABEL_FLIPS))
    further_spikes: tuple[tuple[float, ...], ...] = field(default=(), metadata=means(_FURTHER))

    def __post_init__(self) -> None:
        given = {name: getattr(self, name) for name in ("alignment", *_PER_GROUP)}
        raise_all(read_parameters(self))
        columns = {name: getattr(self, name) for name in _PER_GROUP}
        groups, further = max(map(len, columns.values())), self.further_spikes
        spread = {name: x * groups if len(x) == 1 else x for name, x in columns.items()}
        self._store(spread | {"further_spikes": further if any(further) else ()})
        raise_all([replace(x, value=given.get(x.name, x.value)) for x in self._faults(groups)])
        overlaps = (self.alignments / max(1.0, self.overlap)).tolist()
        self._store({"alignment": tuple(overlaps) if teacher_of(self.target) else overlaps[0]})

    def _store(self, values: dict[str, Any]) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _faults(self, groups: int) -> list[Fault]:
        """List which of its parameters do not go together."""
        teacher, has_classes = teacher_of(self.target), mixture_mean(self.inputs) is not None
        directions = teacher.directions if teacher else 1
        known = self.alignments.size == directions and self.overlap <= 1 + _ALIGNED
        columns = {name: getattr(self, name) for name in _PER_GROUP}
        differ = any(len(column) != groups for column in columns.values())
        adds_up = differ or abs(np.sum(self.fraction) - 1) <= FRACTION_ROUNDING
        one, several = not self.further_spikes, "where spikes have several"
        sizes = [len(row) for row in self.further_spikes]
        fit = sizes in [[size] * groups for size in range(1, MOST_SPIKES)]
        checks: list[tuple[str, object, str]] = [
            *((x, len(given) == groups, _COLUMN % groups) for x, given in columns.items()),
            ("fraction", adds_up, "numbers that add up to 1"),
            ("alignment", known, _OVERLAPS % directions),
            ("inputs", has_classes or self.target != CLASS, CLASS_INPUTS),
            ("target", one or not teacher, f"of one direction, {several}"),
            ("model", one or self.model == NETWORK, f"{NETWORK} {several} directions"),
            ("further_spikes", one or fit, f"{_EACH} of the {groups} groups"),
        ]
        return unmet(self, checks)

    # As in a protocol.
    has_steps: ClassVar[bool] = False
    has_covariance: ClassVar[bool] = False
    is_transfer: ClassVar[bool] = False
    is_giant_step: ClassVar[bool] = True
    follows_population: ClassVar[bool] = False

    def with_giant_step(self, dimension: float) -> SpikedFeatures:
        """Return the features, which are the same at every dimension."""
        return self

    @cached_property
    def groups(self) -> Groups:
        """The groups as arrays; of a mixture b has the mean input of class +1."""
        groups = Groups(*(np.array(getattr(self, name)) for name in _PER_GROUP))
        mean = self.first_alignment * (mixture_mean(self.inputs) or 0.0)
        return groups._replace(b=groups.b + mean * groups.u) if mean else groups

    @cached_property
    def beside(self) -> Array:
        """The entries of u on further directions, shape (G, r - 1)."""
        return np.array(self.further_spikes).reshape(self.groups.c.size, -1)

    @property
    def further_directions(self) -> int:
        """How many directions spikes have beyond the first."""
        return int(self.beside.shape[1])

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
        return math.hypot(*self.alignment) if isinstance(self.alignment, tuple) else self.alignment

    @property
    def is_aligned(self) -> bool:
        """Whether the spike lies in the span of the target's directions."""
        return abs(self.overlap) >= 1 - _ALIGNED


def one_spike(
    activation: FunctionName,
    target: FunctionName,
    bulk_variance: float,
    spike_strength: float,
    alignment: float | tuple[float, ...],
    beta: float,
    *,
    readout: Vocabulary = UNIFORM,
    bias: Vocabulary = UNBIASED,
    **parameters: Any,
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
    activation, target, alignment, beta, **parameters
        As in `SpikedFeatures`, without `fraction` and `further_spikes`.

    Examples
    --------
    >>> from giantstep import one_spike
    >>> srf = one_spike(
    ...     "tanh", "sign", 1.2, 1.5, alignment=0.9, beta=1, readout=((1, 0.5), (-2, 0.5))
    ... )
    >>> srf.spike_strength, srf.fraction
    ((1.5, -3.0), (0.5, 0.5))
    """
    faults: list[Fault] = []
    readout = read_value("readout", readout, READOUT.domain, faults)
    bias = read_value("bias", bias, BIAS.domain, faults)
    bulk_variance = read_value("bulk_variance", bulk_variance, BULK_VARIANCE, faults)
    spike_strength = read_value("spike_strength", spike_strength, SPIKE_STRENGTH, faults)
    if faults:
        with collected(faults):
            SpikedFeatures(activation, target, 1.0, 1.0, alignment, beta, **parameters)
    raise_all(faults)
    c, r = bulk_variance, spike_strength  # theory.md section 2
    groups = [
        (c + (omega**2 - 1) * (c - 1), omega * r, share * part, b)
        for (omega, share), (b, part) in product(readout, bias)
    ]
    values: dict[str, Any] = dict(zip(_PER_GROUP, zip(*groups, strict=True), strict=True))
    return SpikedFeatures(
        activation, target, alignment=alignment, beta=beta, **values, **parameters
    )


def one_spike_parameters() -> dict[str, Parameter]:
    """List the parameters of `one_spike`: vocabularies are in the place of groups of neurons."""
    of_class = parameters_of(SpikedFeatures)
    del of_class["fraction"], of_class["further_spikes"]
    vocabularies = (("readout", READOUT, UNIFORM), ("bias", BIAS, UNBIASED))
    return of_class | {name: replace(of, default=default) for name, of, default in vocabularies}
