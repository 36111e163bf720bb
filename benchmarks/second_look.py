"""What networks see of He3 and z1*z2 in several steps on one batch: the overlaps of figure S17.

nice python benchmarks/second_look.py > config/figures/figs17-overlaps.csv
"""

from __future__ import annotations

import csv
import sys

import numpy as np
from numpy.random import SeedSequence

from giantstep import Protocol
from giantstep.problems.sizes import Sizes
from giantstep.simulation.first_layer import first_layer
from giantstep.simulation.threads import workers

DIMENSION, NETWORKS, STEPS = 300, 16, (1, 2, 3, 5)


def overlap(protocol: Protocol, network: int) -> float:
    """Measure the overlap of a network's mean row with the first direction of the target."""
    with workers(1) as pool:
        layer = first_layer(protocol, Sizes(DIMENSION), network, SeedSequence(DIMENSION), pool)
    spike = layer.weights.mean(axis=0, dtype=float)
    return float(layer.directions[0] @ spike / np.linalg.norm(spike))


def main() -> None:
    """Measure and print."""
    rows = csv.writer(sys.stdout, lineterminator="\n")
    rows.writerow(("target", "steps", "overlap", "error"))
    for target in ("he3", "z1*z2"):
        for steps in STEPS:
            protocol = Protocol("tanh", target, 1, alpha0=4, beta=1, steps=steps, reuse_batch=True)
            found = [overlap(protocol, network) for network in range(NETWORKS)]
            error = np.std(found, ddof=1) / np.sqrt(NETWORKS)
            rows.writerow((target, steps, f"{np.mean(found):.4f}", f"{error:.4f}"))


if __name__ == "__main__":
    main()
