"""The sizes of simulated networks, and which of them a problem allows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from giantstep.problems.covariance import ALWAYS
from giantstep.problems.domains import COUNTED
from giantstep.problems.grid import Grid
from giantstep.problems.losses import SQUARE
from giantstep.problems.parameter import (
    Parameter,
    means,
    read_parameters,
    unmet,
)
from giantstep.problems.problem import Problem, check_loss
from giantstep.problems.protocol import Protocol
from giantstep.problems.schedules import numbers
from giantstep.problems.targets import teacher_of
from giantstep.validation import Fault, Interval, collected, raise_all

DIMENSION = Interval(2, 1_000_000, whole=True)
# Of neurons or samples: with more, even one column of them is out of reach.
LARGEST = 100_000_000
# From this dimension on, random rows overlap little enough for the population gradient's series.
POPULATION_DIMENSION = 64
# Root seeds that an attribute of a file can hold.
SEED = Interval(0, 2**63 - 1, whole=True)
_DIMENSION = Parameter("dimension of the inputs", "d", DIMENSION, "(1)")
_TRAININGS = Parameter("training sets of each network", "J", COUNTED)
_TEST_SAMPLES = Parameter(
    "fresh inputs for what is not computed exactly, such as 0-1 errors", r"n_{test}", COUNTED
)


@dataclass(frozen=True)
class Sizes:
    """The sizes of simulated networks, and of the samples that measure their test error.

    Attributes
    ----------
    dimension : int
        Dimension d of the inputs, >= 2; width, first batch and training sets are multiples of it.
    trainings : int
        Independent training sets for each network, >= 1.
    test_samples : int
        Fresh inputs, >= 1, over which 0-1 errors and losses of each network are averaged; and its
        test error, for inputs that are not Gaussian, losses that are not the square one, and
        neurons that are too similar. Otherwise that is the expectation: docs/theory/numerics.md,
        section 27.

    Raises
    ------
    InvalidParametersError
        With every value that is not a whole number of the allowed size.

    Examples
    --------
    >>> from giantstep.problems.sizes import Sizes
    >>> sizes = Sizes(dimension=500, trainings=2)
    >>> sizes.count(1.5)  # samples at alpha = 1.5
    750
    """

    dimension: int = field(metadata=means(_DIMENSION))
    trainings: int = field(default=1, metadata=means(_TRAININGS))
    test_samples: int = field(default=10_000, metadata=means(_TEST_SAMPLES))

    def __post_init__(self) -> None:
        raise_all(read_parameters(self))

    def count(self, ratio: float) -> int:
        """Return `ratio` times the dimension, rounded, and capped at LARGEST + 1."""
        return round(min(ratio * self.dimension, LARGEST + 1))


def check_sizes(problem: Problem, grid: Grid, sizes: Sizes) -> None:
    """Refuse a dimension at which the width, the batch or a training set is empty or too large.

    Refuse also what cannot be simulated at any dimension.

    Raises
    ------
    InvalidParametersError
    """
    check_loss(problem, grid.loss)
    faults: list[Fault] = []
    with collected(faults):
        problem.with_giant_step(sizes.dimension)
    batches = numbers(problem, "alpha0") if problem.has_steps else ()
    finite = sorted({x for x in batches if 0 < x < np.inf})
    for name, ratios in (("beta", [problem.beta]), ("alpha0", finite), ("alpha", grid.alpha)):
        allowed = f"such that {name} * dimension (here {sizes.dimension}) is from 1 to {LARGEST}"
        wrong = [ratio for ratio in ratios if not 1 <= sizes.count(ratio) <= LARGEST]
        faults += [Fault(name, ratio, allowed) for ratio in wrong]
    teacher = teacher_of(problem.target)
    least, why = 1 + (teacher.directions if teacher else 1), "the directions of the target"
    if problem.follows_population:
        least, why = POPULATION_DIMENSION, "the population gradient (alpha0 = inf)"
        known = not teacher or teacher.is_polynomial
        square = getattr(problem, "step_loss", SQUARE) == SQUARE
        checks: list[tuple[str, object, str]] = [
            ("label_flips", problem.label_flips == 0, f"0 for {why}"),
            ("target", known, f"a polynomial for {why}"),
            ("step_loss", square, f"{SQUARE} in networks, for {why}"),
            ("alpha0", not problem.has_covariance, f"finite in networks, {ALWAYS}"),
        ]
        faults += unmet(problem, checks)
    if sizes.dimension < least:
        faults.append(Fault("dimension", sizes.dimension, f"{least} or more, for {why}"))
    raise_all(faults + _group_faults(problem, sizes))


def group_ends(fractions: ArrayLike, neurons: int) -> NDArray[np.int64]:
    """Divide neurons among groups by their fractions, rounded; return where each group ends."""
    return np.rint(np.cumsum(fractions) * neurons).astype(np.int64)


def _group_faults(problem: Problem, sizes: Sizes) -> list[Fault]:
    """List groups without a neuron; if no group has any, another check refuses beta."""
    neurons = min(sizes.count(problem.beta), LARGEST)
    if neurons < 1:
        return []
    shares = np.array(problem.readout)[:, 1] if isinstance(problem, Protocol) else problem.groups.pi
    empty = np.diff(group_ends(shares, neurons), prepend=0) < 1
    allowed = f"large enough for one of the {neurons} neurons at this dimension"
    name = "readout" if problem.has_steps else "fraction"
    return [Fault(name, share, allowed) for share in shares[empty].tolist()]
