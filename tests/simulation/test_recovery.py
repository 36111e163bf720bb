"""Simulated first layers learn a staircase in order, replicate by replicate."""

import numpy as np

from giantstep.problems.recovery import Recovery
from giantstep.simulation.recovery import simulate_recovery


def problem(teacher, exponent=1.0, **differing):
    usual = {"activation": "elu", "learning_rate": 1, "alpha0": 8, "width": 64}
    return Recovery(teacher=teacher, exponent=exponent, **usual | differing)


def test_a_staircase_is_climbed_in_order():
    asked = problem("z1+z1*z2", steps=3, learning_rate=3, alpha0=32)
    _, first, second, third = simulate_recovery(asked, 100, range(4), 0).overlap.mean(axis=0)
    assert first[0] > 0.5
    assert first[1] < 3 / 100
    assert second[1] > 0.1
    assert third[1] > second[1]
    product = problem("z1*z2", steps=3, learning_rate=3, alpha0=32)
    assert simulate_recovery(product, 100, range(4), 0).overlap[:, 2].mean() < second[1] / 2


def test_digits_depend_on_no_other_replicate():
    asked = problem("z1*z2", steps=2)
    alone, among = simulate_recovery(asked, 20, [2], 0), simulate_recovery(asked, 20, [0, 2, 1], 0)
    for one, all_ in zip(alone, among, strict=True):
        np.testing.assert_array_equal(one[0], all_[1])
