"""Result 3.2: what the features are, given the input's projection kappa on the spike."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from giantstep.activations import FUNCTIONS, Array
from giantstep.gaussian import graded_edges, moments, split_rule, unit_edges
from giantstep.protocol import SpikedFeatures


@dataclass(frozen=True)
class ConditionalFeatures:
    """The equivalent features and the target, on quadrature nodes of kappa ~ N(0, 1).

    `sigma(w.x)` is equivalent to `mu0(kappa) + mu1(kappa) (W x)_i + mu2(kappa) xi_i`, equations
    (13)-(15). All arrays have shape (N,); an expectation over kappa is a sum against `weight`.

    Attributes
    ----------
    kappa, weight : Array
        The rule.
    mu0, mu1, mu2_squared : Array
        Equation (15).
    h, h_z : Array
        Mean and slope of the target given kappa (theory.md section 4).
    target_residual : Array
        Var(y | kappa) - h_z^2: what of the label is linear in neither kappa nor z, noise included.
    """

    kappa: Array
    weight: Array
    mu0: Array
    mu1: Array
    mu2_squared: Array
    h: Array
    h_z: Array
    target_residual: Array


def kappa_rule(srf: SpikedFeatures) -> tuple[Array, Array]:
    """Choose a quadrature rule over kappa that resolves both the features and the target.

    The target given kappa bends over a width rho/gamma around kink/gamma (a step, once gamma is
    1); the features over a width sqrt(c)/r around kink/r.
    """
    gamma, r = abs(srf.alignment), srf.spike_strength
    places = [np.zeros(1)]
    for name, slope, width in (
        (srf.target, srf.alignment, math.sqrt(1 - gamma**2)),
        (srf.activation, r, max(1.0, math.sqrt(srf.bulk_variance))),
    ):
        if slope != 0:
            kinks = FUNCTIONS[name].kinks or (0.0,)
            places += [graded_edges(kink / slope, width / abs(slope)) for kink in kinks]
    return split_rule(unit_edges(np.concatenate(places)))


def conditional_features(srf: SpikedFeatures) -> ConditionalFeatures:
    """Evaluate equation (15) and the target's conditional moments on the nodes."""
    kappa, weight = kappa_rule(srf)
    root_c = math.sqrt(srf.bulk_variance)
    student = moments(FUNCTIONS[srf.activation], srf.spike_strength * kappa, root_c)
    rho = math.sqrt(1 - srf.alignment**2)
    teacher = moments(FUNCTIONS[srf.target], srf.alignment * kappa, rho)
    return ConditionalFeatures(
        kappa=kappa,
        weight=weight,
        mu0=student.mean,
        mu1=student.slope / root_c,
        mu2_squared=student.residual,
        h=teacher.mean,
        h_z=teacher.slope,
        target_residual=teacher.residual + srf.noise,
    )
