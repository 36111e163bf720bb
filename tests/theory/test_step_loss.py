"""The loss of the step: what one batch can see depends on it, docs/step-loss.md."""

import math

import numpy as np
import pytest

import giantstep
from giantstep import Protocol, SmoothLoss, own_loss
from giantstep.problems.convex_losses import ClippedLoss
from giantstep.theory.first_layer.fresh_step import next_step
from giantstep.theory.first_layer.network_state import NetworkState
from giantstep.validation import InvalidParametersError

BULKS = "isotropic", "trained"


@pytest.mark.parametrize("bulk", BULKS)
def test_the_first_step_on_signs_is_that_of_the_square_loss_at_half_the_rate(bulk):
    errors = [
        giantstep.solve(Protocol("tanh", "sign", rate, 4, 1, step_loss=loss), [0.5, 2], bulk=bulk)
        for rate, loss in ((6, "logistic"), (3, "square"), (3, "hinge"))
    ]
    for one in errors[1:]:
        np.testing.assert_allclose(one.test_error, errors[0].test_error, rtol=1e-12)


SLOPES = {("he3", 0): 2 * math.exp(-1.5) - 1, ("sign", 0.3): math.erf(1 / math.sqrt(2 * 0.3))}
SLOPES["he3", 1e-3] = -0.5536531183309  # E z erf(He3(z)/sqrt(0.002)) sqrt(pi/2), by adaptive rules


@pytest.mark.parametrize(("target", "noise"), SLOPES)
def test_one_step_along_the_absolute_loss_aligns_as_the_sign_of_the_label_does(target, noise):
    slope = math.sqrt(2 / math.pi) * SLOPES[target, noise]
    problem = Protocol("tanh", target, 3, alpha0=4, beta=1, noise=noise, step_loss="absolute")
    alignment = giantstep.equivalent_features(problem).alignment
    np.testing.assert_allclose(alignment, slope / math.hypot(slope, 0.5), rtol=1e-9)


HALF = own_loss("half_square", SmoothLoss(lambda u: u**2 / 2, lambda u: u))
SAME = [
    ("huber:1000000", {"noise": 0.3, "label_flips": 0.1}),
    (own_loss("one_end", ClippedLoss(-1e6, math.inf, 1.0)), {"noise": 0.3}),
    (HALF, {}),
    (HALF, {"readout": ((-1, 0.5), (2, 0.5)), "noise": 0.3, "steps": 1}),
]


@pytest.mark.parametrize(("loss", "changes"), SAME)
def test_a_loss_that_is_the_square_where_labels_are_has_its_numbers(loss, changes):
    problem = {"learning_rate": 2, "alpha0": 3, "beta": 0.7, "steps": 2} | changes
    one, square = (
        giantstep.solve(Protocol("softplus", "sin", **problem, step_loss=of), 1.5, 0.1)
        for of in (loss, "square")
    )
    assert one.test_error == pytest.approx(square.test_error.item(), rel=1e-7)


STEPS = [("sin", "huber:0.5", 0.3), ("sign", "huber", 0.1), ("sign", "logistic", 0)]


@pytest.mark.parametrize(("target", "loss", "noise"), STEPS)
def test_networks_have_the_errors_of_the_theory_after_two_steps(target, loss, noise):
    problem = Protocol("tanh", target, 3, 3, 1, noise=noise, steps=2, step_loss=loss)
    found = giantstep.compare(problem, 1.5, 0.1, dimension=120, networks=12, test_samples=2000)
    assert abs(found.z_score_test_error).max() < 3
    square = giantstep.solve(Protocol("tanh", target, 3, 3, 1, noise=noise, steps=2), 1.5, 0.1)
    theory = found.test_error.isel(theory=0)
    assert abs(theory / square.test_error - 1).item() > 0.02


def test_steps_are_resolved_where_labels_meet_the_floor_of_the_output():
    problem = Protocol("relu", "sign", 3, 4, 1, steps=2, step_loss="huber")
    assert giantstep.solve(problem, 1, 0.1).status == 0


def test_a_loss_that_is_not_symmetric_is_averaged_over_both_halves_of_kappa():
    def is_halved(loss):
        problem = Protocol("tanh", "sin", 2, 2, 1, step_loss=loss)
        return next_step(problem, NetworkState.at_initialisation("sin"), 1).mirrored

    assert is_halved("huber:0.5")
    assert not is_halved("quantile:0.2")


@pytest.mark.parametrize(
    ("changes", "allowed"),
    [
        ({"step_loss": "hinge"}, "labels +1 and -1"),
        ({"step_loss": "gradient_flow"}, "one of square"),
        ({"step_loss": "absolute", "reuse_batch": True, "steps": 2}, "square in the theory of"),
        ({"step_loss": "absolute", "target": "z1+z1*z2"}, "square"),
        ({"step_loss": "absolute", "readout": ((1, 0.5), (2, 0.5))}, "without corners"),
        ({"step_loss": "hinge", "target": "sign", "steps": 2}, "logistic or square"),
    ],
)
def test_what_has_no_theory_or_no_meaning_is_refused_with_the_reason(changes, allowed):
    with pytest.raises(InvalidParametersError, match="step_loss") as refused:
        giantstep.solve(Protocol(**{"activation": "tanh", "target": "sin", "learning_rate": 2,
                                    "alpha0": 3, "beta": 1} | changes))  # fmt: skip
    assert allowed in str(refused.value)
