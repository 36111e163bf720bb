"""Result 3.2: what the features are, given the input's projection kappa on the spike."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.gaussian import moments
from giantstep.numerics.quadrature import RANGE, graded_edges, split_rule, unit_edges
from giantstep.numerics.scalar_functions import ScalarFunction, lookup
from giantstep.problems.problem import noise_power
from giantstep.problems.spiked_features import SpikedFeatures

# Combinations of the mu1 below this share of the largest are rounding, not functions.
_INDEPENDENT = 1e-13


@dataclass(frozen=True)
class ConditionalFeatures:
    """The equivalent features and the target, on quadrature nodes of kappa ~ N(0, 1).

    `sigma(w.x)` is equivalent to `mu0(kappa) + mu1(kappa) (W x)_i + mu2(kappa) xi_i`, equations
    (13)-(15), with one mu for each group of neurons. An expectation over kappa is a sum against
    `weight`.

    Attributes
    ----------
    kappa, weight : Array, shape (N,)
        The rule.
    mu0, mu1, mu2_squared : Array, shape (G, N)
        Equation (15).
    phi : Array, shape (R, N)
    B : Array, shape (G, R)
        Orthogonal functions of which the mu1 are made, `mu1 = B phi`: fewer than groups, where
        the mu1 depend on one another.
    along : Array, shape (Z, N)
        Functions that meet overlaps with the spike: kappa phi and, for neurons whose norms go with
        the spike, `E sigma''` of each group.
    h, h_z : Array, shape (N,)
        Mean and slope of the target given kappa (theory.md section 4).
    target_residual : Array, shape (N,)
        Var(y | kappa) - h_z^2: what of the label is linear in neither kappa nor z, noise included.
    mirrored : bool
        Whether mu0 is odd and mu1, mu2 are even in kappa (odd activations without biases), on
        nodes that are mirror images. V(kappa) is even then, and half of the nodes do.
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
    target_residual: Array
    mirrored: bool

    def half(self, values: Array) -> Array:
        """Give a function that is even if mirrored on the nodes that do, shape (..., N')."""
        return values[..., values.shape[-1] // 2 :] if self.mirrored else values

    def fold(self, values: Array) -> Array:
        """Weight a function and add up mirror images: a sum against `half` is an expectation."""
        weighted: Array = values * self.weight
        if not self.mirrored:
            return weighted
        middle = weighted.shape[-1] // 2
        folded: Array = weighted[..., middle:] + weighted[..., middle - 1 :: -1]
        return folded


def transition_width(function: ScalarFunction, slope: float, width: float) -> float:
    """Give the width over which f(slope kappa + ...), smoothed by a Gaussian, bends."""
    own = 0.0 if function.kinks else 1.0  # without kinks it bends on its own scale of one
    return math.hypot(width, own) / abs(slope)


def kappa_rule(srf: SpikedFeatures, fineness: int = 1) -> tuple[Array, Array]:
    """Choose a quadrature rule over kappa that resolves both the features and the target.

    A function of slope * kappa + shift, smoothed by a Gaussian of some width, bends around
    (kink - shift)/slope over width/slope: a step, where nothing smooths it.
    """
    groups = srf.groups
    rho = math.sqrt(1 - srf.alignment**2)
    bends = [(lookup(srf.target), srf.alignment, 0.0, rho)]
    bends += [
        (lookup(srf.activation), u, b, math.sqrt(c))
        for c, u, b in zip(groups.c, groups.u, groups.b, strict=True)
    ]
    edges = [np.zeros(1)]
    for function, slope, shift, width in bends:
        if slope == 0:
            continue
        scale = transition_width(function, slope, width)
        if function.oscillates and scale < 1:
            edges.append(np.arange(-RANGE, RANGE, scale))
        kinks = function.kinks or (0.0,)
        edges += [graded_edges((kink - shift) / slope, scale) for kink in kinks]
    return split_rule(unit_edges(np.unique(np.concatenate(edges))), fineness)


def conditional_moments(
    srf: SpikedFeatures, kappa: Array, fineness: int = 1
) -> tuple[Array, Array, Array]:
    """Evaluate equation (15): mu0, mu1 and mu2^2 of each group, shapes (G, *kappa.shape)."""
    activation = lookup(srf.activation)
    groups = [
        (moments(activation, b + u * kappa, math.sqrt(c), fineness), math.sqrt(c))
        for c, u, _, b in zip(*srf.groups, strict=True)
    ]
    return (
        np.stack([group.mean for group, _ in groups]),
        np.stack([group.slope / root for group, root in groups]),
        np.stack([group.residual for group, _ in groups]),
    )


def _independent(mu1: Array, weight: Array) -> Array:
    """Give orthonormal columns B, shape (G, R), with mu1 = B (B^T mu1) to rounding."""
    if mu1.shape[0] == 1:
        return np.eye(1)
    left, size, _ = np.linalg.svd(mu1 * np.sqrt(weight), full_matrices=False)
    kept: Array = left[:, size > _INDEPENDENT * size[0]]
    return kept


def mean_curvatures(srf: SpikedFeatures, kappa: Array, fineness: int = 1) -> Array:
    """Compute E sigma''(b + u kappa + sqrt(c) z) of each group, shape (G, *kappa.shape).

    It is the derivative of mu0 by half the squared norm of a row; docs/trained-bulk.md.
    """
    activation = lookup(srf.activation)
    slope = replace(activation, value=activation.derivative, moments=None)
    return np.stack([
        moments(slope, b + u * kappa, math.sqrt(c), fineness).slope / math.sqrt(c)
        for c, u, _, b in zip(*srf.groups, strict=True)
    ])  # fmt: skip


def conditional_features(
    srf: SpikedFeatures, fineness: int = 1, B: Array | None = None, norms: bool = False
) -> ConditionalFeatures:
    """Evaluate equation (15) and the target's conditional moments on the nodes.

    Parameters
    ----------
    srf : SpikedFeatures
    fineness : int
        Multiplies the number of nodes of all rules.
    B : Array, optional
        That of the same features on another rule; by default found here.
    norms : bool
        Whether the neurons' norms go with the spike.
    """
    kappa, weight = kappa_rule(srf, fineness)
    mirrored = lookup(srf.activation).parity == "odd" and not np.any(srf.groups.b)
    mirrored = mirrored and kappa.size % 2 == 0 and np.array_equal(kappa, -kappa[::-1])
    if mirrored:
        half = conditional_moments(srf, kappa[kappa.size // 2 :], fineness)
        mu0, mu1, mu2_squared = (
            np.concatenate([sign * values[:, ::-1], values], axis=1)
            for sign, values in zip((-1, 1, 1), half, strict=True)
        )
    else:
        mu0, mu1, mu2_squared = conditional_moments(srf, kappa, fineness)
    B = _independent(mu1, weight) if B is None else B
    phi = B.T @ mu1
    along = [kappa * phi, mean_curvatures(srf, kappa, fineness)] if norms else [kappa * phi]
    rho = math.sqrt(1 - srf.alignment**2)
    teacher = moments(lookup(srf.target), srf.alignment * kappa, rho, fineness)
    return ConditionalFeatures(
        kappa=kappa,
        weight=weight,
        mu0=mu0,
        mu1=mu1,
        mu2_squared=mu2_squared,
        phi=phi,
        B=B,
        along=np.concatenate(along),
        h=teacher.mean,
        h_z=teacher.slope,
        target_residual=teacher.residual + noise_power(srf),
        mirrored=mirrored,
    )
