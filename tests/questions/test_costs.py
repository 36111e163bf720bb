"""What tasks are expected to cost follows what they do."""

import time
import tracemalloc

import numpy as np
import pytest

import giantstep
from giantstep.problems.protocol import Protocol
from giantstep.questions.costs import MIB, CostError, cost_of
from giantstep.questions.task import Task, answer_task, question_named
from giantstep.validation import InvalidParametersError

USUAL = {"activation": "tanh", "target": "sign", "learning_rate": 1, "alpha0": 1, "beta": 1}
ONE = {"ridge": (0.1,), "dimension": 1000, "networks": (0,), "test_samples": 1000}


def task(alpha=(0.5, 1.0, 2.0), question="replicates", arguments=(), **differing):
    return Task(question, Protocol(**USUAL | differing), ONE | {"alpha": alpha} | dict(arguments))


def seconds(arguments=(), **differing):
    return cost_of(task(arguments=arguments, **differing)).seconds


@pytest.fixture(scope="module", autouse=True)
def loaded():
    """Load what is loaded on first use."""
    answer_task(task((1.0,), arguments={"dimension": 64}))


@pytest.mark.parametrize(
    "differing",
    [
        {},
        {"alpha": (0.3, 0.9), "beta": 3},
        {"alpha0": float("inf")},
        {"arguments": {"ridge": (1e-5, 0.1), "trainings": 2}},
        {"alpha": (0.8,), "arguments": {"loss": "huber"}},
    ],
)
def test_the_memory_of_a_network_is_bounded_within_a_factor_of_two(differing):
    asked = task(**differing)
    tracemalloc.start()
    answer_task(asked)
    peak = tracemalloc.get_traced_memory()[1] / MIB
    tracemalloc.stop()
    assert 0.95 < cost_of(asked).memory / peak < 2


def test_networks_cost_more_the_more_is_asked_for():
    sizes = {"networks": (0, 1), "trainings": 2, "test_samples": 20_000, "ridge": (0.1, 1.0)}
    more = [seconds({name: value}) for name, value in sizes.items()]
    more += [seconds(alpha=(0.5, 1.0, 2.0, 3.0)), seconds(beta=2), seconds(alpha0=8)]
    assert min(more) > seconds()
    large, larger = (seconds({"dimension": d}) for d in (20_000, 40_000))
    assert larger / large == pytest.approx(8, 0.1)
    assert cost_of(task(), threads=4).memory > cost_of(task()).memory


def test_a_sweep_costs_as_much_as_its_combinations():
    def of(**values):
        return cost_of(Task("sweep", Protocol(**USUAL), values)).seconds

    assert of(beta=[1, 2], alpha0=[1, 2, 3]) == pytest.approx(6 * of())
    several = of(covariance=["identity", [2, 1], [3, 2, 1]])
    assert several == pytest.approx(of() + 2 * of(covariance=[2, 1]))
    assert of(covariance="power:1") > 5 * of(covariance="identity")
    assert of(cross_validation=True) == pytest.approx(2 * of())
    assert of(bulk=["isotropic", "trained"]) == pytest.approx(2 * of(bulk="trained"))
    assert of(ridge="optimal", alpha=np.linspace(1, 2, 50)) > of(ridge=[0.1, 1]) > of()


@pytest.mark.parametrize(
    ("dimension", "alpha", "loss", "differing"),
    [
        (64, 3000.0, "square", {}),
        (64, 100.0, "huber", {}),
        (64, 10.0, "hinge", {}),
        (64, 1.0, "square", {"alpha0": 5000.0}),
        (64, 1.0, "square", {"alpha0": float("inf"), "beta": 30.0}),
    ],
)
def test_the_time_of_small_networks_with_many_samples_is_right_within_a_factor(
    dimension, alpha, loss, differing
):
    """Allowed is a factor of 5 for a busy or a faster machine; measured it was 2."""
    asked = task((alpha,), arguments={"dimension": dimension, "loss": loss}, **differing)
    start = time.process_time()
    answer_task(asked)
    taken = time.process_time() - start
    assert 1 / 5 < cost_of(asked).seconds / taken < 5


LETTERS = [(float(letter), 1 / 200) for letter in range(200)]


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda p: giantstep.simulate(p, dimension=50_000), "GiB of memory, .*with max_memory="),
        (lambda p: giantstep.sweep(p, readout=[LETTERS]), "GiB of memory, .*with max_memory="),
        (lambda p: giantstep.simulate(p, dimension=99, networks=10**9), "core-hours, .*max_hours="),
        (lambda p: giantstep.sweep(p, beta=np.linspace(1, 2, 10**5)), "core-hours, .*max_hours="),
        (lambda p: giantstep.optimise(p, alpha=np.linspace(1, 2, 200), loss="hinge"), "max_hours="),
    ],
)
def test_what_would_take_too_much_is_refused_with_what_it_would_take(ask, words):
    with pytest.raises(CostError, match=words):
        ask(Protocol(**USUAL))


@pytest.mark.parametrize(
    "name",
    ["solve", "sweep", "optimise", "learned_function", "spectrum", "bounds", "equivalent_features"],
)
def test_a_theory_of_too_many_steps_is_refused_before_they_are_followed(name):
    started = time.process_time()
    with pytest.raises(CostError, match="allowed with max_hours="):
        question_named(name)(Protocol(**USUAL, steps=1000), max_hours=1e-3)
    assert time.process_time() - started < 1


@pytest.mark.parametrize("limit", ["max_hours", "max_memory"])
def test_limits_are_those_of_the_parameters(limit):
    small = {"dimension": 20, "networks": 1, "test_samples": 10}
    for ask, given in ((giantstep.solve, {}), (giantstep.simulate, small)):
        with pytest.raises(CostError, match=f"allowed with {limit}="):
            ask(Protocol(**USUAL), **given, **{limit: 1e-9})
        with pytest.raises(InvalidParametersError, match=f"{limit} = -1"):
            ask(Protocol(**USUAL), **given, **{limit: -1})
    with pytest.raises(InvalidParametersError, match="max_hours = None"):
        giantstep.solve(Protocol(**USUAL), max_hours=None)
