"""Teachers are parsed, and know their leap."""

from dataclasses import replace

import numpy as np
import pytest
from alarms import largest_z

from giantstep import Protocol, compare, simulate, solve
from giantstep.problems.teachers import lookup_teacher
from giantstep.validation import InvalidParametersError


@pytest.mark.parametrize(
    ("teacher", "leap", "directions"),
    [
        ("z1", 1, 1),
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


@pytest.mark.parametrize(
    ("target", "allowed"),
    [
        *((name, "") for name in ["", "z5", "0*z1", "z2", "he9(z1)", "z1**z2", "x1"]),
        *(
            (name, ".* or a sum of .* of z1 and z2 such as")
            for name in ["relu(z1)*z2", "sign(z1*z2)"]
        ),
        *((name, ".* or a sum of") for name in ["z1/z2", "exp(z1*z2)", "tanh(z1)", "z1.real+z2"]),
        ("tanh(z1)+z2*z3", ".* or a sum of"),
        (np.maximum, ".* or a sum of"),
        (lambda u, v, w: u + v * w, ".* or a sum of"),
    ],
)
def test_what_is_no_smooth_teacher_is_refused(target, allowed):
    with pytest.raises(InvalidParametersError, match=f"target = .*: must be {allowed}"):
        Protocol("elu", target, 1, alpha0=8, beta=1)


def test_a_written_teacher_is_the_polynomial_that_it_equals():
    written, named = (
        Protocol("softplus", target, 1, alpha0=4, beta=1)
        for target in ("z1 * (1 + z2)", "z1+z1*z2")
    )
    for options in ({}, {"dimension": 300, "bulk": "isotropic"}):
        errors = [solve(one, [0.5, 2], **options).test_error for one in (written, named)]
        np.testing.assert_allclose(*errors, rtol=1e-12)
    found, s = lookup_teacher(written.target), np.linspace(-2, 2, 5)
    assert found.terms == {(1, 0): 1, (1, 1): 1}
    assert found.leap == 1
    np.testing.assert_allclose(found.mean_given_first(s), s)


def test_a_callable_of_two_arrays_is_the_teacher_that_is_written_so():
    own = Protocol("softplus", lambda u, v: np.tanh(u) + v, 1, alpha0=4, beta=1)
    written = replace(own, target="tanh(z1)+z2")
    np.testing.assert_allclose(solve(own).test_error, solve(written).test_error, rtol=1e-12)
    assert replace(own, beta=2).target == own.target
    assert replace(own, target=lambda u, v: v + np.tanh(u)) == own


def test_networks_learn_a_written_teacher_as_the_theory_says():
    problem = Protocol("softplus", "tanh(z1)+z2+0.5", 1, alpha0=4, beta=1)
    found = compare(problem, [1, 3], dimension=150, networks=8, test_samples=2000)
    assert np.max(np.abs(found.z_score_test_error.sel(theory="finite"))) < largest_z(2, 8)


def test_what_needs_a_polynomial_refuses_other_teachers():
    population = Protocol("tanh", "tanh(z1)+z2", 1, alpha0=np.inf, beta=1)
    with pytest.raises(InvalidParametersError, match="a polynomial for the population gradient"):
        simulate(population, dimension=100)
