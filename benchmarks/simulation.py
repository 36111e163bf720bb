"""The simulation beside the usual way of running the same experiment; ratios, in one run.

The experiment: d = p = 2000, a first step on 1000 samples, seven sample complexities from 0.2 to 3,
three training replicates of one network, 5,000 test samples. The usual way draws a fresh data set
for every point, and inverts the features' Gram matrix.

    python benchmarks/simulation.py [--quick] [--memory]
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import resource
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from table import seconds
from threadpoolctl import threadpool_limits

from giantstep import Protocol
from giantstep.problems.grid import Grid
from giantstep.problems.sizes import Sizes
from giantstep.simulation.simulate import simulate

ALPHAS = (0.2, 0.5, 0.8, 1.2, 1.6, 2.2, 3.0)
TRAININGS, TESTS, RIDGE = 3, 5000, 0.01
PROTOCOL = Protocol("tanh", "tanh", learning_rate=1, alpha0=0.5, beta=1)
CORES = len(os.sched_getaffinity(0))


def usual_way(d: int, seed: int = 0) -> NDArray[np.float64]:
    """Test errors, shape (trainings, alphas), as a notebook would compute them."""
    rng, p, eta, n0 = np.random.default_rng(seed), d, PROTOCOL.learning_rate * d, d // 2
    theta, weights = rng.standard_normal(d), rng.standard_normal((p, d))
    theta /= np.linalg.norm(theta)
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    inputs = rng.standard_normal((n0, d))
    before = inputs @ weights.T
    error = np.tanh(inputs @ theta) - np.tanh(before) @ np.ones(p) / p
    slopes = error[:, None] * (1 - np.tanh(before) ** 2)
    weights += eta / p * slopes.T @ inputs / n0
    errors = np.empty((TRAININGS, len(ALPHAS)))
    for training, place in np.ndindex(errors.shape):
        inputs = rng.standard_normal((int(ALPHAS[place] * d), d))
        labels = np.tanh(inputs @ theta)
        features = np.tanh(inputs @ weights.T) / np.sqrt(p)
        inverse = np.linalg.inv(features.T @ features + RIDGE * np.eye(p))
        readout = inverse @ (features.T @ labels)
        inputs = rng.standard_normal((TESTS, d))
        outputs = np.tanh(inputs @ weights.T) / np.sqrt(p) @ readout
        errors[training, place] = np.mean((np.tanh(inputs @ theta) - outputs) ** 2)
    return errors


def ours(d: int, threads: int = CORES, network: int = 0) -> NDArray[np.float64]:
    """Test errors, shape (trainings, alphas)."""
    sizes = Sizes(d, TRAININGS, TESTS)
    found = simulate(PROTOCOL, Grid(ALPHAS, (RIDGE,)), sizes, [network], 1, threads=threads)
    return found.test_error[0, :, :, 0]


def product_rates(
    threads: int, measure: Callable[[Callable[[], object], int], float] = seconds
) -> tuple[float, float]:
    """Multiply-adds a second, times two, of large matrix products: single, double precision."""
    rates = []
    for precision in (np.float32, np.float64):
        matrix = np.random.default_rng(0).standard_normal((4096, 4096)).astype(precision)
        with threadpool_limits(threads):
            rates.append(2 * 4096**3 / measure(lambda m=matrix: m @ m, 4))
    return rates[0], rates[1]


def counted_arithmetic(d: int) -> float:
    """Operations that the experiment needs in matrix products and factorisations."""
    counts = [round(alpha * d) for alpha in ALPHAS]
    step = 2 * (d // 2) * 2 * d * d
    features = TRAININGS * 2 * max(counts) * d * d
    gram = TRAININGS * max(counts) * d * d  # symmetric: half of a product
    dual = TRAININGS * sum(n * n * d + n**3 / 3 for n in counts if n < d)
    factors = TRAININGS * sum(d**3 / 3 for n in counts if n >= d)
    return step + features + gram + dual + factors + 2 * TESTS * d * d


# Functions and whether what they call counts as theirs.
PROFILED = {
    "features": ("network_features.py", "draw", False),
    "Gram matrices": ("ridge.py", "add", True),
    "factorisations and refinement": ("ridge.py", "_refined", True),
    "inputs and labels drawn": ("samples.py", "draw_samples", True),
    "dual kernels": ("ridge.py", "_fit_dual", False),
    "slopes of the step": ("gradients.py", "batch_slopes", True),
    "sum of the gradient": ("gradient_steps.py", "block", False),
    "weights drawn": ("samples.py", "unit_rows", True),
}


def profile(d: int) -> None:
    """Print where the time of one thread goes."""
    profiler = cProfile.Profile()
    total = seconds(lambda: profiler.runcall(ours, d, threads=1))
    spent = {
        (Path(path).name, name): (own, below)
        for (path, _, name), (_, _, own, below, _) in pstats.Stats(profiler).stats.items()  # type: ignore[attr-defined]
    }
    print(f"profile, one thread, {total:.2f} s:")
    rest = total
    for title, (path, name, whole) in PROFILED.items():
        part = spent[path, name][whole]
        rest -= part
        print(f"  {part / total:6.1%}  {title}")
    print(f"  {rest / total:6.1%}  all else")


def compare(d: int) -> None:
    """Print the ratio of times, the share of the machine's rate, and both ways' errors."""
    ours(d // 4)  # whatever is loaded on first use
    quick, slow = (seconds(lambda way=way: way(d), 2) for way in (ours, usual_way))
    single, double = product_rates(CORES)
    arithmetic = counted_arithmetic(d)
    print(f"d = p = {d}, {CORES} cores: usual way {slow:.1f} s, giantstep {quick:.2f} s")
    print(f"{slow / quick:.1f} times less")
    alone = seconds(lambda: ours(d, threads=1), 2)
    print(f"one thread: {alone:.2f} s, {alone / quick:.2f} times as long as {CORES} threads")
    print(f"products: {single / 1e9:.0f} GF/s single, {double / 1e9:.0f} GF/s double precision")
    share = arithmetic / quick / single
    print(f"counted arithmetic: {arithmetic / 1e9:.0f} GF, at {share:.0%} of the single rate")
    same_accuracy()


def same_accuracy(d: int = 200, networks: int = 100) -> None:
    """Print both ways' test errors over many smaller networks: they run the same experiment."""
    ways = usual_way, lambda d, k: ours(d, network=k)
    means, variances = [], []
    for way in ways:
        errors = np.array([way(d, k).mean(axis=0) for k in range(networks)])
        means.append(errors.mean(axis=0))
        variances.append(errors.var(axis=0, ddof=1) / networks)
    z = (means[1] - means[0]) / np.sqrt(sum(variances))
    print(f"test errors at d = {d}, {networks} networks: usual way", *means[0].round(4))
    print("  giantstep", *means[1].round(4))
    print("  difference in standard errors", *z.round(1))


def memory() -> None:
    """Print the peak memory of one network of d = p = 10,000 (some minutes)."""
    sizes = Sizes(10_000, 1, 2000)
    taken = seconds(
        lambda: simulate(PROTOCOL, Grid((0.8, 2.0), (RIDGE,)), sizes, [0], 1, threads=CORES)
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"d = p = 10,000, {CORES} threads: {taken:.0f} s, peak {peak:.2f} GiB")


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="at d = 500")
    parser.add_argument("--memory", action="store_true", help="peak memory at d = 10,000, only")
    arguments = parser.parse_args()
    if arguments.memory:
        memory()
        return
    d = 500 if arguments.quick else 2000
    compare(d)
    profile(d)


if __name__ == "__main__":
    main()
