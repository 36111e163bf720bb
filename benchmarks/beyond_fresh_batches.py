"""What has no theory of several steps, measured: a reused batch, and letters from the second step.

A reused batch is compared with fresh ones and their theory: c, r and gamma after two steps.
For a readout of two letters, the angle between the spikes of both groups of neurons.

    nice python benchmarks/beyond_fresh_batches.py
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.random import SeedSequence

from giantstep import Protocol
from giantstep.arrays import Array
from giantstep.problems.sizes import Sizes
from giantstep.simulation.first_layer import FirstLayer, first_layer
from giantstep.simulation.threads import workers
from giantstep.theory.first_layer.layer import layer_of

TWO_STEPS = Protocol("tanh", "sin", 2, alpha0=1, beta=1, steps=2)
LETTERS = ((0.5, 0.5), (2.0, 0.5))
DIMENSIONS = (150, 300, 600)
NETWORKS = 12


def layers(protocol: Protocol, dimension: int) -> list[FirstLayer]:
    """Draw networks and take their steps."""
    networks = NETWORKS * DIMENSIONS[0] // dimension
    with workers(1) as pool:
        return [
            first_layer(protocol, Sizes(dimension), i, SeedSequence(dimension), pool)
            for i in range(networks)
        ]


def parameters(layer: FirstLayer) -> Array:
    """Measure c, r and gamma."""
    spike = layer.weights.mean(axis=0, dtype=float)
    strength = np.linalg.norm(spike)
    bulk = np.sum((layer.weights - spike) ** 2, axis=1).mean()
    return np.array([bulk, strength, layer.directions[0] @ spike / strength])


def turned_apart(layer: FirstLayer) -> float:
    """Measure the squared sine of the angle between the spikes of both groups.

    The mean rows of two halves of each group have independent noise: their products have none.
    """
    halves = [np.array_split(layer.weights[layer.member == g], 2) for g in (0, 1)]
    means = [[half.mean(axis=0, dtype=float) for half in group] for group in halves]
    own = [first @ second for first, second in means]
    mixed = sum(one @ other for one in means[0] for other in means[1]) / 4
    return float(1 - mixed**2 / (own[0] * own[1]))


def spread(values: list[Array] | list[float]) -> str:
    """Write means and standard errors."""
    found = np.atleast_2d(np.array(values).T)
    errors = found.std(axis=1, ddof=1) / np.sqrt(found.shape[1])
    pairs = zip(found.mean(axis=1), errors, strict=True)
    return ", ".join(f"{m:.3f} +- {e:.3f}" for m, e in pairs)


def main() -> None:
    """Measure and print."""
    for alpha0 in (1.0, 4.0):
        protocol = replace(TWO_STEPS, alpha0=alpha0)
        state = layer_of(protocol).states[-1]
        theory = state.bulk_variance, state.spike_strength, *state.alignment
        print(f"alpha0 = {alpha0:g}: c, r, gamma after two steps;", np.round(theory, 3), "theory")
        for reuse in (False, True):
            for dimension in DIMENSIONS:
                found = layers(replace(protocol, reuse_batch=reuse), dimension)
                label = "reused" if reuse else "fresh"
                print(f"  {label} d = {dimension}: {spread([parameters(one) for one in found])}")
    print("squared sine of the angle between the spikes of two letters")
    for rate, alpha0 in ((2, 1), (4, 4)):
        for steps in (1, 2, 3):
            for dimension in DIMENSIONS[:2]:
                protocol = replace(TWO_STEPS, learning_rate=rate, alpha0=alpha0, steps=steps)
                letters = layers(replace(protocol, readout=LETTERS), dimension)
                found = spread([turned_apart(layer) for layer in letters])
                print(f"  rate {rate} alpha0 {alpha0} steps {steps} d = {dimension}: {found}")


if __name__ == "__main__":
    main()
