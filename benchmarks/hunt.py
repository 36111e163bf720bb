"""Random problems in search of theory that is wrong without saying so.

Problems are drawn over the whole domain, and networks of d = 100 to 400 are trained. The theory at
their d is off where it differs from their mean by more than 5 % and more than four standard errors.
Where it clearly does not, few networks are enough. The table lists what is off, with its
reliability; below are the rates of both kinds of errors. Two hundred problems take about 15 minutes
of one core.

    OMP_NUM_THREADS=1 nice python benchmarks/hunt.py [--problems 200] [--seed 1] [--each]
    ... --measured FILE     keep what networks measured, for another theory of the same problems
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from draws import between
from numpy.random import Generator

import giantstep
from giantstep import InvalidParametersError, Protocol
from giantstep.questions.networks import replicates

ODD = ("tanh", "erf", "sin", "hardtanh", "softsign")
NOT_ODD = ("relu", "gelu", "softplus", "silu", "elu", "sigmoid")
TARGETS = ("tanh", "sin", "sign", "erf", "relu", "he2", "he3", "polynomial:0,1,0.5", "abs")
TEACHERS = ("z1+z1*z2", "z1+z2+0.5*z1*z2", "z1+he2(z2)")
LETTERS = ("0.5:0.5,2:0.5", "-1:0.5,1:0.5", "1:0.5,2:0.3,4:0.2")
MARGIN_LOSSES = ("hinge", "logistic")
# Floating-point operations for the networks of a problem, and the fewest and most of these.
WORK, FEWEST, MOST = 3e10, 6, 64
# Networks that it takes to call the theory wrong: of 200 problems, a few seem so with fewer.
ENOUGH = 96
TEST_SAMPLES = 4000
# What counts as wrong, and what is flagged.
GAP, SCORE, FLAGGED = 0.05, 4, 0.05


class Case(NamedTuple):
    """A problem at one sample complexity, ridge and dimension."""

    problem: Protocol
    alpha: float
    ridge: float
    loss: str
    dimension: int

    @property
    def networks(self) -> int:
        """How many networks take a few seconds: fewer are enough where the theory is right."""
        d, p = self.dimension, max(1, self.problem.beta * self.dimension)
        first = 0 if math.isinf(self.problem.alpha0) else self.problem.alpha0 * d
        n = self.alpha * d
        fit = n * p * min(n, p) * (1 if self.loss == "square" else 20)
        work = 2 * d * p * (3 * first * self.problem.steps + n + 3 * TEST_SAMPLES) + fit
        return int(np.clip(WORK / work, FEWEST, MOST))

    def __str__(self) -> str:
        q = self.problem
        parts = [f"{q.activation}/{q.target}", f"rate {q.learning_rate:.3g}", f"a0 {q.alpha0:.3g}"]
        parts += [f"b {q.beta:.3g}", f"a {self.alpha:.3g}", f"ridge {self.ridge:.2g}"]
        parts += [f"d {self.dimension}"]
        parts += [f"noise {q.noise:.2g}"] if q.noise else []
        parts += [f"{q.steps} steps"] if q.steps > 1 else []
        parts += [f"{len(q.readout)} letters"] if len(q.readout) > 1 else []
        parts += [self.loss] if self.loss != "square" else []
        return ", ".join(parts)


def draw(rng: Generator) -> Case:
    """Draw a problem; it may be one that no theory covers."""
    odd = rng.random() < 0.6
    activation = str(rng.choice(ODD if odd else NOT_ODD))
    steps = int(rng.choice([1, 2, 3, 5], p=[0.6, 0.2, 0.12, 0.08]))
    kind = rng.random()
    target = str(rng.choice(TEACHERS if kind < 0.12 else TARGETS))
    loss = "square"
    if kind > 0.85:
        target, loss = "sign", str(rng.choice(MARGIN_LOSSES))
    elif kind > 0.8 and target not in TEACHERS:
        loss = "huber"
    letters = odd and steps == 1 and target not in TEACHERS and rng.random() < 0.25
    batch = rng.random()
    problem = Protocol(
        activation,
        target,
        learning_rate=between(rng, 0.1, 20),
        alpha0=0.0 if batch < 0.03 else math.inf if batch > 0.95 else between(rng, 0.1, 20),
        beta=between(rng, 0.2, 4),
        noise=0.0 if loss in MARGIN_LOSSES or rng.random() < 0.6 else between(rng, 0.01, 1),
        steps=steps,
    )
    if letters:
        problem = replace(problem, readout=_letters(str(rng.choice(LETTERS))))
    ridge = between(rng, 1e-5 if loss == "square" else 1e-3, 5)
    return Case(problem, between(rng, 0.2, 5), ridge, loss, int(between(rng, 100, 400)))


def _letters(text: str) -> tuple[tuple[float, float], ...]:
    pairs = (pair.split(":") for pair in text.split(","))
    return tuple((float(value), float(share)) for value, share in pairs)


class Found(NamedTuple):
    """The theory of a case beside networks.

    Attributes
    ----------
    mean, stderr : float
        Of the networks' test errors.
    theory : float
        The test error; NaN if the status says that there is none.
    reliability : dict of float
        All together under "reliability", and its parts.
    """

    case: Case
    mean: float
    stderr: float
    theory: float
    reliability: dict[str, float]

    def measured(self, errors: list[float]) -> Found:
        """Return the same with what networks measured."""
        stderr = np.std(errors, ddof=1) / math.sqrt(len(errors))
        return self._replace(mean=float(np.mean(errors)), stderr=float(stderr))

    @property
    def gap(self) -> float:
        """Theory over networks, less one."""
        return self.theory / self.mean - 1

    @property
    def score(self) -> float:
        """The same in standard errors."""
        return (self.theory - self.mean) / self.stderr

    @property
    def off(self) -> bool:
        """Whether the theory is wrong."""
        return abs(self.gap) > GAP and abs(self.score) > SCORE

    @property
    def fine(self) -> bool:
        """Whether the theory is clearly right. It takes many networks to see that it is wrong."""
        return abs(self.gap) + 3 * self.stderr / self.mean < GAP

    @property
    def flagged(self) -> bool:
        """Whether the answer says so."""
        return self.reliability.get("reliability", 0.0) > FLAGGED


def solve(case: Case) -> tuple[float, dict[str, float]]:
    """Compute the test error as a user does, at the networks' dimension, and its reliability.

    Raises
    ------
    InvalidParametersError
        Where there is no theory.
    """
    problem, alpha, ridge, loss, dimension = case
    answer = giantstep.solve(problem, alpha, ridge, loss=loss, dimension=dimension)
    names = [str(name) for name in answer.data_vars if str(name).startswith("reliability")]
    return float(answer.test_error), {name: float(answer[name]) for name in names}


def hunt(problems: int, seed: int, measured: Path | None) -> Iterator[Found]:
    """Draw problems that have a theory, and put networks beside each."""
    known = json.loads(measured.read_text()) if measured and measured.exists() else {}
    rng = np.random.default_rng(seed)
    while problems:
        case = draw(rng)
        try:
            theory, reliability = solve(case)
            found = train(case, theory, reliability, known.setdefault(str(case), []), seed)
        except InvalidParametersError:  # no theory, or a fit that does not converge
            continue
        if measured:
            measured.write_text(json.dumps(known))
        problems -= 1
        yield found


def train(
    case: Case, theory: float, reliability: dict[str, float], errors: list[float], seed: int
) -> Found:
    """Train networks, in addition to those of which the errors are known, until they decide."""
    problem, alpha, ridge, loss, dimension = case
    found = Found(case, math.nan, math.nan, theory, reliability)
    if len(errors) > 1:
        found = found.measured(errors)
    while len(errors) < max(case.networks, ENOUGH * found.off) and not found.fine:
        answer = replicates(
            problem,
            [alpha],
            [ridge],
            dimension=dimension,
            networks=range(
                len(errors), min(max(2 * len(errors), FEWEST), max(case.networks, ENOUGH))
            ),
            loss=loss,
            test_samples=TEST_SAMPLES,
            seed=seed,
        )
        errors += answer.simulated_test_error.values.ravel().tolist()
        found = found.measured(errors)
    return found.measured(errors)


def row(found: Found) -> str:
    """Write a line of the table: gap and z, theory and networks, what is flagged, the problem."""
    flags = [
        f"{name.removeprefix('reliability_')} {value:.2f}"
        for name, value in found.reliability.items()
        if value > FLAGGED / 5
    ]
    return (
        f"{found.gap:+7.1%} {found.score:+6.1f}  {found.theory:9.4f} {found.mean:9.4f}"
        f"  {'flagged' if found.flagged else 'SILENT ' if found.off else '       '}"
        f"  {found.case}  [{', '.join(flags)}]"
    )


def main() -> None:
    """Parse the command line, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--each", action="store_true", help="list all problems, not only wrong ones"
    )
    parser.add_argument("--measured", type=Path, metavar="FILE", help="keep what networks measured")
    options = parser.parse_args()
    start, every = time.process_time(), list[Found]()
    for found in hunt(options.problems, options.seed, options.measured):
        every.append(found)
        if options.each or found.off or math.isnan(found.theory):
            print(row(found), flush=True)
    solved = [found for found in every if not math.isnan(found.theory)]
    off = [found for found in solved if found.off]
    right = [found for found in solved if not found.off]
    caught, alarms = (sum(found.flagged for found in some) for some in (off, right))
    quiet = [abs(found.score) for found in right if not found.flagged]
    print(f"{len(every)} problems, seed {options.seed}: {len(every) - len(solved)} not solved")
    print(f"off by more than {GAP:.0%} and {SCORE} standard errors: {len(off)}, flagged {caught}")
    print(f"the others: {len(right)}, flagged {alarms} ({alarms / max(len(right), 1):.0%})")
    print(f"mean |z| of those that are neither: {np.mean(quiet):.2f} (noise alone 0.8)")
    print(f"{time.process_time() - start:.0f} s of processor time")


if __name__ == "__main__":
    main()
