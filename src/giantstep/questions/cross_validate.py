"""The question `cross_validate`: what cross-validation finds, by the theory and in networks."""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from giantstep.problems.losses import SQUARE
from giantstep.problems.problem import Problem
from giantstep.problems.sizes import Sizes
from giantstep.questions.answers import Result, drop_fixed, question
from giantstep.questions.compare import OF_NETWORKS
from giantstep.questions.costs import SIMULATION_HOURS, check_task
from giantstep.questions.progress import Progress, part, progress_bar
from giantstep.questions.simulate import measured, read_simulation
from giantstep.questions.solve import read_question, solve
from giantstep.questions.statistics import summary, z_scores
from giantstep.questions.task import Task
from giantstep.simulation.cross_validation import cross_validation_of_networks
from giantstep.theory.optima import CROSS_VALIDATION, FOLDS, GCV, K_FOLD, LEAVE_ONE_OUT, TEST_ERROR
from giantstep.validation import Fault, raise_all


@question("What cross-validation finds")
def cross_validate(
    problem: Problem,
    alpha: ArrayLike = 1.0,
    ridge: ArrayLike = 0.1,
    *,
    loss: str = SQUARE,
    dimension: int,
    networks: int = 8,
    trainings: int = 1,
    bulk: str | None = None,
    test_samples: int | Literal["exact"] = 10_000,
    seed: int = 0,
    threads: int = 1,
    max_hours: float = SIMULATION_HOURS,
    max_memory: float | None = None,
    progress: Progress | None = None,
) -> Result:
    """Cross-validate the readout: leave one out, generalised, and five folds.

    Leaving one out and folds estimate the test error, with the noise of labels. Generalised
    cross-validation does so without a step; after one it may be far off.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    alpha, ridge, loss, dimension, networks, trainings, test_samples, seed, threads
    max_hours, max_memory, progress
        As in `simulate`.
    bulk : {"trained", "isotropic"}, optional
        Bulk of the first layer in the theory, as in `solve`.

    Returns
    -------
    xarray.Dataset
        `test_error`, `leave_one_out`, `gcv` and `k_fold` by the theory at the dimension; of each,
        such as `gcv`, `simulated_gcv_mean` and `simulated_gcv_stderr` of the networks, and
        `z_score_gcv`. All are mean squared errors. Losses other than the square have no `gcv`, and
        one sample is left out of their networks approximately, by a Newton step.

    Raises
    ------
    InvalidParametersError
        With everything that is wrong with the question.

    Examples
    --------
    >>> import giantstep
    >>> problem = giantstep.Protocol("tanh", "sign", learning_rate=3, alpha0=2, beta=1)
    >>> found = giantstep.cross_validate(problem, dimension=200, networks=4)
    >>> found.test_error.round(2).item(), found.leave_one_out.round(2).item()
    (0.66, 0.66)
    >>> found.gcv.round(2).item(), found.simulated_gcv_mean.item() < 0.6
    (0.47, True)
    """
    faults: list[Fault] = []
    read_question(problem, alpha, ridge, loss, bulk, dimension, faults)
    raise_all(faults)
    axes, given = read_simulation(
        problem, alpha, ridge, loss, dimension, networks, trainings, test_samples, seed, threads
    )
    check_task(Task("cross_validate", problem, given), max_hours, max_memory, threads)
    sizes = Sizes(dimension, trainings)
    with progress_bar("networks", progress) as report:
        means = measured(problem, given, threads, part(report, 0, 2))
        found = cross_validation_of_networks(
            problem, axes.grid, sizes, range(networks), seed, FOLDS, part(report, 1, 2), threads
        )
    dims = "network", "training", "alpha", "ridge"
    names = [TEST_ERROR, *(name for name in CROSS_VALIDATION if name != GCV or loss == SQUARE)]
    raw = {f"simulated_{name}": (dims, found[name]) for name in names[1:]}
    means = drop_fixed(means.merge(summary(xr.Dataset(raw))), axes.fixed)
    of = partial(solve, problem, ridge=ridge, loss=loss, bulk=bulk, dimension=dimension)
    theory = of(alpha)
    of_folds = of(np.asarray(alpha) * (1 - 1 / FOLDS))[LEAVE_ONE_OUT]  # which leave out samples
    theory = theory.assign({K_FOLD: (theory[TEST_ERROR].dims, of_folds.values)})
    both = xr.merge([theory, means, z_scores(theory[names], means)], compat="override")
    kept = [form.format(name) for form in ("{}", *OF_NETWORKS) for name in names]
    both.attrs = {"networks": networks, "trainings": trainings, "seed": np.int64(seed)}
    return both[[*kept, "status"]], theory.attrs.get("remarks", "").splitlines()
