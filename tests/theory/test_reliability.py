"""What the theory leaves out, in cases that are known to be off."""

import math
from dataclasses import replace

import numpy as np
import pytest

from giantstep import Protocol, solve, sweep

OFF = {
    "unseen": (Protocol("tanh", "z1+z2+0.5*z1*z2", 1.28, alpha0=10.1, beta=1.71), 0.25, 1.6e-5),
    "sparse": (Protocol("relu", "sin", 5.23, alpha0=17.7, beta=0.461), 0.244, 5.9e-4),
    "quadratic": (Protocol("he2", "he2", 2, alpha0=8, beta=1, readout={-1: 0.5, 1: 0.5}), 1, 0.1),
    "chance": (Protocol("erf", "he3", 4, alpha0=math.inf, beta=0.46, steps=2), 4.5, 0.007),
    "first_batch": (Protocol("softsign", "he3", 0.196, alpha0=0.17, beta=0.456), 0.68, 1.9e-4),
    "own_output": (Protocol("tanh", "erf", 18, alpha0=math.inf, beta=0.4), 0.3, 0.1),
}


@pytest.mark.parametrize("reason", OFF)
def test_what_is_known_to_be_off_is_said_with_its_reason(reason):
    answer = solve(*OFF[reason], dimension=200)
    parts = {str(n): answer[n].item() for n in answer if str(n).startswith("reliability_")}
    assert max(parts, key=parts.get) == f"reliability_{reason}"
    assert answer.reliability.item() == pytest.approx(math.hypot(*parts.values()))
    assert answer.reliability > 0.05
    assert "the theory may be off by more than 5%" in answer.attrs["remarks"]


def test_a_logistic_loss_has_a_mean_that_fluctuates_more():
    problem = Protocol("tanh", "sign", 3, alpha0=1, beta=1)
    square, logistic = (
        solve(problem, dimension=100, loss=loss).reliability_mean for loss in ("square", "logistic")
    )
    assert logistic > 3 * square


def test_linear_features_have_no_residual_that_few_samples_would_make():
    assert solve(Protocol("linear", "sin", 3, alpha0=4, beta=0.5)).reliability_unseen == 0


@pytest.mark.parametrize("dimension", [400, math.inf])
def test_ordinary_answers_are_reliable(dimension):
    problem = Protocol("tanh", "sin", 3, alpha0=2, beta=1)
    answers = sweep(problem, alpha=[0.5, 1, 2], ridge=[0.01, 1], dimension=dimension)
    assert answers.reliability.max() < 0.05
    assert "reliability" not in answers.attrs.get("remarks", "")


@pytest.mark.parametrize(
    ("problem", "ridge", "loss", "dimension"),
    [
        (Protocol("tanh", "tanh", 4, alpha0=0.3, beta=1), 1e-3, "square", 200),
        (Protocol("abs", "abs", 2, alpha0=8, beta=1), 0.1, "square", 200),
        (Protocol("tanh", "sign", 3, alpha0=0.02, beta=1), 0.1, "square", 200),
        (Protocol("erf", "sign", 1.08, alpha0=0.84, beta=3.2), 0.01, "logistic", 500),
    ],
)
def test_the_limit_says_from_which_dimension_on_it_holds(problem, ridge, loss, dimension):
    """Networks of the first three dimensions are 9 to 16 % off, the theory of the last 6 %."""
    answer = solve(problem, 1.0, ridge, loss=loss)
    assert dimension < answer.reliable_dimension < 2000
    assert "within 5% of this limit from d = " in answer.attrs["remarks"]


def test_corrections_vanish_with_the_dimension():
    problem, alpha, ridge = OFF["unseen"]
    answers = sweep(problem, alpha=alpha, ridge=ridge, dimension=[100, 1000, 10_000])
    assert (answers.reliability.diff("dimension") < 0).all()


def test_rows_of_few_directions_share_their_squares():
    """Networks are 14, 8, 7 and 3 % off at d = 100 to 800, and 0.4 % where no square is seen."""
    problem = Protocol("relu", "tanh", 4.92, alpha0=0.13, beta=0.754, noise=0.11)
    few = sweep(problem, alpha=2.53, ridge=3.8, dimension=[100, 200, 400, 800])
    assert few.reliability_quadratic.values == pytest.approx([0.14, 0.08, 0.07, 0.03], rel=0.5)
    odd = solve(replace(problem, activation="tanh"), 2.53, 3.8, dimension=143)
    assert odd.reliability < 0.01


def test_rows_of_few_directions_share_their_cubes():
    """Networks are 9 +- 2 % better than fits on Gaussians with the same moments given kappa."""
    problem = Protocol("hardtanh", "tanh", 4.34, alpha0=0.103, beta=0.835)
    answer = solve(problem, 1.35, 0.01, dimension=114)
    assert 0.05 < answer.reliability_quadratic < 0.13


def test_few_samples_with_rare_large_labels_move_the_mean_readout():
    """Networks have 0.751 +- 0.008, and 0.687 +- 0.02 at the smaller ridge."""
    problem = Protocol("tanh", "polynomial:0,1,0,0.2", 0.959, alpha0=math.inf, beta=125 / 101)
    answers = sweep(problem, alpha=23 / 101, ridge=[1.42, 0.1], dimension=101)
    assert answers.test_error.values == pytest.approx([0.751, 0.687], rel=0.05)


@pytest.mark.parametrize("dimension", [205, 820])
def test_whether_classes_can_be_separated_varies_near_the_threshold(dimension):
    """Networks are at 42 and 78 % of the theory's squared error."""
    problem = Protocol("abs", "sign", 3.13, alpha0=26 / 205, beta=43 / 205)
    answer = solve(problem, 85 / 205, 0.0543, loss="logistic", dimension=dimension)
    assert answer.reliability_threshold > 0.5
    assert "varies from one training set to the next" in answer.attrs["remarks"]


def test_the_threshold_is_where_the_error_varies_with_the_number_of_samples():
    problem = Protocol("relu", "sign", 0.963, alpha0=2.486, beta=0.921, decay=0.2)
    near = solve(problem, [0.4165, 0.417, 0.4175], 0.0049, loss="hinge")
    slope = np.gradient(np.log(near.test_error), np.log(near.alpha))[1]
    assert near.reliability_threshold[1] == pytest.approx(slope**2 / (834 + slope**2), rel=0.01)


def test_inputs_of_few_effective_directions_have_uneven_noise():
    """Networks are 8 and 5 % below the theory."""
    problem = Protocol(
        *("sin", "tanh", 0.482),
        alpha0=4.008,
        beta=1.731,
        covariance="two_level:11.4,0.138",
        target_decay=2.27,
    )
    answers = sweep(problem, alpha=0.946, ridge=0.0909, dimension=[130, 260])
    assert (answers.reliability_quadratic > 0.05).all()


@pytest.mark.parametrize("beta", [0.308, 0.509, 0.927])
def test_labels_of_three_directions_are_resolved(beta):
    problem = Protocol("tanh(2*z)", "z1+z1*z2*z3", 0.242, alpha0=0.196, beta=beta)
    answers = sweep(problem, alpha=[0.2, 1, 4], ridge=[1e-4, 1e-2, 1], dimension=200)
    assert (answers.status == 0).all()
    assert answers.quadrature_error.max() < 1e-3
