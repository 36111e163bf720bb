"""Whether several steps, or a preconditioned one, learn more of a target than Sigma t.

Networks with power-law inputs take several steps on parts of a batch or on the whole of it, or one
step that is multiplied by the inverse covariance. Printed are, for each number of samples in all
batches over d, the learning rate of the least test error, the alignment of the mean row with the
target, and the test error at the best ridge: rows of config/figures/figs23-steps.csv.

    nice python benchmarks/scaling.py [--networks 8] [--dimension 400] [--decay 1.5]
"""

from __future__ import annotations

import argparse
import math
from dataclasses import replace

import numpy as np
from numpy.random import SeedSequence, default_rng

from giantstep import Protocol
from giantstep.arrays import Array, Single
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.sizes import Sizes
from giantstep.simulation.first_layer import first_layer
from giantstep.simulation.threads import workers

EXPONENT, BETA, ALPHA = 0.45, 2, 1
SAMPLES = 0.25, 1, 4, 16, 64
RATES = 0.25, 0.5, 1, 2, 4, 8, 16
RIDGES = np.geomspace(1e-2, 1e2, 17)
# Name, steps, whether all take the whole batch, and the power of Sigma^-1 that multiplies them.
METHODS = (
    ("one step", 1, False, 0),
    ("two steps", 2, False, 0),
    ("four steps", 4, False, 0),
    ("eight steps", 8, False, 0),
    ("four on one batch", 4, True, 0),
    ("preconditioned", 1, False, 1),
)


def first_layers(problem: Protocol, sizes: Sizes, network: int) -> tuple[Single, Array]:
    """Train the first layer of a network; return its whitened rows, and the target's direction."""
    with workers(1) as pool:
        trained = first_layer(problem, sizes, network, SeedSequence([1, sizes.dimension]), pool)
    return trained.weights, trained.directions[0]


def measure(problem: Protocol, theta: Array, weights: Single, network: int) -> Array:
    """Measure the alignment of the mean row, and the test error at each ridge."""
    rng, target = default_rng([2, network]), lookup(problem.target)
    z = rng.standard_normal((ALPHA * theta.size + 4_000, theta.size), dtype=np.float32)
    y, features = target.value(z @ theta), np.tanh(z @ weights.T.astype(np.float32))
    train, test = features[: ALPHA * theta.size].astype(float), features[ALPHA * theta.size :]
    values, vectors = np.linalg.eigh(train @ train.T / len(weights))
    labels = vectors.T @ y[: len(train)]
    fits = train.T @ (vectors @ (labels[:, None] / (values[:, None] + RIDGES))) / len(weights)
    errors = np.mean((test @ fits - y[len(train) :, None]) ** 2, axis=0)
    mean = weights.mean(axis=0)
    return np.array([abs(mean @ theta) / np.linalg.norm(mean), *errors])


def row(
    problem: Protocol,
    of: tuple[str, int, bool, int],
    samples: float,
    arguments: argparse.Namespace,
) -> str:
    """Measure one method at its best learning rate."""
    name, steps, reuse, power = of
    dimension, found = arguments.dimension, {}
    alpha0 = samples if reuse else samples / steps
    problem = replace(problem, steps=steps, reuse_batch=reuse, alpha0=alpha0, precondition=power)
    for rate in RATES:
        moved, each = replace(problem, learning_rate=rate), []
        for network in range(arguments.networks):
            weights, theta = first_layers(moved, Sizes(dimension), network)
            each.append(measure(moved, theta, weights, network))
        found[rate] = np.array(each)
    at = {rate: int(np.argmin(x[:, 1:].mean(axis=0))) + 1 for rate, x in found.items()}
    rate = min(found, key=lambda one: found[one][:, at[one]].mean())
    values = found[rate][:, [0, at[rate]]]
    mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / math.sqrt(len(values))
    numbers = f"{mean[0]:.4f},{error[0]:.4f},{mean[1]:.4f},{error[1]:.4f}"
    return f"{name},{samples:g},{rate:g},{RIDGES[at[rate] - 1]:.2g},{numbers}"


def main() -> None:
    """Measure all methods, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", type=int, default=8)
    parser.add_argument("--dimension", type=int, default=400)
    parser.add_argument("--decay", type=float, default=1.5)
    arguments = parser.parse_args()
    problem = Protocol(
        "tanh", "sign", 1, 1, BETA, covariance=f"power:{EXPONENT}", target_decay=arguments.decay
    )
    print("method,samples,rate,ridge,alignment,alignment_error,test_error,error")
    for samples in SAMPLES:
        for of in METHODS:
            print(row(problem, of, samples, arguments), flush=True)


if __name__ == "__main__":
    main()
