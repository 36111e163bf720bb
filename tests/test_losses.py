"""Theory of any convex loss, theory.md section 6: against second routes, and simulation."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from giantstep.numerics.gaussian import split_rule, unit_edges
from giantstep.problems.losses import lookup_loss
from giantstep.problems.protocol import Grid, Protocol, SpikedFeatures
from giantstep.problems.sizes import Sizes
from giantstep.simulation.replicate_statistics import summarise
from giantstep.simulation.simulate import simulate
from giantstep.theory.classification_error import ReadoutOverlaps, classification_error
from giantstep.theory.output_channel import Local, averages_of
from giantstep.theory.solve import Status, solve
from giantstep.validation import InvalidParametersError

SIGNS = SpikedFeatures("tanh", "sign", 1.2, 1.5, 0.9, 0.7)
GROUPS = SpikedFeatures(
    "relu", "sign", (1.2, 2), (0.5, 1), 0.8, 1, fraction=(0.5, 0.5), bias=(0.1, -0.4)
)
OUTLIERS = replace(SIGNS, target="sin", noise=0.05, outlier_fraction=0.1, outlier_variance=9)
STEP = Protocol("tanh", "sign", 2, alpha0=4, beta=1)
SATURATED = replace(STEP, learning_rate=8, alpha0=1)
LOSSES = ("hinge", "logistic", "huber:0.5")


def zero_one(problem, found):
    overlaps = {name: getattr(found, name) for name in ReadoutOverlaps._fields}
    return classification_error(problem, ReadoutOverlaps(**overlaps))


@pytest.mark.parametrize(
    ("problem", "bulk"),
    [
        (OUTLIERS, "isotropic"),
        (GROUPS, "isotropic"),
        (replace(STEP, readout=((0.5, 0.5), (2, 0.5)), outlier_fraction=0.1), "trained_norms"),
    ],
)
def test_a_huber_loss_that_never_turns_is_the_square_loss(problem, bulk):
    grid = Grid((0.4, 1.0, 3.0), (1e-3, 0.1, 2.0))
    square, huber = (
        solve(problem, replace(grid, loss=loss), bulk) for loss in ("square", "huber:1e9")
    )
    for name in ("test_error", "training_error", "training_loss", "m", "zeta", "psi", "q1", "q2"):
        expected = getattr(square, name)
        assert getattr(huber, name) == pytest.approx(expected, rel=1e-8, abs=1e-9), name


def test_the_reference_of_a_logistic_readout():
    found = solve(SIGNS, Grid((1.0,), (0.01,), "logistic"))
    assert found.m.item() == pytest.approx(7.789, abs=5e-4)
    assert found.psi.item() == pytest.approx(1.368, abs=5e-4)
    assert found.q2.item() == pytest.approx(12.672, abs=5e-4)
    assert 0.145 < zero_one(SIGNS, found).item() < 0.150


@pytest.mark.parametrize("V", [1e-6, 0.1, 10, 1e4, 1e9])
def test_the_logistic_prox_is_stationary(V):
    margin = np.concatenate([np.linspace(-30, 30, 601), np.linspace(-2, 0.5, 501) * V])
    x = lookup_loss("logistic").prox(margin, np.full_like(margin, V))
    slope = (x - margin) - V * expit(-x)
    assert np.max(np.abs(slope) / (np.abs(margin) + V * expit(-x) + 1)) < 1e-13


def pull(loss, y, omega, V):
    if loss == "logistic":
        return y * expit(-lookup_loss(loss).prox(y * omega, np.full_like(omega, V)))
    if loss == "hinge":
        return y * np.clip((1 - y * omega) / V, 0, 1)
    return np.clip((y - omega) / (1 + V), -0.5, 0.5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("V", "M", "P", "Q"), [(0.02, 0.3, 0.1, 0.05), (3.0, -0.8, 0.9, 2.0)])
def test_averages_of_pulls_are_those_of_a_brute_force_rule(loss, V, M, P, Q):
    kappa = np.array([-0.7, 0.4])
    at = Local(*(np.full((1, 2), value) for value in (V, M, P, Q)))
    found = averages_of(lookup_loss(loss), SIGNS, kappa).pulls(at)
    xi, xi_weight = split_rule(np.linspace(-9, 9, 1500))
    for place, k in enumerate(kappa):
        jump = -SIGNS.alignment * k / np.sqrt(1 - SIGNS.alignment**2)
        z, z_weight = split_rule(unit_edges(np.array([jump])))
        omega = M + P * z[:, None] + np.sqrt(Q - P**2) * xi
        f = pull(loss, np.where(z > jump, 1.0, -1.0)[:, None], omega, V)
        expected = (f, f * z[:, None], f**2)
        for value, brute in zip((found.pull, found.along_z, found.square), expected, strict=True):
            assert value[0, place] == pytest.approx(z_weight @ brute @ xi_weight, abs=2e-7)
        # By Stein's lemma E xi f = sqrt(Q - P^2) E df/domega.
        slope = -(z_weight @ (f * xi) @ xi_weight) / np.sqrt(Q - P**2)
        assert found.slope[0, place] == pytest.approx(slope, abs=2e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_averages_of_losses_are_those_of_a_brute_force_rule(loss):
    V, M, P, Q = 1.5, 0.4, 0.5, 0.8
    k, kind = 0.4, lookup_loss(loss)
    at = Local(*(np.full((1, 1), value) for value in (V, M, P, Q)))
    found = averages_of(kind, SIGNS, np.array([k])).losses(at)
    xi, xi_weight = split_rule(np.linspace(-9, 9, 1500))
    jump = -SIGNS.alignment * k / np.sqrt(1 - SIGNS.alignment**2)
    z, z_weight = split_rule(unit_edges(np.array([jump])))
    omega = M + P * z[:, None] + np.sqrt(Q - P**2) * xi
    y = np.where(z > jump, 1.0, -1.0)[:, None]
    fitted = omega + V * pull(loss, y, omega, V)
    expected = (y - fitted) ** 2, kind.value(y, fitted), kind.value(y, omega)
    for value, brute in zip(found, expected, strict=True):
        assert value.item() == pytest.approx(z_weight @ brute @ xi_weight, abs=1e-6)


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


@pytest.mark.parametrize("problem", [SIGNS, GROUPS, OUTLIERS, STEP])
def test_points_converge_over_decades_of_ridges(problem):
    losses = LOSSES if problem.target == "sign" else ("huber:0.3", "huber:3")
    for loss in losses:
        found = solve(problem, Grid((0.3, 3.0), (1e-3, 0.3), loss))
        assert np.all(found.status == Status.CONVERGED), loss
        assert found.residual.max() < 1e-10
        assert found.quadrature_error.max() < 1e-4


@pytest.mark.parametrize(
    ("problem", "loss"), [*((SIGNS, loss) for loss in LOSSES), (OUTLIERS, "huber:0.5")]
)
def test_theory_is_where_simulated_readouts_are(problem, loss):
    problem = replace(problem, model="conditional_gaussian")
    grid = Grid((0.7, 2.0), (0.05, 0.5), loss)
    raw = simulate(problem, grid, Sizes(250, 1, 4000), range(8), 7)
    theory = solve(problem, grid)
    named = {"training_loss": theory.training_loss}
    if problem.target == "sign":
        named["classification_error"] = zero_one(problem, theory)
    else:  # the size of predictions of signs, by m, has corrections of order 1/(ridge d)
        named |= {"test_error": theory.test_error, "test_loss": theory.test_loss}
    for name, expected in named.items():
        found = summarise(getattr(raw, name))
        # Four standard errors, and what is of order 1/d.
        assert np.all(np.abs(found.mean - expected) < 4 * found.stderr + 0.02 * expected), name


def test_classification_error_of_plain_regression_is_an_angle():
    """A readout of a linear network is a vector: it errs by its angle to the target over pi."""
    linear = SpikedFeatures("linear", "sign", 1, 0, 0, 0.8)
    found = solve(linear, Grid((1.5,), (0.1,)))
    angle = np.arccos(found.psi.item() / np.sqrt(found.zeta.item() ** 2 + found.q1.item()))
    assert zero_one(linear, found).item() == pytest.approx(angle / np.pi, rel=1e-6)


def test_losses_that_cannot_be_are_refused():
    for loss in ("absolute", "huber:0", "huber:x"):
        with pytest.raises(InvalidParametersError, match="loss"):
            Grid((1.0,), (0.1,), loss)
    with pytest.raises(InvalidParametersError, match="ridge"):
        Grid((1.0,), (0.0,), "huber")
    with pytest.raises(InvalidParametersError, match="only the target sign"):
        solve(OUTLIERS, Grid((1.0,), (0.1,), "hinge"))


def test_separable_labels_leave_a_loss_of_margins_without_a_finite_readout():
    found = solve(replace(SIGNS, alignment=1.0), Grid((1.0,), (0.1,), "logistic"))
    assert found.status.item() == Status.NOT_CONVERGED
    assert np.isnan(found.test_error.item())
