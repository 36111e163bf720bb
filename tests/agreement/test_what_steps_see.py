"""What first layers see of targets of several directions, of figure S9: theory and simulation."""

import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from networks import assert_near
from scipy.special import erfc

SEE = runpy.run_path(
    str(Path(__file__).parents[2] / "benchmarks/what_steps_see.py"), run_name="see"
)
STAIRS = SEE["Recovery"]("elu", "z1+z1*z2", learning_rate=3.0, alpha0=64.0, width=64, steps=3)


def problem(teacher, exponent=1.0):
    return SEE["Recovery"]("elu", teacher, exponent=float(exponent), width=64)


def simulated(asked, dimension, networks):
    found = [SEE["simulate"](asked, dimension, network, seed=0) for network in range(networks)]
    return SEE["Shares"](*map(np.stack, zip(*found, strict=True)))


@pytest.mark.parametrize(
    ("teacher", "exponent", "dimension"),
    [("z1", 1, 128), ("he2(z1)", 2, 64), ("z1*z2", 2, 64), ("z1+z1*z2", 1, 128)],
)
def test_one_step_sees_what_the_theory_says(teacher, exponent, dimension):
    """Within standard errors, and what is of order 1/d; a false alarm has 2 % at most."""
    asked = problem(teacher, exponent)
    found, expected = simulated(asked, dimension, 8), SEE["after_one_step"](asked, dimension)
    for of, theory, order in zip(found, expected, (2, 4), strict=True):
        assert_near(of[:, 1:2], theory, beside=order / dimension)


def test_at_d_squared_leap_two_is_seen_as_in_closed_form():
    # The average of xi^2/(xi^2 + c) over xi ~ N(0, 1), with c = E y^2 E sigma'^2/(alpha0 s^2).
    asked = problem("he2(z1)", 2)
    bent = np.exp(0.5) * erfc(1 / np.sqrt(2)) / 2  # E sigma'' of elu
    power = 2 * (0.5 + np.exp(2) * erfc(np.sqrt(2)) / 2)
    c = power / (asked.alpha0 * (2 * bent) ** 2)
    expected = 1 - np.sqrt(np.pi * c / 2) * np.exp(c / 2) * erfc(np.sqrt(c / 2))
    assert SEE["after_one_step"](asked, 3000).changes == pytest.approx(expected, rel=0.003)


def test_the_first_of_several_steps_is_that_of_the_theory_of_one_step():
    one, dimension = replace(STAIRS, alpha0=4, steps=1), 10**7
    (found,) = SEE["after_steps"](one, dimension)
    assert found == pytest.approx(SEE["after_one_step"](one, dimension).rows, rel=1e-5, abs=1e-6)


def test_rows_of_networks_climb_a_staircase_as_the_theory_says():
    theory, found = SEE["after_steps"](STAIRS, 150), simulated(STAIRS, 150, 4).rows[:, 1:]
    noise = 2 * found.std(axis=0) + 0.03 * theory + 1e-3
    assert np.all(np.abs(found.mean(axis=0) - theory) < noise)
    assert theory[0, 1] < 0.01 < 0.2 < theory[2, 1]


def test_without_the_stair_below_rows_grow_out_of_chance_until_each_takes_its_own_way():
    product = replace(STAIRS, teacher="z1*z2")
    theory = SEE["after_steps"](product, 200)[:, 0]
    found = simulated(replace(product, steps=2), 200, 3).rows.mean(axis=(0, 2))
    assert found[1:] == pytest.approx(theory[:2], rel=0.1)
    assert theory[1] > 2 * theory[0]
    assert np.isnan(theory[2])
