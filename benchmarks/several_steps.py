"""The theory of several steps beside simulated weights and networks, at random settings.

Protocols are drawn from a seed and simulated at two dimensions. The parameters c, r, gamma of the
first layer, the covariance Sigma of its rows, and the test error are extrapolated in 1/d and
compared with each bulk; the test error also at the larger dimension. The table gives the mean of
|z|, beside what it would be by chance, and the median and largest gaps of the test errors.

    nice python benchmarks/several_steps.py [--seed 1] [--settings 40] [--measured FILE] [--each]
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.random import Generator, SeedSequence

from giantstep import Protocol
from giantstep.arrays import Array
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.grid import Grid
from giantstep.problems.sizes import Sizes
from giantstep.simulation.first_layer import FirstLayer, first_layer
from giantstep.simulation.simulate import simulate
from giantstep.simulation.threads import workers
from giantstep.theory.first_layer.layer import layer_of
from giantstep.theory.readout.solve import solve
from giantstep.validation import InvalidParametersError

ACTIVATIONS = ("tanh", "erf", "softplus", "gelu")
TARGETS = ("sin", "tanh", "sign", "polynomial:0.5,1,0.5", "polynomial:0,1,0,0.2")
BULKS = ("isotropic", "trained")
GRID = Grid((2.0,), (0.1,))
# Networks at each dimension.
NETWORKS = {150: 24, 300: 12}
# Without noise of batches the rows of large steps are nearly parallel, which the exact gradient of
# the population does not allow.
LARGEST_SPIKE = 1.5
PARAMETERS = 3
SIGMA = np.triu_indices(3)


class Measured(NamedTuple):
    """Means over networks and their standard errors: c, r, gamma, Sigma's triangle, test error."""

    mean: Array
    error: Array


def draw_settings(seed: int, count: int) -> Iterator[Protocol]:
    """Draw protocols that have a theory; a fifth has infinite batches."""
    for i in range(count):
        rng = np.random.default_rng([seed, i])
        protocol = _draw(rng)
        while not _can_be_measured(protocol):
            protocol = _draw(rng)
        yield protocol


def _draw(rng: Generator) -> Protocol:
    infinite = rng.uniform() < 0.2
    return Protocol(
        str(rng.choice(ACTIVATIONS)),
        str(rng.choice(TARGETS)),
        learning_rate=_log_uniform(rng, 0.25, 8),
        alpha0=math.inf if infinite else _log_uniform(rng, 1, 30),
        beta=_log_uniform(rng, 0.5, 2),
        noise=float(rng.choice((0, 0, 0.3))),
        steps=int(rng.integers(1, 6)),
    )


def _log_uniform(rng: Generator, low: float, high: float) -> float:
    """Draw a number whose logarithm is uniform, rounded to three digits."""
    return float(f"{math.exp(rng.uniform(math.log(low), math.log(high))):.3g}")


def _can_be_measured(protocol: Protocol) -> bool:
    try:
        states = layer_of(protocol).states[1:]
    except InvalidParametersError:
        return False
    ratios = [state.spike_strength / math.sqrt(state.bulk_variance) for state in states]
    return math.isfinite(protocol.alpha0) or max(ratios) < LARGEST_SPIKE


def row_state(layer: FirstLayer) -> Array:
    """Measure c, r, gamma and the triangle of Sigma of an actual first layer."""
    dimension = layer.directions[0].size
    spike = layer.weights.mean(axis=0, dtype=float)
    strength = np.linalg.norm(spike)
    spike /= strength
    bulk = layer.weights - strength * spike
    squares = np.sum(bulk**2, axis=1)
    theta = layer.directions[0].astype(float)
    across = theta - (theta @ spike) * spike
    across /= np.linalg.norm(across)
    memory = bulk @ spike, bulk @ across, squares / squares.mean() - 1
    covariance = dimension * np.cov(memory, bias=True)
    return np.array([squares.mean(), strength, theta @ spike, *covariance[SIGMA]])


def measure(protocol: Protocol, dimension: int, seed: int) -> Measured:
    """Simulate some networks at a dimension."""
    networks, sizes = NETWORKS[dimension], Sizes(dimension, 2)
    with workers(1) as pool:
        states = [
            row_state(first_layer(protocol, sizes, i, SeedSequence([seed, dimension]), pool))
            for i in range(networks)
        ]
    errors = simulate(protocol, GRID, sizes, range(networks), seed).test_error
    found = np.column_stack([states, errors.mean(axis=1).ravel()])
    return Measured(found.mean(axis=0), found.std(axis=0, ddof=1) / math.sqrt(networks))


def measured_settings(protocols: Sequence[Protocol], seed: int, file: Path | None) -> Array:
    """Measure each setting, shape (settings, dimensions, 2, 10); what a file holds is not repeated.

    The third axis is the mean and its standard error.
    """
    done: list[Array] = []
    if file is not None and file.exists():
        done = list(np.load(file))
    for protocol in protocols[len(done) :]:
        done.append(np.array([measure(protocol, dimension, seed) for dimension in NETWORKS]))
        if file is not None:
            np.save(file, np.array(done))
    return np.array(done[: len(protocols)])


