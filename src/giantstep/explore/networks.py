"""Networks beside the theory's curve, simulated one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from giantstep.arrays import Array
from giantstep.explore.children import Say
from giantstep.explore.points import solve_points
from giantstep.explore.project import project_config
from giantstep.explore.question import Question
from giantstep.explore.tasks import MOST_HOURS, TEST_SAMPLES, NetworksTask
from giantstep.explore.view import View, axis_values, simulated_values
from giantstep.problems.bulk_kind import bulk_of_networks
from giantstep.problems.losses import SQUARE
from giantstep.questions.arguments import OPTIMAL
from giantstep.questions.costs import check_cost, cost_of, total_cost
from giantstep.questions.task import Task, answer_task
from giantstep.simulation.replicate_statistics import summarise
from giantstep.validation import refusal
from giantstep.workflow.shards import with_networks

# Points along x at which the theory is drawn beside networks.
_THEORY_POINTS = 57
# With fewer networks, standard errors are too uncertain for z-scores.
_SCORED = 4


def simulate_networks(task: NetworksTask, say: Say) -> None:
    """Say the means of networks, their standard errors and z-scores, after each network.

    Raises
    ------
    InvalidParametersError
        If the networks cannot be simulated, or would take too long or too much memory.
    """
    view = task.view
    question = view.question.moved(dimension=float(task.dimension))
    config = project_config(task.project)
    sizes = {"dimension": task.dimension, "trainings": config["simulation"]["trainings"]}
    sizes |= {"test_samples": TEST_SAMPLES, "seed": config["seed"]}
    values = simulated_values(view)
    parts = _parts(question, view.x, values)
    tasks = [Task("replicates", part.problem, points | sizes) for part, points in parts]
    costs = [cost_of(with_networks(one, range(task.networks))) for one in tasks]
    check_cost(total_cost(costs), MOST_HOURS)
    theory = _theory(question, view, np.array(values))
    say({"theory": theory, "fraction": 0.0, "done": False})

    errors: list[Array] = []
    for network in range(task.networks):
        errors.append(_errors([answer_task(with_networks(one, (network,))) for one in tasks]))
        done = network + 1 == task.networks
        result = _statistics(values, np.stack(errors), theory["at"], task.dimension)
        say(result | {"theory": theory, "fraction": (network + 1) / task.networks, "done": done})


def _parts(
    question: Question, x: str, values: tuple[float, ...]
) -> list[tuple[Question, dict[str, Any]]]:
    """Return the questions to simulate, each with its points: one if x is alpha or the ridge."""
    if question["ridge"] == OPTIMAL and x != "ridge":
        raise refusal("ridge", OPTIMAL, "a number for networks, which are fitted at one ridge")
    points = {name: (question[name],) for name in ("alpha", "ridge")} | {"loss": question["loss"]}
    if x in points:
        return [(question, points | {x: values})]
    return [(question.moved(**{x: value}), points) for value in values]


def _theory(question: Question, view: View, values: Array) -> dict[str, Array]:
    """Solve the theory of the networks themselves: of their dimension, and of their bulk."""
    x, bulk = values, bulk_of_networks(question.problem)
    if question["loss"] == SQUARE and view.x in ("alpha", "ridge"):  # further points take no time
        x = np.union1d(values, axis_values(view.axis, _THEORY_POINTS))
    y = solve_points(question, bulk, view.x, x)["test_error"]
    return {"x": x, "y": y, "at": y[np.searchsorted(x, values)]}


def _errors(parts: list[xr.Dataset]) -> Array:
    """Return test errors of one network, of shape (trainings, points)."""
    errors = [part["simulated_test_error"].values[0] for part in parts]
    return np.concatenate([one.reshape(len(one), -1) for one in errors], axis=1)


def _statistics(
    values: tuple[float, ...], errors: Array, theory: Array, dimension: int
) -> dict[str, Any]:
    """Return means, standard errors and z-scores, and a note on them."""
    networks, found = len(errors), summarise(errors)
    note = f"{networks} network{'s' * (networks > 1)}, d = {dimension}"
    z = np.full(theory.shape, np.nan)
    if networks >= _SCORED:
        z = (found.mean - theory) / found.stderr
        note += f": largest |z| = {np.nanmax(np.abs(z)):.1f} against the theory of these networks"
    measured = {"x": np.array(values), "mean": found.mean, "stderr": found.stderr, "z": z}
    bar = np.nan_to_num(found.stderr)
    measured |= {"low": found.mean - bar, "high": found.mean + bar}
    return measured | {"dimension": float(dimension), "note": note}
