"""Theory of any convex loss, theory.md section 6: against second routes."""

from dataclasses import replace

import numpy as np
import pytest

from giantstep.problems.convex_losses import SmoothLoss
from giantstep.problems.grid import Grid
from giantstep.problems.losses import own_loss
from giantstep.problems.overlaps import Overlaps
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.readout.classification_error import classification_error
from giantstep.theory.readout.solve import solve
from giantstep.theory.readout.status import Status
from giantstep.validation import InvalidParametersError

SIGNS = SpikedFeatures("tanh", "sign", 1.2, 1.5, 0.9, 0.7)


GROUPS = SpikedFeatures(
    "relu", "sign", (1.2, 2), (0.5, 1), 0.8, 1, fraction=(0.5, 0.5), bias=(0.1, -0.4)
)


OUTLIERS = replace(SIGNS, target="sin", noise=0.05, outlier_fraction=0.1, outlier_variance=9)


SINE = replace(SIGNS, target="sin", noise=0.05)


STEP = Protocol("tanh", "sign", 2, alpha0=4, beta=1)


SATURATED = replace(STEP, learning_rate=8, alpha0=1)


LOSSES = ("hinge", "logistic", "huber:0.5")


@pytest.mark.parametrize(
    ("problem", "bulk", "dimension"),
    [
        (OUTLIERS, "isotropic", np.inf),
        (GROUPS, "isotropic", 100),
        (replace(STEP, readout=((0.5, 0.5), (2, 0.5)), outlier_fraction=0.1), "trained", np.inf),
        (replace(STEP, readout=((0.5, 0.5), (2, 0.5))), "trained", 100),
    ],
)
def test_a_huber_loss_that_never_turns_is_the_square_loss(problem, bulk, dimension):
    grid = Grid((0.4, 1.0, 3.0), (1e-3, 0.1, 2.0))
    square, huber = (
        solve(problem, replace(grid, loss=loss), bulk, dimension)
        for loss in ("square", "huber:1e9")
    )
    for name in ("test_error", "training_error", "training_loss", "m", "zeta", "psi", "q1", "q2"):
        expected = getattr(square, name)
        assert getattr(huber, name) == pytest.approx(expected, rel=1e-8, abs=1e-9), name


@pytest.mark.parametrize("problem", [SIGNS, pytest.param(SINE, marks=pytest.mark.slow)])
def test_a_log_cosh_that_hardly_turns_is_the_square_loss(problem):
    turn, grid = 1e-3, Grid((1.3,), (0.3,))
    own = SmoothLoss(
        lambda u: np.log(np.cosh(turn * u)) / turn**2, lambda u: np.tanh(turn * u) / turn
    )
    expected, found = (
        solve(problem, replace(grid, loss=loss)) for loss in ("square", own_loss("own", own))
    )
    for name in ("test_error", "training_loss", "q2"):
        assert found[name] == pytest.approx(expected[name], rel=1e-5), name


def test_a_huber_loss_that_turns_at_once_is_that_of_the_median():
    turn = 1e-4
    median = solve(SINE, Grid((1.3,), (0.3,), "quantile:0.5"))
    huber = solve(SINE, Grid((1.3,), (0.6 * turn,), f"huber:{turn}"))
    assert huber.test_error == pytest.approx(median.test_error, rel=1e-3)
    assert huber.training_loss / turn == pytest.approx(2 * median.training_loss, rel=1e-3)


def test_the_reference_of_a_logistic_readout():
    found = solve(SIGNS, Grid((1.0,), (0.01,), "logistic"))
    assert found.m.item() == pytest.approx(7.789, abs=5e-4)
    assert found.psi.item() == pytest.approx(1.368, abs=5e-4)
    assert found.q2.item() == pytest.approx(12.672, abs=5e-4)
    assert 0.145 < classification_error(SIGNS, Overlaps.of(found)).item() < 0.150


@pytest.mark.parametrize(
    ("problem", "loss", "ridge"),
    [
        *((problem, loss, 0.2) for problem in (SIGNS, GROUPS) for loss in LOSSES),
        # Corners that the predictions' own variance hardly rounds; features flat to rounding.
        (STEP, "hinge", 10.0),
        (STEP, "huber:0.05", 2.0),
        (SATURATED, "logistic", 0.2),
    ],
)
def test_the_least_objective_grows_with_the_ridge_as_the_readouts_square(problem, loss, ridge):
    """By the envelope theorem: d/dridge of (alpha loss + ridge/2 beta q2) is beta q2/2."""
    alpha, h = 1.3, 5e-3 * ridge
    ridges = (ridge - h, ridge, ridge + h)
    found = solve(problem, Grid((alpha,), ridges, loss))
    squares = problem.beta * found.q2.sum(axis=-1)[0] / 2
    objective = alpha * found.training_loss[0] + np.array(ridges) * squares
    assert (objective[2] - objective[0]) / (2 * h) == pytest.approx(squares[1], rel=1e-4)


DECADES = Grid((0.3, 3.0), (1e-3, 0.3))


@pytest.mark.parametrize(
    ("problem", "grid"),
    [
        (SIGNS, DECADES),
        (OUTLIERS, DECADES),
        (STEP, DECADES),
        (GROUPS, Grid((0.3,), (1e-3,))),
        pytest.param(GROUPS, DECADES, marks=pytest.mark.slow),
    ],
)
def test_points_converge_over_decades_of_ridges(problem, grid):
    losses = LOSSES if problem.target == "sign" else ("huber:0.3", "huber:3")
    for loss in losses:
        found = solve(problem, replace(grid, loss=loss))
        assert np.all(found.status == Status.CONVERGED), loss
        assert found.residual.max() < 1e-10
        assert found.quadrature_error.max() < 3e-4


def test_losses_that_cannot_be_are_refused():
    for loss in ("cubic", "huber:0", "huber:x"):
        with pytest.raises(InvalidParametersError, match="loss"):
            Grid((1.0,), (0.1,), loss)
    with pytest.raises(InvalidParametersError, match="ridge"):
        Grid((1.0,), (0.0,), "huber")
    with pytest.raises(InvalidParametersError, match="only sign and class"):
        solve(OUTLIERS, Grid((1.0,), (0.1,), "hinge"))


def test_separable_labels_leave_a_loss_of_margins_without_a_finite_readout():
    found = solve(replace(SIGNS, alignment=1.0), Grid((1.0,), (0.1,), "logistic"))
    assert found.status.item() == Status.NOT_CONVERGED
