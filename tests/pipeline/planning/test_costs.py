"""What jobs are expected to cost follows what they do."""

import time
import tracemalloc

import pytest
import yaml
from tiny import ROOT

from giantstep.pipeline.planning import costs
from giantstep.pipeline.planning.plan import make_plan
from giantstep.pipeline.planning.simulation_work import (
    MIB,
    network_memory,
    network_work,
)
from giantstep.pipeline.planning.tasks import RecoveryTask
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.problems.recovery import Recovery
from giantstep.problems.sizes import Sizes
from giantstep.simulation.simulate import simulate

USUAL = {"activation": "tanh", "target": "sign", "learning_rate": 1, "alpha0": 1, "beta": 1}


ALPHAS = (0.5, 1.0, 2.0)


def seconds(sizes, ridges=(0.1,), alphas=ALPHAS, **differing):
    return network_work(Protocol(**USUAL | differing), Grid(alphas, ridges), sizes).seconds


@pytest.fixture(scope="module")
def plan():
    return make_plan(ROOT, yaml.safe_load((ROOT / "config/config.yaml").read_text()))


@pytest.mark.parametrize(
    ("differing", "alphas", "ridge"),
    [
        ({}, ALPHAS, 0.1),
        ({}, (0.3, 0.9), 0.1),
        ({"alpha0": float("inf")}, ALPHAS, 0.1),
        ({"beta": 3}, ALPHAS, 0.1),
        ({}, ALPHAS, 1e-5),
    ],
)
def test_the_memory_of_a_network_is_what_its_arrays_take(differing, alphas, ridge):
    asked = Protocol(**USUAL | differing), Grid(alphas, (ridge,)), Sizes(1200, 1, 1000)
    simulate(Protocol(**USUAL), Grid((1.0,), (0.1,)), Sizes(64, 1, 100), [0], 0)
    tracemalloc.start()
    simulate(*asked, [0], 0)
    peak = tracemalloc.get_traced_memory()[1] / MIB
    tracemalloc.stop()
    assert 0.85 < network_memory(*asked) / peak < 1.3


def test_fits_of_other_losses_cost_more_the_less_smooth_they_are():
    def of(loss):
        grid = Grid(ALPHAS, (0.1,), loss)
        asked = Protocol(**USUAL), grid, Sizes(500)
        return network_work(*asked).seconds, network_memory(*asked)

    times, held = zip(*map(of, ("square", "logistic", "huber", "hinge")), strict=True)
    assert times == tuple(sorted(times))
    assert held[1] > held[0]  # rows are kept


def test_work_grows_with_all_that_is_asked_for():
    least = seconds(Sizes(1000, 1, 1000))
    more = [
        seconds(Sizes(1000, 2, 1000)),
        seconds(Sizes(1000, 1, 20_000)),
        seconds(Sizes(1000, 1, 1000), alphas=(*ALPHAS, 3.0)),
        seconds(Sizes(1000, 1, 1000), ridges=(0.1, 1.0)),
        seconds(Sizes(1000, 1, 1000), ridges=(1e-6,)),
        seconds(Sizes(1000, 1, 1000), beta=2),
        seconds(Sizes(1000, 1, 1000), alpha0=8),
        seconds(Sizes(1000, 1, 1000), alpha0=float("inf")),
    ]
    assert min(more) > least
    assert seconds(Sizes(40_000, 1, 1000)) / seconds(Sizes(20_000, 1, 1000)) == pytest.approx(
        8, 0.1
    )


def test_what_first_layers_see_costs_as_its_batch_its_steps_and_its_networks():
    def beyond_starting(networks=1, **differing):
        problem = Recovery("elu", "z1*z2", 1, **{"alpha0": 8, "exponent": 2} | differing)
        task = RecoveryTask(problem, 256, tuple(range(networks)), 0)
        return costs.recovery(task).seconds - costs.START_SECONDS

    one = beyond_starting()
    assert beyond_starting(alpha0=16) == pytest.approx(2 * one, rel=0.01)
    assert beyond_starting(steps=3) == pytest.approx(3 * one, rel=0.01)
    assert beyond_starting(networks=5) == pytest.approx(5 * one)


def test_a_shard_costs_what_is_still_to_be_simulated(plan):
    task = next(iter(plan.tasks["montecarlo"].values()))
    none, some, every = (costs.shard(task, networks).seconds for networks in (0, 2, None))
    assert none < some < every
    assert every - none == pytest.approx(len(task.networks) / 2 * (some - none))


def test_what_is_asked_of_a_scheduler_covers_the_estimate_and_grows_with_each_attempt(plan):
    for figure in plan.figures.values():
        for cost in (costs.merging(plan, figure), costs.drawing(plan, figure)):
            first, second = (costs.request(cost, 1, attempt) for attempt in (1, 2))
            assert first.memory > cost.memory
            assert 60 * first.minutes > cost.seconds
            assert second.memory > first.memory
            assert second.minutes > first.minutes


@pytest.mark.parametrize(
    ("dimension", "alpha", "loss", "differing"),
    [
        (64, 3000.0, "square", {}),
        (8, 50_000.0, "square", {}),
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
    asked = Protocol(**USUAL | differing), Grid((alpha,), (0.1,), loss), Sizes(dimension, 1, 1000)
    simulate(Protocol(**USUAL), Grid((1.0,), (0.1,)), Sizes(64, 1, 100), [0], 0)
    start = time.process_time()
    simulate(*asked, [0], 0)
    taken = time.process_time() - start
    assert 1 / 5 < network_work(*asked).seconds / taken < 5
