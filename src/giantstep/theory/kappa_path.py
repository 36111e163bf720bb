"""Averages over kappa along a path in the complex plane, for spectra: theory.md section 8.

At real eigenvalues, averages of functions of `1/(1 + V(kappa))` have poles next to the real axis of
kappa where features saturate: `growth_path`. V(kappa) has a positive imaginary part on the axis.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from giantstep.numerics.growth_path import growth_path
from giantstep.numerics.linear_systems import TINY
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.conditional_features import ConditionalFeatures, conditional_moments

# The path leaves the axis by so many standard deviations of a neuron's input given kappa at most.
_TURN = 2.0


def on_path(features: ConditionalFeatures, srf: SpikedFeatures) -> ConditionalFeatures:
    """Move the nodes over kappa to the path, for averages of functions of V(kappa) only.

    For several spikes they stay on the axis.
    """
    if features.beside.size:
        return features
    functions = np.concatenate([features.mu1**2, features.mu2_squared])
    farthest = _TURN * float(np.min(np.sqrt(srf.groups.c) / np.maximum(np.abs(srf.groups.u), TINY)))
    kappa, weight = growth_path(features.kappa, functions, farthest, features.mirrored)
    mu0, mu1, mu2_squared, _ = conditional_moments(srf, kappa)
    return replace(
        features,
        kappa=kappa,
        weight=(1 + features.mirrored) * weight,
        mu0=mu0,
        mu1=mu1,
        mu2_squared=mu2_squared,
        phi=features.B.T @ mu1,
        mirrored=False,
    )
