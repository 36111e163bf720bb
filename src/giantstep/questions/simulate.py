"""The question `simulate`: networks that are trained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from giantstep.arrays import Array
from giantstep.numerics.scalar_functions import BINARY
from giantstep.problems.grid import Grid
from giantstep.problems.losses import FLOW, SQUARE, is_square
from giantstep.problems.problem import Problem
from giantstep.problems.sizes import Sizes, check_sizes
from giantstep.problems.spiked_features import CONDITIONAL_GAUSSIAN
from giantstep.questions.arguments import (
    ALPHA,
    DRAWN,
    LOSS,
    NETWORKS,
    NETWORKS_CROSS_VALIDATED,
    NETWORKS_OF_ENSEMBLE,
    RIDGES,
    SEED,
    SIZES,
    STOP_AT_TIMES,
    THREADS,
)
from giantstep.questions.costs import SIMULATION_HOURS, check_cost, cost_of
from giantstep.questions.datasets import count_groups, drop_fixed
from giantstep.questions.networks import replicates
from giantstep.questions.progress import Progress, part, progress_bar
from giantstep.questions.question import question
from giantstep.questions.statistics import summary
from giantstep.questions.task import Task
from giantstep.questions.values import Axes, read_axes
from giantstep.simulation.cross_validation import cross_validation_of_networks
from giantstep.simulation.ensembles import ensembles_of_networks
from giantstep.simulation.replicates import network_replicates
from giantstep.theory.optima import FOLDS, GCV
from giantstep.validation import Fault, collected, raise_all

_OVERLAPS = ("m", "zeta", "psi", "q1", "q2")
# What measures networks beside their errors, by what is asked.
_BESIDE = {"cross_validation": cross_validation_of_networks, "ensemble": ensembles_of_networks}


@question(
    *(ALPHA, RIDGES, *SIZES, LOSS, STOP_AT_TIMES),
    *(NETWORKS_CROSS_VALIDATED, NETWORKS_OF_ENSEMBLE, *DRAWN),
)
def simulate(
    problem: Problem,
    alpha: ArrayLike = 1.0,
    ridge: ArrayLike = 0.1,
    *,
    dimension: int,
    networks: int = 8,
    trainings: int = 1,
    loss: str = SQUARE,
    stop_at: ArrayLike | None = None,
    cross_validation: bool = False,
    ensemble: int | None = None,
    test_samples: int = 10_000,
    seed: int = 0,
    threads: int = 1,
    max_hours: float = SIMULATION_HOURS,
    max_memory: float | None = None,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Train networks, and measure them: means over networks, and their standard errors.

    Numbers depend on the problem, the seed and the sizes, not on the threads, and those of a point
    not on the other points.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    alpha : float or array_like, shape (A,)
        Sample complexity n/d of the readout's training set, > 0.
    ridge : float or array_like, shape (R,)
        Penalty lambda >= 0, without a factor 1/n; only the square loss may have none.
    dimension : int
        Dimension d of the inputs; width, first batch and training sets are multiples of it.
    networks : int
        Independent networks.
    trainings : int
        Independent training sets for each network.
    loss : str
        As in `solve`.
    stop_at : float or array_like, shape (R,), optional
        As in `solve`.
    cross_validation : bool
        Whether to cross-validate on the networks' training sets, leaving out one sample and five
        folds; for losses other than the square one sample is left out approximately, by a Newton
        step.
    ensemble : int, optional
        Number K of networks that are averaged, with initial weights of their own on the samples of
        each of the `networks`: docs/ensembles.md.
    test_samples : int
        Fresh inputs for what is not computed exactly, such as 0-1 errors: `Sizes`.
    seed : int
        Of all random numbers.
    threads : int
        How many compute at once.
    max_hours : float
        Core-hours beyond which a simulation is refused.
    max_memory : float, optional
        GiB of memory beyond which a simulation is refused, by default those of this machine.
    progress : callable, optional
        Called from time to time with the share of the work that is done; by default a bar on a
        terminal.

    Returns
    -------
    xarray.Dataset
        Means under the names that the theory has in `solve`, and their standard errors with
        `_stderr` appended (NaN for a single network), over those of `alpha` and `ridge` that are
        arrays. With `cross_validation`, `leave_one_out`, `gcv` (of the square loss) and `k_fold`
        are among them; they have the noise of labels. With `ensemble`, `ensemble_error` and, of
        several networks or training sets, `variance_of_weights`, `variance_of_samples` and
        `squared_bias`.

    Raises
    ------
    InvalidParametersError
        With everything that is wrong with the question.

    Examples
    --------
    >>> import giantstep
    >>> problem = giantstep.Protocol("tanh", "sin", learning_rate=3, alpha0=20, beta=1)
    >>> simulated = giantstep.simulate(problem, alpha=[1, 3], dimension=100, networks=4)
    >>> theory = giantstep.solve(problem, alpha=[1, 3], dimension=100)
    >>> abs(simulated.test_error / theory.test_error - 1).values < 0.2
    array([ True,  True])
    >>> "test_error_stderr" in simulated
    True
    """
    sizes: dict[str, Any] = {"dimension": dimension, "trainings": trainings}
    sizes |= {"test_samples": test_samples, "networks": networks, "seed": seed, "threads": threads}
    limits = {"max_hours": max_hours, "max_memory": max_memory}
    beside = {"cross_validation": FOLDS * cross_validation, "ensemble": ensemble}
    sizes |= {"beside": beside, "limits": limits}
    axes, given = read_simulation(problem, alpha, ridge, loss, **sizes)
    data = measured(problem, given, beside, threads, progress)
    forms = {name: name.removeprefix("simulated_").removesuffix("_mean") for name in map(str, data)}
    data = count_groups(drop_fixed(data.rename(forms), axes.fixed))
    return data.assign_attrs(networks=networks, trainings=trainings, seed=np.int64(seed))


