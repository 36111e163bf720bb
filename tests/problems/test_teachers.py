"""Teachers are parsed, and know their leap."""

import pytest

from giantstep.problems.recovery import Recovery
from giantstep.problems.teachers import lookup_teacher
from giantstep.validation import InvalidParametersError


def problem(teacher, exponent=1.0, **differing):
    usual = {"activation": "elu", "learning_rate": 1, "alpha0": 8, "width": 64}
    return Recovery(teacher=teacher, exponent=exponent, **usual | differing)


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
