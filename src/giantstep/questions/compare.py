"""The question `compare`: theory and networks at the same points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypeVar

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from giantstep.arrays import Array
from giantstep.problems.bulk_kind import ISOTROPIC
from giantstep.problems.losses import SQUARE
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.questions.answers import answer
from giantstep.questions.checks import check_problem, collected, plain, raise_all
from giantstep.questions.progress import Progress
from giantstep.questions.simulate import read_simulation, simulate
from giantstep.questions.solve import read_question, solve
from giantstep.validation import Fault

Numbers = TypeVar("Numbers", Array, xr.DataArray)
_COMPARED = ("test_error", "training_error", "test_loss", "training_loss", "classification_error")
# Before the names of the theory at the dimension of the networks, as in files of figures.
_FINITE_SIZE = "finite_size_"


def compare(
    problem: Problem,
    alpha: ArrayLike = 1.0,
    ridge: ArrayLike = 0.1,
    *,
    dimension: int,
    networks: int = 8,
    trainings: int = 1,
    bulk: str | Sequence[str] = ISOTROPIC,
    loss: str = SQUARE,
    test_samples: int | Literal["exact"] = 10_000,
    seed: int = 0,
    threads: int = 1,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Put the theory beside networks: errors, standard errors and z-scores of the same points.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    alpha, ridge
        Numbers or sequences of numbers, as in `solve`.
    dimension, networks, trainings, loss, test_samples, seed, threads, progress
        As in `simulate`.
    bulk : str or sequence of str
        Bulk of the first layer in the theory, as in `solve`; a sequence is a dimension.

    Returns
    -------
    xarray.Dataset
        For each error, such as the test error: `test_error`, by the theory as d -> infinity;
        `finite_size_test_error`, by the theory at the dimension; `simulated_test_error_mean` and
        `simulated_test_error_stderr`, of the networks; `z_score_test_error` and
        `z_score_finite_size_test_error`, mean minus theory over the standard error. `status` and
        `finite_size_status` are those of the theories. A step smaller than the giant one has no
        limit, and one network no standard error.

    Raises
    ------
    InvalidParametersError
        With everything that is wrong with the question.

    Examples
    --------
    >>> import giantstep
    >>> problem = giantstep.Protocol("tanh", "sin", learning_rate=3, alpha0=2, beta=1)
    >>> found = giantstep.compare(
    ...     problem, alpha=[1, 2], dimension=100, networks=4, bulk=["isotropic", "trained"]
    ... )
    >>> found.z_score_finite_size_test_error.dims
    ('bulk', 'alpha')
    >>> bool((abs(found.z_score_finite_size_test_error.sel(bulk="trained")) < 5).all())
    True
    """
    check_problem(problem)
    bulks = [bulk] if isinstance(bulk, str) else list(bulk)
    dimension, networks = plain(dimension), plain(networks)
    sizes = networks, trainings, test_samples, seed, threads
    faults: list[Fault] = [] if bulks else [Fault("bulk", [], "at least one")]
    with collected(faults):
        read_simulation(problem, alpha, ridge, loss, dimension, *sizes)
    for one in bulks:
        with collected(faults):
            read_question(problem, alpha, ridge, loss, one, dimension)
    raise_all(faults)
    measured = simulate(
        problem,
        alpha,
        ridge,
        dimension=dimension,
        networks=networks,
        trainings=trainings,
        loss=loss,
        test_samples=test_samples,
        seed=seed,
        threads=threads,
        progress=progress,
    )
    theories = {_FINITE_SIZE: dimension} | ({"": math.inf} if _has_limit(problem) else {})
    solved = {
        prefix: [solve(problem, alpha, ridge, loss=loss, bulk=one, dimension=at) for one in bulks]
        for prefix, at in theories.items()
    }
    parts = [_networks(measured)]
    for prefix, found in solved.items():
        theory = found[0] if isinstance(bulk, str) else _by_bulk(found)
        parts.append(_scored(prefix, theory, measured))
    remarks = [remark for many in solved.values() for one in many for remark in _remarks(one)]
    data = xr.merge(parts, join="exact", compat="equals", combine_attrs="drop")
    data = answer(
        data[_ordered(data)], "Theory beside networks", problem, {"dimension": dimension}, remarks
    )
    kept = {name: measured.attrs[name] for name in ("networks", "trainings", "seed")}
    return data.assign_attrs(kept)


def z_score(mean: Numbers, stderr: Numbers, theory: Numbers) -> Numbers:
    """Compute mean minus theory, over the standard error: NaN where there is none.

    Parameters
    ----------
    mean, stderr, theory : Array or xarray.DataArray
    """
    return (mean - theory) / xr.where(stderr > 0, stderr, np.nan)  # type: ignore


def _has_limit(problem: Problem) -> bool:
    return not isinstance(problem, Protocol) or problem.is_giant_step


def _by_bulk(theories: Sequence[xr.Dataset]) -> xr.Dataset:
    return xr.concat(
        theories, "bulk", data_vars="all", coords="minimal", compat="override", join="exact"
    )


def _compared(data: xr.Dataset) -> list[str]:
    return [name for name in _COMPARED if name in data]


def _ordered(data: xr.Dataset) -> list[str]:
    """List what belongs to an error side by side, then the rest."""
    forms = (
        *("{}", f"{_FINITE_SIZE}{{}}", "simulated_{}_mean", "simulated_{}_stderr"),
        *("z_score_{}", f"z_score_{_FINITE_SIZE}{{}}"),
    )
    names = [form.format(name) for name in (*_COMPARED, "status") for form in forms]
    return [name for name in names if name in data]


def _networks(measured: xr.Dataset) -> xr.Dataset:
    """Name the means and standard errors of networks as in files of figures."""
    names = {name: f"simulated_{name}_mean" for name in _compared(measured)}
    names |= {f"{name}_stderr": f"simulated_{name}_stderr" for name in _compared(measured)}
    return measured[list(names)].rename(names).drop_vars("dimension")


def _scored(prefix: str, theory: xr.Dataset, measured: xr.Dataset) -> xr.Dataset:
    """Name the variables of a theory, and add the z-scores of networks against it."""
    theory, measured = (data.drop_vars("dimension") for data in (theory, measured))
    values = {}
    for name in _compared(theory):
        values[f"{prefix}{name}"] = theory[name]
        if name in measured:
            score = z_score(measured[name], measured[f"{name}_stderr"], theory[name])
            values[f"z_score_{prefix}{name}"] = score.transpose(*theory[name].dims)
    values[f"{prefix}status"] = theory["status"]
    return xr.Dataset(values)


def _remarks(theory: xr.Dataset) -> list[str]:
    """Say of which theory the remarks are."""
    which = f"Theory of the {theory['bulk'].item()} bulk at d = {theory['dimension'].item():g}"
    return [f"{which}: {remark}" for remark in theory.attrs.get("remarks", "").splitlines()]