class Compared(NamedTuple):
    """Settings beside one theory: z-scores and gaps in per cent, theory over simulation minus one.

    Attributes
    ----------
    parameters, sigma : Array
        z of c, r and gamma, shape (settings, 3), and of Sigma's entries, shape (settings, 6).
    limit, finite : Array, shape (settings,)
        z of the test error extrapolated to d -> infinity, and at the larger dimension.
    limit_gap, finite_gap : Array, shape (settings,)
    """

    parameters: Array
    sigma: Array
    limit: Array
    finite: Array
    limit_gap: Array
    finite_gap: Array


def _expected_state(protocol: Protocol, bulk: str) -> Array:
    state = layer_of(protocol).states[-1]
    sigma = state.covariance
    if bulk == "isotropic":
        sigma = np.diag([state.bulk_variance, state.bulk_variance, 0])
    return np.array([state.bulk_variance, state.spike_strength, *state.alignment, *sigma[SIGMA]])


def compare(protocols: Sequence[Protocol], measured: Array, bulk: str) -> Compared:
    """Set the measurements beside the theory with a bulk."""
    large = list(NETWORKS)[-1]
    mean, error = measured[:, :, 0], measured[:, :, 1]
    limit = 2 * mean[:, 1] - mean[:, 0]
    limit_error = np.sqrt(4 * error[:, 1] ** 2 + error[:, 0] ** 2)
    expected = np.array([_expected_state(protocol, bulk) for protocol in protocols])
    z = (limit[:, :-1] - expected) / limit_error[:, :-1]
    # Without noise of batches the spike is the target: nothing of it is across.
    unknown = np.array([protocol.alpha0 == math.inf for protocol in protocols])
    z[np.ix_(unknown, [4, 6, 7])] = np.nan
    at_limit, at_large = (
        np.array([solve(p, GRID, bulk, dimension).test_error.item() for p in protocols])
        for dimension in (math.inf, large)
    )
    return Compared(
        parameters=z[:, :PARAMETERS],
        sigma=z[:, PARAMETERS:],
        limit=(limit[:, -1] - at_limit) / limit_error[:, -1],
        finite=(mean[:, 1, -1] - at_large) / error[:, 1, -1],
        limit_gap=100 * (at_limit / limit[:, -1] - 1),
        finite_gap=100 * (at_large / mean[:, 1, -1] - 1),
    )


def chance(extrapolated: bool) -> float:
    """Compute the mean of |z| for a theory that is exact, by drawing numbers of networks."""
    rng = np.random.default_rng(0)
    small, large = (rng.standard_normal((20_000, count)) for count in NETWORKS.values())
    errors = [x.std(axis=1, ddof=1) / math.sqrt(x.shape[1]) for x in (small, large)]
    if not extrapolated:
        return float(np.mean(np.abs(large.mean(axis=1) / errors[1])))
    # Networks at the smaller dimension vary more.
    mean = 2 * large.mean(axis=1) - math.sqrt(2) * small.mean(axis=1)
    return float(np.mean(np.abs(mean) / np.sqrt(4 * errors[1] ** 2 + 2 * errors[0] ** 2)))


def table(compared: Sequence[Compared], chosen: Array) -> str:
    """Tabulate mean and median of |z| of each theory, for chosen settings."""
    rows = [["quantity", "chance", *BULKS], ["---"] * (2 + len(BULKS))]
    for name, label in (
        ("parameters", "c, r, gamma"),
        ("sigma", "Sigma"),
        ("limit", "test error, d -> infinity"),
        ("finite", f"test error, d = {list(NETWORKS)[-1]}"),
    ):
        cells = []
        for one in compared:
            z = np.abs(getattr(one, name)[chosen])
            z = z[np.isfinite(z)]
            cells.append(f"{z.mean():.2f} ({np.median(z):.2f}, {z.max():.0f})")
        rows.append([label, f"{chance(name != 'finite'):.2f}", *cells])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def listing(protocols: Sequence[Protocol], measured: Array, compared: Sequence[Compared]) -> str:
    """List every setting with the test errors' z and gaps, the largest |z| first."""
    lines = []
    for i in np.argsort(-np.abs(compared[-1].finite)):
        p = protocols[i]
        z = " ".join(f"{one.limit[i]:+.1f}/{one.finite[i]:+.1f}" for one in compared)
        gaps = " ".join(f"{one.limit_gap[i]:+.1f}/{one.finite_gap[i]:+.1f}" for one in compared)
        lines.append(
            f"z {z} gaps {gaps} error {measured[i, 1, 0, -1]:.4f} "
            f"sigma {np.round(compared[-1].sigma[i], 1)} {p.activation} {p.target} "
            f"rate {p.learning_rate} alpha0 {p.alpha0} beta {p.beta} noise {p.noise} k {p.steps}"
        )
    return "\n".join(lines)


def main() -> None:
    """Draw, measure, compare, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--settings", type=int, default=40)
    parser.add_argument("--measured", type=Path, help="file that keeps the simulations (.npy)")
    parser.add_argument("--each", action="store_true", help="also list every setting")
    arguments = parser.parse_args()
    protocols = list(draw_settings(arguments.seed, arguments.settings))
    measured = measured_settings(protocols, arguments.seed, arguments.measured)
    compared = [compare(protocols, measured, bulk) for bulk in BULKS]
    odd = np.array([lookup(protocol.activation).parity == "odd" for protocol in protocols])
    for label, chosen in (("all", odd | True), ("odd", odd), ("not odd", ~odd)):
        print(f"{label}: {chosen.sum()} settings", table(compared, chosen), sep="\n")
    if arguments.each:
        print(listing(protocols, measured, compared))


if __name__ == "__main__":
    main()
