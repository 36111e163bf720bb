"""Random settings of five kinds of problems, beside networks of two dimensions.

Steps along other losses, schedules, ensembles, steps times a power of the inverse covariance, and
readouts on given features. Printed are mean |z| of the test error at the dimension of the networks,
beside what noise alone gives, the mean gap, and settings that are far off.

    OMP_NUM_THREADS=1 nice python benchmarks/families.py [--settings 24] [--networks 8] [--seed 0]
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from draws import between
from numpy.random import Generator, default_rng
from scipy.stats import t as student

import giantstep
from giantstep import InvalidParametersError, Protocol

DIMENSIONS = 80, 160
ODD, TARGETS = ("tanh", "erf", "sin"), ("sin", "tanh", "sign", "he3", "polynomial:0,1,0.5")
LOSSES = "huber:0.5", "huber:2", "absolute", "log_cosh", "quantile:0.3"
MARGINS = "logistic", "hinge"
FAR = 4


def plain(rng: Generator) -> Protocol:
    """Draw one step along the square loss."""
    activation, target = str(rng.choice(ODD)), str(rng.choice(TARGETS))
    numbers = between(rng, 0.3, 6), between(rng, 0.5, 8), between(rng, 0.4, 2)
    return Protocol(activation, target, *numbers, noise=float(rng.choice([0, 0.1])))


def of_loss(rng: Generator) -> Protocol:
    """Draw up to two steps along another loss."""
    problem, steps = plain(rng), int(rng.integers(1, 3))
    if problem.target == "sign" and problem.noise == 0:
        return replace(problem, step_loss=str(rng.choice(MARGINS)))
    return replace(problem, step_loss=str(rng.choice(LOSSES)), steps=steps)


def scheduled(rng: Generator) -> Protocol:
    """Draw two or three steps that differ."""
    steps = int(rng.integers(2, 4))
    each = [tuple(between(rng, *ends) for _ in range(steps)) for ends in ((0.3, 4), (0.5, 8))]
    decays = tuple(rng.uniform(0, 0.4, steps).round(2).tolist())
    rates, batches = each
    return replace(plain(rng), steps=steps, learning_rate=rates, alpha0=batches, decay=decays)


def preconditioned(rng: Generator) -> Protocol:
    """Draw a step on inputs with a covariance, times a power of its inverse."""
    problem = replace(plain(rng), target=str(rng.choice(["sin", "tanh", "sign"])))
    powers = {"covariance": f"power:{rng.uniform(0.1, 0.5):.2f}", "target_decay": 1.0}
    return replace(problem, precondition=round(float(rng.uniform(0.2, 1)), 2), **powers)


FAMILIES: dict[str, tuple[Callable[[Generator], Protocol], dict[str, Any]]] = {
    "losses of the step": (of_loss, {}),
    "schedules": (scheduled, {}),
    "ensembles": (plain, {"ensemble": 4}),
    "preconditioned": (preconditioned, {}),
}


def of_networks(
    draw: Callable[[Generator], Protocol], further: dict[str, Any], rng: Generator, networks: int
) -> list[tuple[str, float, float]]:
    """Compare one setting at both dimensions: what it is, z and gap; none without theory."""
    problem, alpha, ridge = draw(rng), between(rng, 0.3, 4), between(rng, 0.01, 1)
    name, found = "ensemble_error" if further else "test_error", []
    for d in DIMENSIONS:
        sizes = {"dimension": d, "networks": networks, "test_samples": 2000}
        try:
            theory = giantstep.solve(problem, alpha, ridge, dimension=d, **further)[name].item()
            data = giantstep.simulate(problem, alpha, ridge, **sizes, **further)
        except InvalidParametersError:
            return []
        gap = data[name].item() - theory
        score = gap / data[f"{name}_stderr"].item()
        if not math.isfinite(score):  # the theory says that it is not resolved
            return []
        found.append((f"d={d} {problem} {alpha} {ridge}", score, gap / theory))
    return found


def of_features(rng: Generator, networks: int) -> list[tuple[str, float, float]]:
    """Compare predictions from given features with refits on random subsets."""
    found = []
    for p in DIMENSIONS:
        given, d, ridge = 12 * p, p // 2, between(rng, 0.01, 1)
        inputs = rng.exponential(size=(given, d)) - 1
        features = np.maximum(inputs @ rng.standard_normal((d, p)) / math.sqrt(d), 0)
        features /= math.sqrt(p)
        labels = np.tanh(inputs @ rng.standard_normal(d) / 3) + 0.3 * rng.standard_normal(given)
        count, errors = int(p * between(rng, 0.3, 4)), []
        for _ in range(networks):
            fit, rest = np.split(rng.permutation(given), [count])
            gram = features[fit].T @ features[fit] + ridge * np.eye(p)
            readout = np.linalg.solve(gram, features[fit].T @ labels[fit])
            errors.append(np.mean((labels[rest] - features[rest] @ readout) ** 2))
        theory = giantstep.from_features(features, labels, count, ridge).test_error.item()
        stderr, gap = np.std(errors, ddof=1) / math.sqrt(networks), np.mean(errors) - theory
        found.append((f"p={p} n={count} {ridge}", float(gap / stderr), float(gap / theory)))
    return found


def main() -> None:
    """Print a line for each family, and settings that are far off."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("--settings", 24), ("--networks", 8), ("--seed", 0)):
        parser.add_argument(name, type=int, default=default)
    parser.add_argument("--families", nargs="+", default=[*FAMILIES, "features"])
    given = parser.parse_args()
    noise = student(given.networks - 1)
    print(f"mean |z| of noise alone: {noise.expect(abs):.2f}")
    for family in given.families:
        rng, settings = default_rng(given.seed), list[list[tuple[str, float, float]]]()
        while len(settings) < given.settings:
            one = (
                of_networks(*FAMILIES[family], rng, given.networks)
                if family in FAMILIES
                else of_features(rng, given.networks)
            )
            settings += [one] if one else []
        for d, of_dimension in zip(DIMENSIONS, zip(*settings, strict=True), strict=True):
            _, scores, gaps = zip(*of_dimension, strict=True)
            sizes = np.mean(np.abs(scores)), np.median(scores), np.mean(np.abs(gaps))
            text = "mean |z| {:.2f}, median z {:+.2f}, mean |gap| {:.1%}".format(*sizes)
            print(f"{family}, {d}: {text}", flush=True)
        for text, score, gap in (one for setting in settings for one in setting):
            if abs(score) > FAR:
                print(f"    z {score:+.1f}, gap {gap:+.1%}: {text}", flush=True)


if __name__ == "__main__":
    main()
