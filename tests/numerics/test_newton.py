"""Newton's method moves many points at once, and none of them holds up the others."""

from typing import NamedTuple

import numpy as np
import pytest

from giantstep.numerics.log_coordinates import LogCoordinates
from giantstep.numerics.newton import Iterates, iterate_newton, solve_newton

MAX_ITERATIONS = 60


class Nothing(NamedTuple):
    pass


class Arctangent:
    """x = x - arctan(x - root): full Newton steps diverge from |x - root| > 1.4."""

    def __init__(self, roots):
        self.roots, self.evaluated = roots, []

    def evaluate(self, x, places):
        self.evaluated.append(places)
        value = np.arctan(x[:, 0] - self.roots[places])
        return Iterates(x, x - value[:, None], np.abs(value), Nothing())

    def newton_steps(self, at, places):
        gap = at.x[:, 0] - self.roots[places]
        return (-np.arctan(gap) * (1 + gap**2))[:, None]

    def move(self, x, step):
        return x + step

    def finished(self, at):
        return at.residual < 1e-14


def solved():
    problem = Arctangent(np.array([0.0, 2.0, -10.0, 5.0]))
    at = problem.evaluate(np.array([[0.0], [2.5], [10.0], [25.0]]), np.arange(4))
    return problem, at, solve_newton(problem, at, MAX_ITERATIONS, 1e-2)


def test_shortened_steps_reach_what_full_steps_overshoot_and_finished_points_leave_the_batch():
    problem, at, iterations = solved()
    assert at.x[:, 0] == pytest.approx(problem.roots, abs=1e-12)
    assert np.all(at.residual < 1e-14)
    assert sorted(np.bincount(np.concatenate(problem.evaluated[1:]))) == sorted(iterations)
    assert iterations[1] < iterations[2] < MAX_ITERATIONS


def test_points_that_are_lost_do_not_hold_up_the_others():
    sweeps = []

    def advance(x):
        sweeps.append(x)
        step = (x**2 - 2) / (2 * x)
        return x - step, np.abs(step)

    with np.errstate(all="ignore"):
        x = iterate_newton(advance, np.array([1.0, 3.0, 0.0, np.nan]), 1e-12, 100)
    assert x[:2] == pytest.approx(np.sqrt(2), rel=1e-15)
    assert not np.isfinite(x[2:]).any()
    assert len(sweeps) < 10


@pytest.mark.parametrize(("order", "extra"), [(1, 1), (3, 2)])
def test_log_coordinates_move_and_differentiate(order, extra):
    rng = np.random.default_rng(0)
    log = LogCoordinates(order, extra)
    values = 0.3 * rng.uniform(size=(4, log.multiplicity.size))
    values[:, log.logarithmic] += 0.5
    step = 0.1 * rng.standard_normal(values.shape)
    assert log.of(log.move(values, step)) == pytest.approx(log.of(values) + step, rel=1e-12)
    small = 1e-7 * step
    change = log.move(values, small) - values
    linear = np.einsum("sij,sj->si", log.derivative(values), small)
    assert change == pytest.approx(linear, rel=1e-5, abs=1e-14)
