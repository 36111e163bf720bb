"""Gradient steps of networks whose initial readout has several values.

Equations: docs/theory/larger-rank-spikes.md. Inputs are projected on the target and on directions
across it that the letters' spikes span.
"""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.activation_averages import activation_averages
from giantstep.numerics.function_table import ScalarFunction
from giantstep.numerics.interpolation import interpolated
from giantstep.numerics.quadrature import WIDE
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.losses import lookup_loss
from giantstep.problems.protocol import Protocol
from giantstep.theory.features.kappa_rules import check_resolution, fewest_nodes, spike_rule
from giantstep.theory.first_layer.network_state import spiked_features
from giantstep.theory.first_layer.step import LettersState, Step
from giantstep.theory.first_layer.step_loss import noisy_labels


@lru_cache(maxsize=256)  # protocols share the first steps that they have in common
def letters_after(before: LettersState, protocol: Protocol, fineness: int) -> LettersState:
    """Compute the state after one more step, on a target of one direction."""
    # Inputs are projected on the target first.
    srf = spiked_features(protocol, before.bulk_variance, before.spikes, alignment=1.0)
    check_resolution(protocol, srf)
    kappa, beside, weight = spike_rule(srf, fineness, fewest_nodes)
    x = np.vstack([kappa, beside])
    averages = averages_of_letters(lookup(protocol.activation), before, x, fineness)
    clean = lookup(protocol.target).value(kappa)
    output = np.prod(protocol.readout, axis=1) @ averages[0]
    loss = lookup_loss(protocol.step_loss)
    sign, noise, share = np.array([*noisy_labels(protocol)]).T[..., None]
    residuals = loss.residual_and_curvature(sign * clean + noise, output)
    averages, x = (np.tile(of_nodes, len(share)) for of_nodes in (averages, x))
    return Step(protocol, before, averages, *residuals, share * weight, x).take()


def averages_of_letters(
    activation: ScalarFunction, state: LettersState, x: Array, fineness: float
) -> Array:
    """Average an activation and its derivatives over the neurons of each letter: (6, G, N)."""

    def average(points: Array, std: float) -> tuple[Array, ...]:
        return activation_averages(activation, points, std, (1 + fineness) / 2, WIDE).of_letters

    of_letters = [
        interpolated(partial(average, std=std), inputs, min(1.0, std) / fineness)
        for inputs, std in zip(state.spikes @ x, np.sqrt(state.bulk_variance), strict=True)
    ]
    return np.stack(of_letters, axis=1)
