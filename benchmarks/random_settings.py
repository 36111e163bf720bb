"""Random settings of a reused batch, several letters, steps by signs, transfer and mixtures.

Of each kind, problems are drawn from a seed and networks trained at two dimensions. The table has
the mean of |z| of the theory at these dimensions beside what noise alone would give, and the gaps
in the test error. Where the default bulk is off by more than 3 % and three standard errors, four
times as many networks are trained anew, and a line has what they show. Five kinds take about
ten minutes of one core.

    OMP_NUM_THREADS=1 nice python benchmarks/random_settings.py [KIND ...] [--each]
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from draws import between
from numpy.random import Generator
from scipy.special import beta as beta_function
from table import print_header, print_row

import giantstep
from giantstep import InvalidParametersError, Protocol
from giantstep.arrays import Array
from giantstep.questions.networks import replicates

BULKS = ("isotropic", "trained")
ERRORS = ("test_error", "training_error")
# Networks at each dimension, and how many more where they differ from the theory.
NETWORKS, MORE = {150: 24, 300: 16}, 4
TEST_SAMPLES = 4000
# What counts as a difference: relative, and in standard errors.
GAP, SCORE = 0.03, 3

ODD, NOT_ODD = ("tanh", "erf", "sin"), ("relu", "softplus", "gelu")
TARGETS = ("sin", "sign", "tanh", "polynomial:0,1,0,0.2", "polynomial:-0.5,1,0.5")
LETTERS = (
    ((-1, 0.5), (1, 0.5)),
    ((1, 0.5), (2, 0.5)),
    ((-1, 0.25), (1, 0.5), (2, 0.25)),
    ((-1, 0.7), (0.5, 0.3)),
)


class Setting(NamedTuple):
    """A problem at one sample complexity and ridge."""

    problem: Protocol
    alpha: float
    ridge: float

    def __str__(self) -> str:
        p = self.problem
        parts = [f"{p.activation}, {p.target}, rate {p.learning_rate}, alpha0 {p.alpha0}"]
        parts += [f"beta {p.beta}, noise {p.noise}, {p.steps} steps, {p.optimizer}"]
        parts += [f"{p.inputs}, {p.covariance}"] if p.has_covariance else []
        parts += [f"letters {[value for value, _ in p.readout]}"] if len(p.readout) > 1 else []
        parts += [f"pretrained on {p.pretrain_target}, {p.task_overlap}"] if p.is_transfer else []
        return ", ".join([*parts, f"alpha {self.alpha}, ridge {self.ridge}"])


def plain(rng: Generator, steps: Sequence[int] = (1,), odd: float = 0.5) -> Protocol:
    """Draw what all kinds have."""
    return Protocol(
        str(rng.choice(ODD if rng.random() < odd else NOT_ODD)),
        str(rng.choice(TARGETS)),
        learning_rate=between(rng, 0.5, 3),
        alpha0=between(rng, 0.5, 8),
        beta=between(rng, 0.5, 2),
        noise=float(rng.choice((0, 0, 0.2))),
        steps=int(rng.choice(steps)),
    )


def reused_batch(rng: Generator) -> Protocol:
    """Draw two or three steps on one batch."""
    return replace(plain(rng, (2, 2, 3)), reuse_batch=True)


def several_letters(rng: Generator) -> Protocol:
    """Draw steps on fresh batches from a readout of several values."""
    readout = LETTERS[int(rng.integers(len(LETTERS)))]
    return replace(plain(rng, (1, 2, 3)), readout=readout)


def signs(rng: Generator) -> Protocol:
    """Draw a step by the signs of the gradient."""
    return replace(plain(rng, odd=0.7), optimizer="sign")


def transfer(rng: Generator) -> Protocol:
    """Draw steps that learn another target than the readout."""
    return replace(
        plain(rng, (1, 1, 2)),
        pretrain_target=str(rng.choice(TARGETS)),
        task_overlap=round(float(rng.uniform(-1, 1)), 2),
    )


def mixtures(rng: Generator) -> Protocol:
    """Draw a step on two classes, whose labels are the class or the sign of a projection."""
    mean, covariance = between(rng, 0.7, 3), ("identity", "two_level:8,0.2", "power:0.3")
    return replace(
        plain(rng, odd=1),
        target=str(rng.choice(("class", "class", "sign"))),
        inputs=f"mixture:{mean}",
        covariance=str(rng.choice(covariance)),
        target_decay=float(rng.choice((0, 1))),
    )


KINDS: dict[str, Callable[[Generator], Protocol]] = {
    "reused": reused_batch,
    "letters": several_letters,
    "signs": signs,
    "transfer": transfer,
    "mixtures": mixtures,
}


class Compared(NamedTuple):
    """A setting beside networks: means, standard errors, and the theory with each bulk.

    Attributes
    ----------
    mean, stderr : Array, shape (dimensions, errors)
    theory : Array, shape (bulks, dimensions, errors)
    """

    setting: Setting
    mean: Array
    stderr: Array
    theory: Array

    @property
    def gap(self) -> Array:
        """Theory over networks, less one."""
        gap: Array = self.theory / self.mean - 1
        return gap

    @property
    def score(self) -> Array:
        """The same in standard errors."""
        score: Array = (self.theory - self.mean) / self.stderr
        return score


def solve(setting: Setting) -> Array:
    """Compute test and training errors with each bulk at each dimension."""
    answers = [
        [giantstep.solve(*setting, bulk=bulk, dimension=dimension) for dimension in NETWORKS]
        for bulk in BULKS
    ]
    return np.array([[[float(one[name]) for name in ERRORS] for one in row] for row in answers])


def train(setting: Setting, dimension: int, networks: range, seed: int) -> tuple[Array, Array]:
    """Train networks; return the means of their errors and standard errors."""
    answer = replicates(
        setting.problem,
        [setting.alpha],
        [setting.ridge],
        dimension=dimension,
        networks=networks,
        test_samples=TEST_SAMPLES,
        seed=seed,
    )
    errors = np.array([answer[f"simulated_{name}"].values.ravel() for name in ERRORS])
    return errors.mean(axis=1), errors.std(axis=1, ddof=1) / math.sqrt(len(networks))


def compare(kind: str, settings: int, seed: int) -> Iterator[Compared]:
    """Draw settings that have a theory, and put networks beside each."""
    rng = np.random.default_rng([seed, list(KINDS).index(kind)])
    while settings:
        setting = Setting(KINDS[kind](rng), between(rng, 0.5, 4), between(rng, 0.03, 1))
        try:
            theory = solve(setting)
        except InvalidParametersError:
            continue
        if not np.all(np.isfinite(theory)):
            print(f"{setting}: not solved", flush=True)
            continue
        trained = [train(setting, d, range(count), seed) for d, count in NETWORKS.items()]
        mean, stderr = np.array(trained).swapaxes(0, 1)
        settings -= 1
        yield Compared(setting, mean, stderr, theory)


def chance(networks: int) -> float:
    """Compute the mean of |t| for a theory that is exact."""
    nu = networks - 1
    return float(2 * math.sqrt(nu) / (nu - 1) / beta_function(nu / 2, 0.5))


def tabulate(kind: str, found: Sequence[Compared]) -> None:
    """Print mean |z|, median and largest gap of both bulks at both dimensions."""
    gaps = np.array([100 * np.abs(one.gap) for one in found])
    scores = np.array([np.abs(one.score) for one in found])
    columns = [(i, j) for i in range(len(BULKS)) for j in range(len(NETWORKS))]
    counts = list(NETWORKS.values())
    print_header(kind, *(f"{BULKS[i]}, d = {list(NETWORKS)[j]}" for i, j in columns))
    print_row("mean |z| of noise", *(f"{chance(counts[j]):.2f}" for _, j in columns))
    for e, name in enumerate(ERRORS):
        label = name.replace("_", " ")
        print_row(f"{label}: mean |z|", *(f"{scores[:, i, j, e].mean():.2f}" for i, j in columns))
        print_row("median gap", *(f"{np.median(gaps[:, i, j, e]):.1f} %" for i, j in columns))
        print_row("largest gap", *(f"{gaps[:, i, j, e].max():.1f} %" for i, j in columns))


def look_again(one: Compared, seed: int) -> None:
    """Train more networks where the default bulk differs, and print what they show."""
    differs = (np.abs(one.gap[-1]) > GAP) & (np.abs(one.score[-1]) > SCORE)
    for j, (dimension, count) in enumerate(NETWORKS.items()):
        if differs[j].any():
            mean, stderr = train(one.setting, dimension, range(count, (MORE + 1) * count), seed)
            theory = one.theory[-1, j]
            print(f"{one.setting}, d = {dimension}:")
            for e, name in enumerate(ERRORS):
                gap, score = theory[e] / mean[e] - 1, (theory[e] - mean[e]) / stderr[e]
                was = f"{one.gap[-1, j, e]:+.1%} ({one.score[-1, j, e]:+.1f})"
                print(f"  {name} {was}, with more networks {gap:+.1%} ({score:+.1f})", flush=True)


def main() -> None:
    """Parse the command line, and print a table for each kind."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--settings", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", action="store_true", help="list all settings")
    options = parser.parse_args()
    for kind in options.kinds or KINDS:
        start, found = time.process_time(), list[Compared]()
        for one in compare(kind, options.settings, options.seed):
            found.append(one)
            if options.each:
                gaps, scores = one.gap[-1].ravel(), one.score[-1].ravel()
                both = (f"{100 * g:+.1f}/{z:+.1f}" for g, z in zip(gaps, scores, strict=True))
                print(*both, one.setting, flush=True)
        tabulate(kind, found)
        for one in found:
            look_again(one, options.seed)
        print(f"{time.process_time() - start:.0f} s of processor time", flush=True)


if __name__ == "__main__":
    main()
