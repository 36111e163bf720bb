"""What first layers see of multi-index teachers: theory against simulation, and what leaps mean."""

import numpy as np
import pytest
from scipy.special import erfc

from giantstep.problems.recovery import Recovery, check_dimension
from giantstep.problems.teachers import lookup_teacher
from giantstep.simulation.recovery import recover
from giantstep.theory.one_step_recovery import expected_overlaps
from giantstep.validation import InvalidParametersError


def problem(teacher, exponent=1.0, **differing):
    usual = {"activation": "elu", "learning_rate": 1, "alpha0": 8, "width": 64}
    return Recovery(teacher=teacher, exponent=exponent, **usual | differing)


def seen(asked, dimension, networks=8, step=1):
    """Give what is seen of each direction in a row's change: mean, and its standard error."""
    found = recover(asked, dimension, range(networks), 0).update_overlap[:, step]
    return found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(networks)


@pytest.mark.parametrize(
    ("teacher", "leap", "directions"),
    [
        ("z1", 1, 1),
        ("he3(z1)", 3, 1),
        ("z1*z2", 2, 2),
        ("z1*z2*z3", 3, 3),
        ("z1+z1*z2+z1*z2*z3", 1, 3),
        ("he2(z1)+z1*z2*z3", 2, 3),
        ("z1+0.5*he3(z2)", 3, 2),
        ("z3+he2(z1)*z3+z1*z2", 2, 3),
    ],
)
def test_a_leap_is_the_least_degree_that_no_order_of_terms_avoids(teacher, leap, directions):
    found = lookup_teacher(teacher)
    assert (found.leap, found.directions) == (leap, directions)


@pytest.mark.parametrize("name", ["", "z5", "z1*z1", "z2", "z1+z1", "he9(z1)", "z1**z2", "2", "x1"])
def test_what_spells_no_teacher_is_refused(name):
    with pytest.raises(InvalidParametersError, match="teacher = "):
        problem(name)


@pytest.mark.parametrize(
    ("teacher", "exponent", "dimension"),
    [("z1", 1, 128), ("he2(z1)", 2, 64), ("z1*z2", 2, 64), ("z1+z1*z2", 1, 128)],
)
def test_one_step_sees_what_the_theory_says(teacher, exponent, dimension):
    asked = problem(teacher, exponent)
    mean, stderr = seen(asked, dimension)
    expected = expected_overlaps(asked, dimension).update_overlap
    assert np.all(abs(mean - expected) < 4 * stderr + 4 / dimension)
    rows = recover(asked, dimension, range(8), 0).overlap[:, 1]
    spread = 4 * rows.std(axis=0, ddof=1) / np.sqrt(8) + 2 / dimension
    assert np.all(abs(rows.mean(axis=0) - expected_overlaps(asked, dimension).overlap) < spread)


def test_leap_two_is_not_seen_at_n_of_order_d_and_is_at_d_squared():
    linear, square = problem("he2(z1)"), problem("he2(z1)", 2)
    chance = [expected_overlaps(linear, d).update_overlap.item() * d for d in (10**3, 10**5)]
    assert chance[1] == pytest.approx(chance[0], rel=0.01)
    mean, stderr = seen(linear, 128)
    assert mean < 8 / 128
    mean, stderr = seen(square, 64)
    assert mean > 0.3 + 3 * stderr


def test_at_d_squared_leap_two_is_seen_as_in_closed_form():
    # The average of xi^2/(xi^2 + c) over xi ~ N(0, 1), with c = E y^2 E sigma'^2/(alpha0 s^2).
    asked = problem("he2(z1)", 2)
    bent = np.exp(0.5) * erfc(1 / np.sqrt(2)) / 2  # E sigma'' of elu
    power = 2 * (0.5 + np.exp(2) * erfc(np.sqrt(2)) / 2)
    c = power / (asked.alpha0 * (2 * bent) ** 2)
    expected = 1 - np.sqrt(np.pi * c / 2) * np.exp(c / 2) * erfc(np.sqrt(c / 2))
    assert expected_overlaps(asked, 3000).update_overlap == pytest.approx(expected, rel=0.003)


def test_an_odd_activation_sees_no_leap_two():
    blind = problem("z1*z2", 2, activation="tanh")
    assert expected_overlaps(blind, 1000).update_overlap.max() < 4 / 1000
    mean, _ = seen(blind, 64)
    assert mean.max() < 8 / 64


def test_a_staircase_is_climbed_in_order():
    asked = problem("z1+z1*z2", steps=3, learning_rate=3, alpha0=32)
    _, first, second, third = recover(asked, 100, range(4), 0).overlap.mean(axis=0)
    assert first[0] > 0.5
    assert first[1] < 3 / 100
    assert second[1] > 0.1
    assert third[1] > second[1]
    product = problem("z1*z2", steps=3, learning_rate=3, alpha0=32)
    assert recover(product, 100, range(4), 0).overlap[:, 2].mean() < second[1] / 2


def test_digits_depend_on_no_other_replicate():
    asked = problem("z1*z2", steps=2)
    alone, among = recover(asked, 20, [2], 0), recover(asked, 20, [0, 2, 1], 0)
    for one, all_ in zip(alone, among, strict=True):
        np.testing.assert_array_equal(one[0], all_[1])


def test_a_batch_out_of_reach_is_refused_with_its_remedy():
    with pytest.raises(InvalidParametersError, match=r"alpha0 \* dimension\^exponent"):
        check_dimension(problem("z1", 3), 10_000)
    with pytest.raises(InvalidParametersError, match="twice the teacher's directions"):
        check_dimension(problem("z1*z2"), 3)
    with pytest.raises(InvalidParametersError, match="width = 3"):
        problem("z1", width=3)
    with pytest.raises(InvalidParametersError, match="continuous"):
        problem("z1", activation="sign")
