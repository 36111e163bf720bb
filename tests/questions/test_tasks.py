"""What the workflow asks: parameters, networks one by one, and sweeps over steps."""

from dataclasses import fields

import numpy as np
import pytest

import giantstep
from giantstep import Protocol
from giantstep.problems.grid import Grid
from giantstep.problems.sizes import Sizes
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.questions.statistics import summary
from giantstep.questions.task import Task, answer_task
from giantstep.simulation.simulate import simulate
from giantstep.theory import optima
from giantstep.theory.first_layer.equivalent_features import equivalent_features

PROTOCOL = Protocol("tanh", "sign", 2, alpha0=2, beta=1)
THREE = Protocol("tanh", "sin", 2, alpha0=20, beta=1, steps=3)
STAIRS = Protocol("relu", "z1+z1*z2", 1, alpha0=8, beta=1, steps=3)
GROUPS = Protocol("tanh", "sin", 3, 2, 0.5, readout=((1, 0.5), (-2, 0.5)))


def ask(question, problem, **arguments):
    return answer_task(Task(question, problem, arguments), threads=2)


@pytest.mark.parametrize("problem", [PROTOCOL, THREE, STAIRS, GROUPS])
def test_parameters_say_all_of_the_features(problem):
    found = ask("equivalent_features", problem)
    named = [field.name for field in fields(SpikedFeatures) if field.name in found]
    values = {name: found[name].values.tolist() for name in named}
    if "alignments" in found:
        values["alignment"] = tuple(found["alignments"].values.tolist())
    assert SpikedFeatures(**values) == equivalent_features(problem)
    if problem is THREE:
        for name in ("bulk_variance", "spike_strength", "alignment"):
            assert found[f"{name}_by_step"].sel(step=problem.steps) == found[name]


def test_networks_are_the_same_whichever_others_are_asked_for():
    grid = {"alpha": (0.5, 1.0), "ridge": (0.01, 0.1)}
    found = ask("replicates", GROUPS, **grid, dimension=40, networks=(3, 1), trainings=2, seed=5)
    bare = simulate(GROUPS, Grid(**grid), Sizes(40, 2), [1], 5)
    np.testing.assert_array_equal(found.simulated_q1.sel(network=[1]), bare.q1)
    values = ask("eigenvalues", GROUPS, alpha=1.0, dimension=40, networks=(3, 1))
    one = ask("eigenvalues", GROUPS, alpha=1.0, dimension=40, networks=(1,))
    assert one.simulated_eigenvalue.equals(values.simulated_eigenvalue.sel(network=[1]))


def test_a_simulation_is_the_summary_of_its_networks():
    asked = {"dimension": 40, "trainings": 2}
    raw = ask("replicates", PROTOCOL, alpha=(1.0,), ridge=(0.1,), networks=range(3), **asked)
    mean = giantstep.simulate(PROTOCOL, [1.0], [0.1], networks=3, **asked)
    found = summary(raw)
    np.testing.assert_array_equal(mean.test_error, found.simulated_test_error_mean)
    np.testing.assert_array_equal(mean.m_stderr, found.simulated_m_stderr)
    assert found.simulated_test_error_training_variance > 0


@pytest.mark.parametrize(("ridges", "on_edge"), [((0.1, 0.5, 3.0), False), ((3, 5, 10), True)])
def test_the_best_ridge_of_any_loss_says_whether_it_is_on_an_edge(monkeypatch, ridges, on_edge):
    few = optima.search_of("huber")._replace(ridges=np.array(ridges))
    monkeypatch.setattr(optima, "search_of", lambda *_: few)
    problem = Protocol("tanh", "sin", 3, alpha0=2, beta=1, noise=0.1)
    found = giantstep.solve(problem, 2, "optimal", loss="huber", dimension=100)
    best = optima.optimal_ridge(problem, np.array([2.0]), "trained", 100, "huber")
    assert found.ridge.item() == best.ridge.item()
    assert found.optimal_ridge_on_edge == on_edge
