"""Rates, batches and decays of each step: a reference, constant schedules, and networks."""

import pytest
from networks import first_layers

import giantstep
from giantstep.cli.main import main
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.theory.first_layer.layer import layer_of
from giantstep.theory.readout.solve import solve
from giantstep.validation import InvalidParametersError

FALLING = Protocol("tanh", "sin", (3, 2, 1), (2, 4, 8), 1, steps=3, decay=0.1)
LETTERS = Protocol("relu", "sin", (2, 1), (3, 6), 1, steps=2, readout=((-1, 0.5), (1, 0.5)))
GRID = Grid((2.0,), (0.1,))


def test_the_state_after_steps_that_differ_is_that_of_the_reference():
    last = layer_of(FALLING).states[-1]
    found = last.bulk_variance, last.spike_strength, *last.alignment
    assert found == pytest.approx((0.7124, 1.1677, 0.9574), abs=6e-5)


def test_a_constant_schedule_is_a_number_and_one_that_is_nearly_constant_has_its_errors():
    same = Protocol("tanh", "sin", "2/2", (3, 3), 1, steps=2, decay=[0.1, 0.1])
    number = Protocol("tanh", "sin", 2, 3, 1, steps=2, decay=0.1)
    assert same == number
    nearly = Protocol("tanh", "sin", (2, 2 + 1e-15), 3, 1, steps=2, decay=(0.1, 0.1 + 1e-16))
    assert nearly != number
    found, expected = (solve(of, GRID, "trained", 300) for of in (nearly, number))
    assert found.test_error.item() == pytest.approx(expected.test_error.item(), rel=1e-12)


def test_networks_of_a_nearly_constant_schedule_are_those_of_the_number_to_the_bit():
    number = Protocol("tanh", "sin", 2, 3, 1, steps=2, decay=0.1)
    schedule = Protocol("tanh", "sin", (2, 2 + 4e-16), 3, 1, steps=2, decay=0.1)
    found, expected = (next(first_layers(of, 60)).weights for of in (schedule, number))
    assert found.tobytes() == expected.tobytes()


def test_protocols_share_the_steps_that_they_have_in_common():
    shorter = Protocol("tanh", "sin", (3, 2), (2, 4), 1, steps=2, decay=0.1)
    assert layer_of(FALLING).states[2] is layer_of(shorter).states[2]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"learning_rate": (3, 2)}, "as many as steps, or one for all"),
        ({"learning_rate": "3/2/x"}, "one such for each step, as in 3/2/1"),
        ({"decay": (0.1, 0.2, 2)}, "from 0 to 0.999"),
        ({"alpha0": (0, 1, 2)}, "> 0 and finite in each step"),
        ({"alpha0": (1, 2, 4), "reuse_batch": True}, "that are not used again"),
    ],
)
def test_what_is_no_number_for_each_step_is_refused(given, words):
    name = next(iter(given))
    values = {"learning_rate": 1, "alpha0": 1, "beta": 1, "steps": 3} | given
    with pytest.raises(InvalidParametersError, match=f"{name} = .*{words}"):
        Protocol("tanh", "sin", **values)


def test_a_theory_that_takes_one_rate_for_all_steps_refuses_others():
    one_batch = Protocol("tanh", "sin", (2, 1), 2, 1, steps=2, reuse_batch=True)
    with pytest.raises(InvalidParametersError, match="one number for all steps in the theory of"):
        giantstep.solve(one_batch)


def test_a_plan_which_varies_how_many_steps_there_are_refuses_numbers_for_each():
    with pytest.raises(InvalidParametersError, match="learning_rate = .*one number in plan"):
        giantstep.plan(FALLING, samples=10)


def test_a_sweep_tells_several_schedules_from_one_and_counts_their_samples():
    lists = {"alpha0": ["2/4/8", (8, 4, 2), 1], "alpha": [1, 2]}
    swept = giantstep.sweep(FALLING, **lists, ridge=0.1, bulk="isotropic")
    assert swept.alpha0.values[:2].tolist() == ["2/4/8", "8/4/2"]
    assert swept.total_samples.transpose("alpha", "alpha0").values.tolist() == [
        [15, 15, 4],
        [16, 16, 5],
    ]


def test_derivatives_by_schedules_are_left_out():
    data = giantstep.solve(FALLING, derivatives=True, bulk="isotropic")
    assert "beta" in data.parameter
    assert not {"learning_rate", "alpha0"} & set(data.parameter.values)


def test_the_command_line_takes_a_number_for_each_step(capsys):
    flags = "--activation tanh --target sin --beta 1 --alpha 2 --ridge 0.1 --bulk isotropic"
    of_steps = "--steps 3 --learning-rate 3/2/1 --alpha0 2/4/8 --decay 0.1 --format csv"
    main(["theory", *flags.split(), *of_steps.split()])
    error = giantstep.solve(FALLING, alpha=2, ridge=0.1, bulk="isotropic").test_error.item()
    assert f"{error:.5f}"[:6] in capsys.readouterr().out
