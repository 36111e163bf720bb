"""The question `simulate`: networks that are trained."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from giantstep.numerics.scalar_functions import BINARY
from giantstep.problems.grid import Grid
from giantstep.problems.losses import FLOW, SQUARE, is_square
from giantstep.problems.problem import Problem
from giantstep.problems.sizes import Sizes, check_sizes
from giantstep.problems.spiked_features import CONDITIONAL_GAUSSIAN
from giantstep.progress import Progress, bar, part
from giantstep.questions.arguments import (
    ALPHA,
    DRAWN,
    LOSS,
    NETWORKS_CROSS_VALIDATED,
    NETWORKS_OF_ENSEMBLE,
    RIDGES,
    SIZES,
    STOP_AT_TIMES,
)
from giantstep.questions.datasets import numbered
from giantstep.questions.networks import DIMENSIONS, replicates
from giantstep.questions.question import question
from giantstep.questions.statistics import summary
from giantstep.simulation.cross_validation import cross_validation_of_networks
from giantstep.simulation.ensembles import ensembles_of_networks
from giantstep.simulation.replicates import network_replicates
from giantstep.theory.optima import FOLDS, GCV
from giantstep.validation import Fault, collected, raise_all


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
    progress: Progress = bar,
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
        Seed of all random numbers.
    threads : int
        How many compute at once.
    progress : callable, optional
        Called from time to time with the share of the work that is done; by default a bar on a
        terminal.
    max_hours, max_memory
        As in `solve`.

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
        Listing all invalid arguments.

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
    grid = Grid(alpha, ridge, loss)  # type: ignore[arg-type]
    sizes = Sizes(dimension, trainings, test_samples)
    faults: list[Fault] = []
    if cross_validation and loss == FLOW:
        faults.append(Fault("cross_validation", True, "false for readouts that are stopped"))
    if ensemble and (loss != SQUARE or getattr(problem, "model", None) == CONDITIONAL_GAUSSIAN):
        allowed = f"left out: it is for features of networks and the {SQUARE} loss alone"
        faults.append(Fault("ensemble", ensemble, allowed))
    with collected(faults):
        check_sizes(problem, grid, sizes)
    raise_all(faults)
    measures: list[Any] = [(cross_validation_of_networks, FOLDS)] * cross_validation
    measures += [(ensembles_of_networks, ensemble)] * (ensemble is not None)
    which: dict[str, Any] = {"networks": range(networks), "threads": threads}
    reports = [part(progress, k, 1 + len(measures)) for k in range(1 + len(measures))]
    raw = replicates(problem, **vars(grid), **vars(sizes), **which, seed=seed, progress=reports[0])
    for (measure, count), one in zip(measures, reports[1:], strict=True):
        several = network_replicates(problem, grid, sizes, root_seed=seed, progress=one, **which)
        for name, x in measure(several, grid, count).items():
            raw[f"simulated_{name}"] = DIMENSIONS[:1] + DIMENSIONS[1 - x.ndim :], x
    hidden = ["learned_function"] + [GCV] * (loss != SQUARE)
    hidden += ["test_loss", "training_loss"] * is_square(loss)
    hidden += ["classification_error"] * (problem.target not in BINARY)
    means = summary(raw.drop_vars([f"simulated_{name}" for name in hidden], errors="ignore"))
    kept = [str(name) for name in means if str(name).endswith(("_mean", "_stderr"))]
    found = {name.removeprefix("simulated_").removesuffix("_mean"): means[name] for name in kept}
    data = numbered(xr.Dataset(found))
    return data.assign_attrs(networks=networks, trainings=trainings, seed=np.int64(seed))
