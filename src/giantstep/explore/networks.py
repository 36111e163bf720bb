"""Actual networks beside the theory's curve, simulated one after the other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import psutil
import xarray as xr

from giantstep.arrays import Array
from giantstep.explore.children import Say
from giantstep.explore.project import project_config
from giantstep.explore.question import OPTIMAL, Question
from giantstep.explore.tasks import NetworksTask
from giantstep.explore.theory import join, moved_to, solve_along
from giantstep.explore.view import View, axis_values
from giantstep.pipeline.planning.simulation_work import MIB, network_memory, network_work
from giantstep.pipeline.stages import montecarlo
from giantstep.problems.bulk_kind import bulk_of_networks
from giantstep.problems.grid import Grid
from giantstep.problems.losses import SQUARE
from giantstep.problems.problem import Problem
from giantstep.problems.sizes import Sizes, check_sizes
from giantstep.simulation.replicate_statistics import summarise
from giantstep.validation import Fault, InvalidParametersError

# Points along x at which networks are simulated, and at which the theory is drawn beside them.
POINTS, FEW_POINTS, THEORY_POINTS = 9, 5, 57
TEST_SAMPLES = 10_000
# With fewer networks, standard errors are too uncertain for z-scores.
_SCORED = 4
# The most core-hours that networks may take.
MOST_HOURS = 1.0


def simulated_values(view: View) -> tuple[float, ...]:
    """Return the values of x at which networks are simulated: of two digits."""
    points = POINTS if view.x in ("alpha", "ridge") else FEW_POINTS
    spaced = axis_values(view.axis, points)[:POINTS]
    if view.axis.domain.whole:
        return tuple(float(value) for value in spaced)
    return tuple(dict.fromkeys(float(f"{value:.2g}") for value in spaced))


def simulate_networks(task: NetworksTask, say: Say) -> None:
    """Say the means of networks, their standard errors and z-scores, after each network.

    Raises
    ------
    InvalidParametersError
        If the networks cannot be simulated, or would take too long or too much memory.
    """
    view = task.view
    question = replace(view.question, dimension=float(task.dimension))
    config = project_config(task.project)
    seed, trainings = config["seed"], config["simulation"]["trainings"]
    sizes = Sizes(task.dimension, trainings, TEST_SAMPLES)
    values = simulated_values(view)
    parts = _parts(question, view.x, values)
    _check(parts, sizes, task.networks)
    theory = _theory(question, view, values)
    say({"theory": theory, "fraction": 0.0, "done": False})
    replicates: list[list[xr.Dataset]] = []
    for network in range(task.networks):
        found = []
        for k, (problem, grid) in enumerate(parts):
            before = (network + k / len(parts)) / task.networks
            weight = 1 / (len(parts) * task.networks)

            def report(done: float, before: float = before, weight: float = weight) -> None:
                say({"fraction": before + weight * done, "done": False})

            given = problem, grid, sizes, [network], seed
            found.append(montecarlo.compute(*given, progress=report))
        replicates.append(found)
        errors = np.stack([_errors(one, trainings) for one in replicates])
        done = network + 1 == task.networks
        progress = {"theory": theory, "fraction": (network + 1) / task.networks, "done": done}
        made = {"replicates": replicates, "seed": seed, "trainings": trainings} if done else {}
        say(_statistics(values, errors, theory["at"], task.dimension) | progress | made)


def _parts(question: Question, x: str, values: tuple[float, ...]) -> list[tuple[Problem, Grid]]:
    """Return the problems to simulate, each with its grid: one if x is alpha or the ridge."""
    if question.ridge == OPTIMAL and x != "ridge":
        allowed = "a number for networks, which are fitted at one ridge"
        raise InvalidParametersError([Fault("ridge", OPTIMAL, allowed)])
    if x == "alpha":
        return [(question.problem, replace(question.grid, alpha=values))]
    if x == "ridge":
        return [(question.problem, replace(question.grid, ridge=values))]
    moved = [moved_to(question, x, value) for value in values]
    return [(one.problem, one.grid) for one in moved]


def _check(parts: list[tuple[Problem, Grid]], sizes: Sizes, networks: int) -> None:
    """Refuse networks that cannot be simulated, or that are too many or too large."""
    seconds = 0.0
    for problem, grid in parts:
        check_sizes(problem, grid, sizes)
        seconds += networks * network_work(problem, grid, sizes).seconds
        if network_memory(problem, grid, sizes, 1) * MIB > psutil.virtual_memory().total:
            allowed = "smaller: these networks need more memory than there is"
            raise InvalidParametersError([Fault("dimension", sizes.dimension, allowed)])
    if seconds > 3600 * MOST_HOURS:
        allowed = f"smaller: these networks take about {seconds / 3600:.2g} hours"
        raise InvalidParametersError([Fault("dimension", sizes.dimension, allowed)])


def _theory(question: Question, view: View, values: tuple[float, ...]) -> dict[str, Array]:
    """Solve the theory of the networks themselves: of their dimension, and of their bulk."""
    bulk = bulk_of_networks(question.problem)
    at = join(solve_along(question, bulk, view.x, np.array(values))).test_error
    x, y = np.array(values), at
    if question.loss == SQUARE and view.x in ("alpha", "ridge"):
        x = axis_values(view.axis, THEORY_POINTS)
        y = join(solve_along(question, bulk, view.x, x)).test_error
    return {"x": x, "y": y, "at": at}


def _errors(found: list[xr.Dataset], trainings: int) -> Array:
    """Return test errors of one network, of shape (trainings, points)."""
    parts = [one["simulated_test_error"].values[0].reshape(trainings, -1) for one in found]
    return np.concatenate(parts, axis=1)


def _statistics(
    values: tuple[float, ...], errors: Array, theory: Array, dimension: int
) -> dict[str, Any]:
    """Return means, standard errors and z-scores, and a note on them."""
    found, networks = summarise(errors), len(errors)
    z = (found.mean - theory) / found.stderr
    note = f"{networks} network{'s' * (networks > 1)}, d = {dimension}"
    if networks >= _SCORED:
        note += f": largest |z| = {np.nanmax(np.abs(z)):.1f} against the theory of these networks"
    return {
        "x": np.array(values),
        "mean": found.mean,
        "stderr": found.stderr,
        "z": z if networks >= _SCORED else np.full(z.shape, np.nan),
        "note": note,
    }
