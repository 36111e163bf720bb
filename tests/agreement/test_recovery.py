"""What first layers recover of multi-index teachers: theory against simulation."""

import numpy as np
import pytest
from alarms import largest_z

from giantstep.problems.recovery import Recovery
from giantstep.simulation.recovery import simulate_recovery
from giantstep.theory.first_layer.one_step_recovery import expected_overlaps


def problem(teacher, exponent=1.0, **differing):
    usual = {"activation": "elu", "learning_rate": 1, "alpha0": 8, "width": 64}
    return Recovery(teacher=teacher, exponent=exponent, **usual | differing)


def seen(asked, dimension, networks=8, step=1):
    """Return what is seen of each direction in a row's change: mean, and its standard error."""
    found = simulate_recovery(asked, dimension, range(networks), 0).update_overlap[:, step]
    return found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(networks)


@pytest.mark.parametrize(
    ("teacher", "exponent", "dimension"),
    [("z1", 1, 128), ("he2(z1)", 2, 64), ("z1*z2", 2, 64), ("z1+z1*z2", 1, 128)],
)
def test_one_step_sees_what_the_theory_says(teacher, exponent, dimension):
    """Within standard errors, and what is of order 1/d; a false alarm has 2 % at most."""
    asked = problem(teacher, exponent)
    mean, stderr = seen(asked, dimension)
    far = largest_z(mean.size, 8)
    expected = expected_overlaps(asked, dimension).update_overlap
    assert np.all(abs(mean - expected) < far * stderr + 4 / dimension)
    rows = simulate_recovery(asked, dimension, range(8), 0).overlap[:, 1]
    spread = far * rows.std(axis=0, ddof=1) / np.sqrt(8) + 2 / dimension
    assert np.all(abs(rows.mean(axis=0) - expected_overlaps(asked, dimension).overlap) < spread)


def test_leap_two_is_not_seen_at_n_of_order_d_and_is_at_d_squared():
    linear, square = problem("he2(z1)"), problem("he2(z1)", 2)
    chance = [expected_overlaps(linear, d).update_overlap.item() * d for d in (10**3, 10**5)]
    assert chance[1] == pytest.approx(chance[0], rel=0.01)
    mean, stderr = seen(linear, 128)
    assert mean < 8 / 128
    mean, stderr = seen(square, 64)
    assert mean > 0.3 + 3 * stderr


def test_an_odd_activation_sees_no_leap_two():
    blind = problem("z1*z2", 2, activation="tanh")
    assert expected_overlaps(blind, 1000).update_overlap.max() < 4 / 1000
    mean, _ = seen(blind, 64)
    assert mean.max() < 8 / 64
