"""Approximate message passing on data, beside its state evolution: docs/best-possible.md.

python benchmarks/amp.py --dimension 1000 --repeats 8
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.special import log_ndtr

from giantstep.numerics.monotone_pieces import Pieces
from giantstep.numerics.scalar_functions import SIGN, lookup
from giantstep.problems.protocol import Protocol
from giantstep.theory.bayes_optimal import state_evolution
from giantstep.theory.label_channel import posterior_mean

# Target, variance of the noise, samples over d.
CASES = [
    ("sign", 0.0, 1.0), ("sign", 0.0, 3.0), ("sign", 0.2, 2.0), ("sin", 0.1, 1.0),
    ("abs", 0.0, 0.4), ("abs", 0.0, 0.9), ("abs", 0.0, 1.3), ("he2", 0.1, 1.2), ("he3", 0.0, 0.7),
    ("he3", 0.0, 1.3), ("relu", 0.05, 1.5),
]  # fmt: skip


class Output:
    """Moments of z = omega + sqrt(V) w given its label."""

    def __init__(self, target, noise, y):
        self.function, self.noise, self.y = lookup(target), noise, y
        self.branches = None
        if noise == 0 and target != SIGN:
            self.branches = Pieces(self.function).preimages(y)

    def moments(self, omega, V):
        """Compute E[w | y, omega] and E[w^2 - 1 | y, omega]."""
        if self.branches is not None:
            return [posterior_mean(*self.branches, omega[:, None], V, k)[:, 0] for k in (1, 2)]
        if self.noise == 0:  # w is above or below t
            t = -omega / np.sqrt(V)
            ratio = np.exp(-(t**2) / 2 - np.log(2 * np.pi) / 2 - log_ndtr(-self.y * t))
            return self.y * ratio, self.y * t * ratio
        w = np.linspace(-7, 7, 281)
        gaps = self.y[:, None] - self.function.value(omega[:, None] + np.sqrt(V) * w)
        logs = -(gaps**2) / (2 * self.noise) - w**2 / 2
        p = np.exp(logs - logs.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        return p @ w, p @ (w**2 - 1)


def overlap(target, noise, alpha, dimension, seed, iterations=200):
    """Run AMP from a random start; return its squared overlap with the target's direction."""
    rng, n = np.random.default_rng(seed), round(alpha * dimension)
    theta, X = rng.standard_normal(dimension), rng.standard_normal((n, dimension))
    theta /= np.linalg.norm(theta)
    y = lookup(target).value(X @ theta) + np.sqrt(noise) * rng.standard_normal(n)
    output, X = Output(target, noise, y), X / np.sqrt(dimension)
    v, V, g = 1e-3 * rng.standard_normal(dimension), 1.0, np.zeros(n)
    for _ in range(iterations):
        omega = X @ v - V * g
        first, second = output.moments(omega, V)
        g, slope = first / np.sqrt(V), (first**2 - second) / V
        A = max(slope.sum() / dimension, 1e-12)
        before, v = v, (A * v + X.T @ g) / (1 + A)
        V = max(1 / (1 + A), 1e-9)
        if np.linalg.norm(v - before) < 1e-6 * np.linalg.norm(v):
            break
    return (theta @ v) ** 2 / max(v @ v, 1e-300)


def measure(target, noise, alpha, dimension, repeats):
    """Return the overlap by state evolution, and AMP's mean and standard error."""
    problem = Protocol("tanh", target, 1, alpha0=0, beta=1, noise=noise)
    found = [overlap(target, noise, alpha, dimension, seed) for seed in range(repeats)]
    theory = state_evolution(problem).overlaps(alpha)[1]
    return theory, np.mean(found), np.std(found, ddof=1) / np.sqrt(repeats)


def main():
    """Print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dimension", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=8)
    arguments = parser.parse_args()
    print("target  noise  alpha  theory q  AMP, mean and standard error")
    for case in CASES:
        theory, mean, stderr = measure(*case, arguments.dimension, arguments.repeats)
        target, noise, alpha = case
        print(
            f"{target:6} {noise:6g} {alpha:6g} {theory:9.4f} {mean:10.4f} {stderr:8.4f}", flush=True
        )


if __name__ == "__main__":
    main()