def read_simulation(
    problem: Problem, alpha: ArrayLike, ridge: ArrayLike, loss: str, **sizes: Any
) -> tuple[Axes, dict[str, Any]]:
    """Read the points and sizes of a simulation, and check everything.

    Parameters
    ----------
    problem, alpha, ridge, loss, **sizes
        As in `simulate`: `networks`, `seed` and `threads`, the fields of `Sizes`, what is asked
        `beside`, and the `limits` of what it takes.

    Returns
    -------
    axes : Axes
    given : dict
        Arguments of `replicates`, but for threads and progress.

    Raises
    ------
    InvalidParametersError
        With everything that is wrong with the question.
    CostError
        If networks take more than is allowed.
    """
    faults: list[Fault] = []
    axes = read_axes(alpha, ridge, loss, faults)
    if axes.optimal:
        faults.append(Fault("ridge", ridge, "numbers in simulations"))
    beside, limits = sizes.pop("beside"), sizes.pop("limits")
    counts = {of.name: sizes.pop(of.name) for of in (NETWORKS, SEED, THREADS)}
    with collected(faults):
        read = Sizes(**sizes)
        if not faults:
            check_sizes(problem, axes.grid, read)
    raise_all(faults + [x for of in (NETWORKS, SEED, THREADS) for x in of.faults(counts[of.name])])
    replicates = {"networks": range(counts["networks"]), "seed": counts["seed"]}
    given = {**vars(axes.grid), **vars(read), **replicates}
    raise_all(_faults_beside(problem, loss, **beside))
    check_cost(cost_of(Task("replicates", problem, given | beside), counts["threads"]), **limits)
    return axes, given


def _faults_beside(
    problem: Problem, loss: str, cross_validation: int, ensemble: int | None
) -> list[Fault]:
    """List what networks cannot be asked beside their errors."""
    faults: list[Fault] = []
    if cross_validation and loss == FLOW:
        faults.append(Fault("cross_validation", True, "false for readouts that are stopped"))
    if ensemble is None:
        return faults
    conditional = getattr(problem, "model", None) == CONDITIONAL_GAUSSIAN
    if loss != SQUARE or conditional:
        allowed = f"left out but for features of networks and the {SQUARE} loss"
        faults.append(Fault("ensemble", ensemble, allowed))
    return faults + NETWORKS_OF_ENSEMBLE.faults(ensemble)


def measured(
    problem: Problem,
    given: dict[str, Any],
    beside: dict[str, Any],
    threads: int,
    progress: Progress | None,
) -> xr.Dataset:
    """Train networks; return means and standard errors over (alpha, ridge, ...)."""
    names = ["test_error", "training_error"]
    if not is_square(given["loss"]):
        names += ["test_loss", "training_loss"]
    if problem.target in BINARY:
        names.append("classification_error")
    with progress_bar("networks", progress) as report:
        asked = [(_BESIDE[name], value) for name, value in beside.items() if value]
        trained = part(report, 0, 1 + len(asked))
        raw = replicates(problem, **given, threads=threads, progress=trained)
        further = [
            _further(measure, count, problem, given, threads, part(report, i, 1 + len(asked)))
            for i, (measure, count) in enumerate(asked, 1)
        ]
    names += _OVERLAPS
    means = summary(raw[[f"simulated_{name}" for name in names]])
    means = means[[f"simulated_{name}_{of}" for name in names for of in ("mean", "stderr")]]
    return xr.merge([means, *further])


def _further(
    measure: Callable[..., dict[str, Array]],
    count: int,
    problem: Problem,
    given: dict[str, Any],
    threads: int,
    report: Progress,
) -> xr.Dataset:
    """Measure what is asked beside errors: means and standard errors."""
    grid = Grid(given["alpha"], given["ridge"], given["loss"])
    sizes = Sizes(given["dimension"], given["trainings"], given["test_samples"])
    several = network_replicates(
        problem, grid, sizes, given["networks"], given["seed"], report, threads
    )
    found = measure(several, grid, count)
    dims = "network", "training", "alpha", "ridge"
    raw = {
        f"simulated_{name}": (dims[:1] + dims[1 - x.ndim :], x)
        for name, x in found.items()
        if name != GCV or grid.loss == SQUARE
    }
    return summary(xr.Dataset(raw))
