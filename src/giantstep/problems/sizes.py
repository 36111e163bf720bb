"""How large simulated networks are, and which sizes a problem allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.grid import Grid
from giantstep.problems.inputs import GAUSSIAN
from giantstep.problems.losses import SQUARE
from giantstep.problems.problem import Problem, check_loss
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import NETWORK
from giantstep.validation import COUNT, Fault, Interval, InvalidParametersError, interval_faults

DIMENSION = Interval(2, 1_000_000, whole=True)
# Neurons or samples: beyond, even one column of them is out of reach.
LARGEST = 100_000_000
# From here on random rows overlap little enough for the population gradient's series.
POPULATION_DIMENSION = 64
# Beyond, squares of labels overflow.
LARGEST_NOISE = 1e100
# Roots of random streams: what a file's attribute can hold.
SEED = Interval(0, 2**63 - 1, whole=True)
# Instead of test samples: the expectation over the test input in closed form.
EXACT: Literal["exact"] = "exact"


@dataclass(frozen=True)
class Sizes:
    """How large the simulated networks are, and how many samples measure their test error.

    Attributes
    ----------
    dimension : int
        Dimension d of the inputs, >= 2; width, first batch and training sets are multiples of it.
    trainings : int
        Independent training sets for each network, >= 1.
    test_samples : int or "exact"
        Fresh inputs over which the test error of each network is averaged, >= 1; or "exact", the
        expectation in closed form, for activations that have one.

    Raises
    ------
    InvalidParametersError
        With every value that is not a whole number of the allowed size.
    """

    dimension: int
    trainings: int = 1
    test_samples: int | Literal["exact"] = 10_000

    def __post_init__(self) -> None:
        intervals = dict.fromkeys(vars(self), COUNT) | {"dimension": DIMENSION}
        if self.test_samples == EXACT:
            del intervals["test_samples"]
        faults = interval_faults(vars(self), intervals)
        if faults:
            raise InvalidParametersError(faults)

    def count(self, ratio: float) -> int:
        """Give the number of things that are `ratio` times the dimension, LARGEST + 1 at most."""
        return round(min(ratio * self.dimension, LARGEST + 1))


def check_sizes(problem: Problem, grid: Grid, sizes: Sizes) -> None:
    """Refuse a dimension at which a width, a batch or a training set is empty, or out of reach.

    And what cannot be simulated at any.

    Raises
    ------
    InvalidParametersError
    """
    check_loss(problem, grid.loss)
    ratios = [("beta", problem.beta), *(("alpha", alpha) for alpha in grid.alpha)]
    if isinstance(problem, Protocol) and problem.alpha0 > 0 and np.isfinite(problem.alpha0):
        ratios.append(("alpha0", problem.alpha0))
    allowed = f"such that {{}} * dimension (here {sizes.dimension}) is from 1 to {LARGEST}"
    faults = [
        Fault(name, ratio, allowed.format(name))
        for name, ratio in ratios
        if not 1 <= sizes.count(ratio) <= LARGEST
    ]
    stepped = isinstance(problem, Protocol) and np.isinf(problem.alpha0)
    if stepped and sizes.dimension < POPULATION_DIMENSION:
        allowed = f"{POPULATION_DIMENSION} or more for the population gradient (alpha0 = inf)"
        faults.append(Fault("dimension", sizes.dimension, allowed))
    if sizes.test_samples == EXACT:
        faults += _exact_faults(problem, grid.loss)
    faults += _group_faults(problem, sizes)
    faults += [
        Fault(name, variance, f"at most {LARGEST_NOISE:g} in simulations")
        for name in ("noise", "outlier_variance")
        if (variance := getattr(problem, name)) > LARGEST_NOISE
    ]
    if faults:
        raise InvalidParametersError(faults)


def group_ends(fractions: ArrayLike, neurons: int) -> NDArray[np.int64]:
    """Share neurons out among groups, each within one of its fraction; give where each ends."""
    ends: NDArray[np.int64] = np.rint(np.cumsum(fractions) * neurons).astype(np.int64)
    return ends


def _group_faults(problem: Problem, sizes: Sizes) -> list[Fault]:
    """Refuse groups that have no neuron."""
    if isinstance(problem, Protocol):
        name, shares = "readout", [share for _, share in problem.readout]
    else:
        name, shares = "fraction", problem.groups.pi.tolist()
    neurons = min(sizes.count(problem.beta), LARGEST)
    counts = np.diff(group_ends(shares, neurons), prepend=0)
    allowed = f"at least one neuron of the {neurons} that there are at this dimension"
    return [
        Fault(name, share, allowed)
        for share, count in zip(shares, counts, strict=True)
        if count < 1
    ]


def _exact_faults(problem: Problem, loss: str) -> list[Fault]:
    """Refuse problems whose expectation over the test input has no closed form."""
    wanted = []
    if loss != SQUARE:
        wanted.append(f"the loss is {loss}")
    if lookup(problem.activation).covariance is None:
        wanted.append(f"the activation {problem.activation} has no closed form")
    if problem.inputs != GAUSSIAN:
        wanted.append(f"the inputs are {problem.inputs}")
    if not isinstance(problem, Protocol) and (problem.model != NETWORK or np.any(problem.groups.b)):
        wanted.append("the neurons have biases, or are not a network's")
    if not wanted:
        return []
    return [Fault("test_samples", EXACT, f"a whole number >= 1, since {'; '.join(wanted)}")]
