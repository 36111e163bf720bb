"""Features and target given the input's projection kappa on the spike: Result 3.2."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.closed_forms import GaussianMoments
from giantstep.numerics.gaussian import LONGEST_TAIL, moments, tail
from giantstep.numerics.interpolation import interpolated
from giantstep.numerics.linear_systems import TINY
from giantstep.numerics.quadrature import (
    RANGE,
    WIDE,
    divided_edges,
    graded_edges,
    smooth_rule,
    split_rule,
    unit_edges,
    with_product,
)
from giantstep.numerics.scalar_functions import ScalarFunction, lookup
from giantstep.problems.problem import Problem, label_agreement, noise_power
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.problems.targets import teacher_of
from giantstep.theory.features.conditional_target import conditional_target, first_direction_across
from giantstep.validation import Fault, InvalidParametersError

# Singular values of the mu1 below this fraction of the largest are rounding.
_INDEPENDENT = 1e-13
# An oscillating activation has panels of nodes of its own scale in kappa: a million nodes at this
# one. An analytic activation has nodes in z, as many as the root of the bulk's variance: 10^5.
_FINEST_KAPPA, _LARGEST_VARIANCE = 2e-4, 2e6
# Fourth powers of features are finite.
_LARGEST_FEATURE = 1e60
# Nodes over the projections on several directions, before those of negligible weight are left out.
_MOST_NODES = 5e7
# Smaller ones are no cause to look at the tails of moments.
_LARGE_FEATURE = 1e6


@dataclass(frozen=True)
class ConditionalFeatures:
    """The equivalent features and the target, on quadrature nodes of kappa ~ N(0, 1).

    `sigma(w.x)` is equivalent to `mu0(kappa) + mu1(kappa) (W x)_i + mu2(kappa) xi_i`, equations
    (13)-(15), with one triple of functions for each group of neurons. An expectation over kappa is
    a sum against `weight`.

    Attributes
    ----------
    kappa, weight : Array, shape (N,)
        Quadrature nodes, of the projection on the first direction of the spikes, and weights.
    beside : Array, shape (r - 1, N)
        Projections on their further directions.
    mu0, mu1, mu2_squared : Array, shape (G, N)
        Equation (15).
    phi : Array, shape (R, N)
        Orthogonal functions that span the mu1; R < G if the mu1 are linearly dependent.
    B : Array, shape (G, R)
        Coefficients of the mu1 in them, `mu1 = B phi`.
    along : Array, shape (Z, N)
        Functions that the overlaps along the spikes multiply in the mean prediction: kappa phi of
        each direction in turn and,
        if the norms of the neurons depend on their overlap with the spike, E sigma'' of each group.
    h : Array, shape (N,)
        Mean of the target given kappa (theory.md section 4).
    h_z : Array, shape (D, N)
        Its slope in each of the D directions across the spike: one, for a target of one direction.
    first_across : Array, shape (D,)
        Unit vector, in these, of the part of the target's first direction across the spike.
    target_residual : Array, shape (N,)
        Var(y | kappa) - |h_z|^2, the variance of the label given kappa that is not linear in z;
        noise included.
    mirrored : bool
        Whether mu0 is odd and mu1, mu2 are even in kappa (odd activations without biases), on
        symmetric nodes. V(kappa) is even then, and half of the nodes are enough.
    mean_spread : Array, shape (G, N), or None
        Standard deviation of mu0 given kappa, which the norm of the input moves at finite
        dimension: `input_norms`.
    row_norm : Array, shape (N,)
        Squared norm of a sample's features over its mean: `sparse_rows`.
    """

    kappa: Array
    weight: Array
    mu0: Array
    mu1: Array
    mu2_squared: Array
    phi: Array
    B: Array
    along: Array
    h: Array
    h_z: Array
    first_across: Array
    target_residual: Array
    mirrored: bool
    mean_spread: Array | None = None
    row_norm: Array = field(default_factory=lambda: np.ones(1))
    beside: Array = field(default_factory=lambda: np.empty((0, 1)))

    @property
    def projections(self) -> Array:
        """The projections on all directions of the spikes, shape (r, N)."""
        if not self.beside.size:
            return self.kappa[None]
        return np.concatenate([self.kappa[None], self.beside])

    @cached_property
    def slope_power(self) -> Array:
        """The variance of the target given kappa that is linear in z, |h_z|^2, shape (N,)."""
        power: Array = np.sum(self.h_z**2, axis=0)
        return power

    @cached_property
    def across(self) -> Array:
        """Label's slopes times phi, of each direction across the spike in turn, shape (D R, N)."""
        products = self.h_z[:, None] * self.phi
        return products.reshape(-1, products.shape[-1])

    def half(self, values: Array) -> Array:
        """Restrict a function to kappa > 0 if `mirrored`, shape (..., N')."""
        return values[..., values.shape[-1] // 2 :] if self.mirrored else values

    def fold(self, values: Array) -> Array:
        """Multiply by the weights, and add those of -kappa if `mirrored`, shape (..., N').

        `sum(fold(f) * half(g))` is E[f g] for a g that is even if `mirrored`.
        """
        weighted: Array = values * self.weight
        if not self.mirrored:
            return weighted
        middle = weighted.shape[-1] // 2
        folded: Array = weighted[..., middle:] + weighted[..., middle - 1 :: -1]
        return folded


def transition_edges(
    function: ScalarFunction, shift: Array, slope: float, width: float, panel: float = 1.0
) -> Array:
    """Find edges of panels, shape (..., E), around the transitions of a function's average.

    `E f(shift + slope x + width z)`, z ~ N(0, 1), has a transition of width `width/slope` around
    `x = (kink - shift)/slope`, which is a discontinuity or a corner if the width is zero.
    """
    if slope == 0:
        return np.empty((*shift.shape, 0))
    own = 0.0 if function.kinks else 1.0  # a function without kinks varies on a scale of one
    around = graded_edges(0.0, math.hypot(width, own) / abs(slope), panel)
    kinks = function.kinks or (0.0,)
    edges = [((kink - shift) / slope)[..., None] + around for kink in kinks]
    if function.oscillates and (panel_width := oscillation_width(slope, width)) < 1:
        steps = np.arange(-RANGE, RANGE, panel_width)
        edges.append(np.broadcast_to(steps, (*shift.shape, steps.size)))
    return np.concatenate(edges, axis=-1)


def oscillation_width(slope: float, width: float) -> float:
    """Estimate the scale on which E f(slope x + width z) varies away from the kinks of f."""
    return math.hypot(width, 1.0) / abs(slope)


def kappa_rule(srf: SpikedFeatures, fineness: float = 1) -> tuple[Array, Array]:
    """Choose a quadrature rule over kappa that resolves the features and the target.

    Returns
    -------
    kappa, weight : Array, shape (N,)
    """
    return split_rule(_kappa_edges(srf), fineness)


@lru_cache(maxsize=16)
def _kappa_edges(srf: SpikedFeatures) -> Array:
    distinct = sorted(set(_transition_edges(srf).tolist()))  # ten times as fast as np.unique
    return unit_edges(np.array(distinct))


def wide_kappa_rule(srf: SpikedFeatures, fineness: float, panel: float) -> tuple[Array, Array]:
    """Choose one with half as many nodes, for averages that need be no better than 1e-10.

    Its panels are `panel` times as wide as what varies, or narrower.
    """
    return split_rule(divided_edges(_transition_edges(srf, panel), panel), fineness)


def _transition_edges(srf: SpikedFeatures, panel: float = 1.0) -> Array:
    """Find edges of panels around all transitions of the features and the target."""
    groups = srf.groups
    transitions = [
        (lookup(srf.activation), b, u, math.sqrt(c))
        for c, u, b in zip(groups.c, groups.u, groups.b, strict=True)
    ]
    edges = [
        transition_edges(function, np.array(shift), slope, width, panel)
        for function, shift, slope, width in transitions
    ]
    return np.concatenate([np.zeros(1), *edges, _target_edges(srf, panel)])


def _target_edges(srf: SpikedFeatures, panel: float) -> Array:
    """Find edges of panels around the transitions of the target."""
    if teacher_of(srf.target) is not None:  # a polynomial, which needs no nodes of its own
        return np.empty(0)
    gamma = srf.first_alignment
    width = math.sqrt(1 - gamma**2)
    return transition_edges(lookup(srf.target), np.zeros(()), gamma, width, panel)


def spike_rule(srf: SpikedFeatures, fineness: float = 1) -> tuple[Array, Array, Array]:
    """Choose a quadrature rule over the projections on all directions of the spikes.

    Returns
    -------
    kappa, beside, weight : Array, shape (N,), (r - 1, N) and (N,)
    """
    if not srf.further_spikes:
        kappa, weight = kappa_rule(srf, fineness)
        return kappa, np.empty((0, kappa.size)), weight
    # Where a feature varies along one direction depends on the others.
    smooth = 0.0 if lookup(srf.activation).kinks else 1.0
    widths = np.hypot(np.sqrt(srf.groups.c), smooth)
    u = np.column_stack([srf.groups.u, srf.beside])
    scales = np.min(widths[:, None] / np.maximum(np.abs(u), TINY), axis=0)
    edges = np.append(_target_edges(srf, 1.0), 0.0)
    finer = (1 + fineness) / 2
    first = split_rule(divided_edges(edges, WIDE * min(1.0, scales[0])), finer)
    others = smooth_rule(np.minimum(scales[1:], 1.0), finer)
    if first[0].size * others[0].size > _MOST_NODES:
        allowed = "smaller, for averages over the directions of several spikes"
        raise InvalidParametersError([Fault("spike_strength", srf.spike_strength, allowed)])
    return with_product(first, others)


def check_resolution(problem: Problem, srf: SpikedFeatures) -> None:
    """Refuse features that vary on so small a scale that quadrature would need too many nodes.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
        What was given.
    srf : SpikedFeatures
        Those equivalent to it.

    Raises
    ------
    InvalidParametersError
        For the problem's own parameters.
    """
    if fault := _resolution_fault(srf):
        if isinstance(problem, Protocol) and fault.name != "activation":
            allowed = (
                f"smaller, or beta or alpha0 larger: {fault.name} is {fault.value:.3g} after the"
                f" step, and must be {fault.allowed}"
            )
            fault = Fault("learning_rate", problem.learning_rate, allowed)
        raise InvalidParametersError([fault])


@lru_cache(maxsize=16)
def _resolution_fault(srf: SpikedFeatures) -> Fault | None:
    function = lookup(srf.activation)
    for c, u, _, b in zip(*srf.groups, strict=True):
        scale = oscillation_width(u, math.sqrt(c)) if u else 1.0
        if function.oscillates and scale < _FINEST_KAPPA:
            allowed = f"small enough that {function.name} varies slowly along the spike"
            return Fault("spike_strength", float(u), allowed)
        if function.moments is None and function.strip and c > _LARGEST_VARIANCE:
            allowed = f"at most {_LARGEST_VARIANCE:g} for {function.name}"
            return Fault("bulk_variance", float(c), allowed)
        with np.errstate(all="ignore"):
            largest = function.value(np.array([-1, 1]) * (abs(b) + RANGE * (abs(u) + math.sqrt(c))))
        if not np.all(np.abs(largest) < _LARGEST_FEATURE):
            allowed = f"such that features stay below {_LARGEST_FEATURE:g}: use smaller weights"
            return Fault("activation", srf.activation, allowed)
        large = function.moments is None and np.max(np.abs(largest)) > _LARGE_FEATURE
        if large and tail(function.value, abs(b) + math.hypot(u, math.sqrt(c))) > LONGEST_TAIL:
            allowed = "of slower growth (or weights smaller), for moments of features to be exact"
            return Fault("activation", srf.activation, allowed)
    return None


def mean_inputs(srf: SpikedFeatures, kappa: Array, beside: Array | None = None) -> Array:
    """Compute the mean input of each group's neurons given the projections, (G, *kappa.shape)."""
    inputs: Array = np.stack(
        [b + u * kappa for u, b in zip(srf.groups.u, srf.groups.b, strict=True)]
    )
    return inputs if beside is None or not beside.size else inputs + srf.beside @ beside


def conditional_moments(
    srf: SpikedFeatures, kappa: Array, fineness: float = 1, beside: Array | None = None
) -> tuple[Array, Array, Array]:
    """Evaluate equation (15): mu0, mu1 and mu2^2 of each group, shapes (G, *kappa.shape)."""
    activation, average = (
        lookup(srf.activation),
        _moments_at_many if srf.further_spikes else moments,
    )
    groups = [
        (average(activation, inputs, math.sqrt(c), fineness), math.sqrt(c))
        for c, inputs in zip(srf.groups.c, mean_inputs(srf, kappa, beside), strict=True)
    ]
    return (
        np.stack([group.mean for group, _ in groups]),
        np.stack([group.slope / root for group, root in groups]),
        np.stack([group.residual for group, _ in groups]),
    )


def _independent(mu1: Array, weight: Array) -> Array:
    """Find orthonormal columns B, shape (G, R), with mu1 = B (B^T mu1) to rounding."""
    if mu1.shape[0] == 1:
        return np.eye(1)
    left, size, _ = np.linalg.svd(mu1 * np.sqrt(weight), full_matrices=False)
    kept: Array = left[:, size > _INDEPENDENT * size[0]]
    return kept


def _moments_at_many(
    function: ScalarFunction, mean: Array, std: float, fineness: float
) -> GaussianMoments:
    """Compute `moments` at the nodes of a product rule, by interpolation between some."""
    if function.moments is not None:
        return function.moments(mean, std)

    def of_points(points: Array) -> tuple[Array, ...]:
        at = moments(function, points, std, fineness)
        return at.mean, at.slope, at.residual

    return GaussianMoments(*interpolated(of_points, mean, min(1.0, std) / fineness))


def mean_curvatures(
    srf: SpikedFeatures, kappa: Array, fineness: float = 1, beside: Array | None = None
) -> Array:
    """Compute E sigma''(b + u kappa + sqrt(c) z) of each group, shape (G, *kappa.shape).

    This is the derivative of mu0 by half the squared norm of a row; docs/trained-bulk.md.
    """
    activation = lookup(srf.activation)
    slope = replace(activation, value=activation.derivative, moments=None)
    average = _moments_at_many if srf.further_spikes else moments
    return np.stack([
        average(slope, inputs, math.sqrt(c), fineness).slope / math.sqrt(c)
        for c, inputs in zip(srf.groups.c, mean_inputs(srf, kappa, beside), strict=True)
    ])  # fmt: skip


def conditional_features(
    srf: SpikedFeatures, fineness: float = 1, B: Array | None = None, norms: bool = False
) -> ConditionalFeatures:
    """Evaluate equation (15) and the target's conditional moments on quadrature nodes.

    Parameters
    ----------
    srf : SpikedFeatures
    fineness : float
        Multiplies the number of nodes of all rules.
    B : Array, shape (G, R), optional
        The `B` of the same features on another rule, for unknowns that mean the same on both.
    norms : bool
        Whether the norms of the neurons depend on their overlap with the spike.
    """
    check_resolution(srf, srf)
    kappa, beside, weight = spike_rule(srf, fineness)
    mirrored = lookup(srf.activation).parity == "odd" and not np.any(srf.groups.b)
    mirrored = mirrored and kappa.size % 2 == 0 and np.array_equal(kappa, -kappa[::-1])
    if mirrored:
        right = slice(kappa.size // 2, None)
        half = conditional_moments(srf, kappa[right], fineness, beside[:, right])
        mu0, mu1, mu2_squared = (
            np.concatenate([sign * values[:, ::-1], values], axis=1)
            for sign, values in zip((-1, 1, 1), half, strict=True)
        )
    else:
        mu0, mu1, mu2_squared = conditional_moments(srf, kappa, fineness, beside)
    B = _independent(mu1, weight) if B is None else B
    phi = B.T @ mu1
    along = [projection * phi for projection in (kappa, *beside)]
    if norms:
        along.append(mean_curvatures(srf, kappa, fineness))
    target, agreement = conditional_target(srf, kappa, fineness), label_agreement(srf)
    reversed_power = (1 - agreement**2) * (target.mean**2 + np.sum(target.slopes**2, axis=0))
    return ConditionalFeatures(
        kappa=kappa,
        weight=weight,
        mu0=mu0,
        mu1=mu1,
        mu2_squared=mu2_squared,
        phi=phi,
        B=B,
        along=np.concatenate(along),
        h=agreement * target.mean,
        h_z=agreement * target.slopes,
        first_across=first_direction_across(srf),
        target_residual=target.residual + reversed_power + noise_power(srf),
        mirrored=mirrored,
        beside=beside,
    )
