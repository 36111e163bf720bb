"""Features and target given the input's projection kappa on the spike: Result 3.2."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial

import numpy as np

from giantstep.arrays import Array, Indices
from giantstep.numerics.gaussian import moments
from giantstep.numerics.interpolation import interpolated
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.inputs import mixture_mean
from giantstep.problems.problem import label_agreement, noise_power
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.conditional_target import (
    ALIGNED,
    conditional_target,
    first_direction_across,
)
from giantstep.theory.features.kappa_rules import (
    KappaRule,
    check_resolution,
    merged_panels,
    spike_rule,
)

# Singular values of the mu1 below this fraction of the largest are rounding.
_INDEPENDENT = 1e-13
# Less than this of a mean square is rounding, as all residuals of a linear activation are.
ROUNDING = 1e-28


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
    curvature : Array, shape (G, N)
        E sigma'' given kappa.
    phi : Array, shape (R, N)
        Orthogonal functions that span the mu1; R < G if the mu1 are linearly dependent.
    B : Array, shape (G, R)
        Coefficients of the mu1 in them, `mu1 = B phi`.
    along : Array, shape (Z, N)
        Functions that the overlaps along the spikes multiply in the mean prediction: kappa phi of
        each direction in turn and, if the norms of the neurons depend on their overlap with the
        spike, E sigma'' of each group. If the input has a mean across the spike, that mean times
        phi follows, for the overlaps across it.
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
        Squared norm of a sample's features over its mean: `feature_norms`.
    """

    kappa: Array
    weight: Array
    mu0: Array
    mu1: Array
    mu2_squared: Array
    curvature: Array
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
    def is_linear(self) -> bool:
        """Whether the features have no noise of their own, beyond rounding."""
        power = np.abs(self.mu0) ** 2 + np.abs(self.mu1) ** 2
        return bool(np.all(np.abs(self.mu2_squared) <= ROUNDING * power))

    @property
    def projections(self) -> Array:
        """The projections on all directions of the spikes, shape (r, N)."""
        return np.vstack([self.kappa, *self.beside])

    @cached_property
    def slope_power(self) -> Array:
        """The variance of the target given kappa that is linear in z, |h_z|^2, shape (N,)."""
        return np.sum(self.h_z**2, axis=0)

    @cached_property
    def label_power(self) -> float:
        """The second moment of the label, noise included."""
        return float(self.weight @ (self.h**2 + self.slope_power + self.target_residual))

    @cached_property
    def across(self) -> Array:
        """Label's slopes times phi, of each direction across the spike in turn, shape (D R, N)."""
        products = self.h_z[:, None] * self.phi
        return products.reshape(-1, products.shape[-1])

    def at(self, nodes: Indices) -> ConditionalFeatures:
        """Select some of the nodes, or repeat them."""
        values, count = {one.name: getattr(self, one.name) for one in fields(self)}, self.kappa.size
        values.pop("B")  # which has no nodes, but may have as many columns
        arrays = {name: x for name, x in values.items() if np.shape(x)[-1:] == (count,)}
        return replace(self, **{name: x[..., nodes] for name, x in arrays.items()})

    def half(self, values: Array) -> Array:
        """Restrict a function to kappa > 0 if `mirrored`, shape (..., N')."""
        return values[..., values.shape[-1] // 2 :] if self.mirrored else values

    def parts(self, values: Array) -> list[Array]:
        """Split functions into an even and an odd part on the nodes of `half`, if `mirrored`.

        The average of a product is that of the products of these parts.
        """
        if not self.mirrored:
            return [values]
        right, left = self.half(values), self.half(values[..., ::-1])
        return [(right + left) / 2, (right - left) / 2]

    def fold(self, values: Array) -> Array:
        """Multiply by the weights, and add those of -kappa if `mirrored`, shape (..., N').

        `sum(fold(f) * half(g))` is E[f g] for a g that is even if `mirrored`.
        """
        weighted: Array = values * self.weight
        if not self.mirrored:
            return weighted
        middle = weighted.shape[-1] // 2
        return weighted[..., middle:] + weighted[..., middle - 1 :: -1]


def mean_inputs(srf: SpikedFeatures, kappa: Array, beside: Array | None = None) -> Array:
    """Compute the mean input of each group's neurons given the projections, (G, *kappa.shape)."""
    inputs = np.stack([b + u * kappa for u, b in zip(srf.groups.u, srf.groups.b, strict=True)])
    return inputs if beside is None or not beside.size else inputs + srf.beside @ beside


def mean_of_class(srf: SpikedFeatures) -> tuple[float, float]:
    """Return the means of inputs of class +1 of a mixture, along the spike and across it.

    Then kappa is the projection on the spike less its mean. Without classes both are zero.
    """
    mean, gamma = mixture_mean(srf.inputs) or 0.0, srf.first_alignment
    rho = math.sqrt(1 - gamma**2)
    return mean * gamma, mean * rho * (rho > ALIGNED)


def conditional_moments(
    srf: SpikedFeatures, kappa: Array, fineness: float = 1, beside: Array | None = None
) -> tuple[Array, Array, Array, Array]:
    """Evaluate equation (15), mu0, mu1 and mu2^2 of each group, and E sigma'' given kappa.

    The last is the derivative of mu0 by half the squared norm of a row,
    docs/theory/trained-bulk.md. It is zero for activations that jump, which have no second
    derivative. Shapes are (G, *kappa.shape).
    """
    activation = lookup(srf.activation)

    def of_group(mean: Array, std: float) -> tuple[Array, Array, Array, Array]:
        of_points = partial(moments, activation, std=std, fineness=fineness)
        found = interpolated(of_points, mean, min(1.0, std) / fineness)
        average, slope, residual, curvature = found
        return average, slope / std, residual, curvature / std**2 * activation.continuous

    groups = map(of_group, mean_inputs(srf, kappa, beside), np.sqrt(srf.groups.c).tolist())
    mu0, mu1, mu2_squared, curvature = map(np.stack, zip(*groups, strict=True))
    return mu0, mu1, mu2_squared, curvature


def is_mirrored(srf: SpikedFeatures, kappa: Array) -> bool:
    """Tell whether features at -kappa follow from those at kappa, on symmetric nodes without 0."""
    odd = lookup(srf.activation).parity == "odd" and not np.any(srf.groups.b)
    return odd and kappa.size % 2 == 0 and np.array_equal(kappa, -kappa[::-1])


def _independent(mu1: Array, weight: Array) -> Array:
    """Find orthonormal columns B, shape (G, R), with mu1 = B (B^T mu1) to rounding."""
    if mu1.shape[0] == 1:
        return np.eye(1)
    left, size, _ = np.linalg.svd(mu1 * np.sqrt(weight), full_matrices=False)
    rank = np.count_nonzero(size > _INDEPENDENT * size[0])
    return left[:, : max(rank, 1)]  # one, where all vanish


def conditional_features(
    srf: SpikedFeatures,
    fineness: float = 1,
    B: Array | None = None,
    norms: bool = False,
    rule: KappaRule = merged_panels,
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
    rule : callable
        The rule over kappa, if there is one spike.
    """
    check_resolution(srf, srf)
    kappa, beside, weight = spike_rule(srf, fineness, rule)
    mu0, mu1, mu2_squared, curvature = conditional_moments(srf, kappa, fineness, beside)
    B = _independent(mu1, weight) if B is None else B
    phi = B.T @ mu1
    on_spike, across = mean_of_class(srf)
    along = [projection * phi for projection in (on_spike + kappa, *beside)]
    if norms:
        along.append(curvature)
    if across > 0:
        along.append(across * phi)
    mean, slopes, residual = conditional_target(srf, kappa, fineness)
    agreement = label_agreement(srf)
    reversed_power = (1 - agreement**2) * (mean**2 + np.sum(slopes**2, axis=0))
    h, h_z = agreement * mean, agreement * slopes
    target_residual = residual + reversed_power + noise_power(srf)
    return ConditionalFeatures(
        kappa, weight, mu0, mu1, mu2_squared, curvature, phi, B, np.concatenate(along), h, h_z,
        first_direction_across(srf), target_residual, is_mirrored(srf, kappa), beside=beside,
    )  # fmt: skip
