"""Losses: proximal operators satisfy their equations, and what is no convex loss is refused."""

import numpy as np
import pytest

from giantstep.problems.convex_losses import SmoothLoss
from giantstep.problems.losses import LOSSES, own_loss
from giantstep.validation import InvalidParametersError

LOGISTIC = LOSSES["logistic"]
GENERAL = SmoothLoss(
    LOGISTIC.function, LOGISTIC.slope, lambda u: LOGISTIC.derivatives(u)[1], margin=True
)


@pytest.mark.parametrize("loss", [LOGISTIC, GENERAL, LOSSES["log_cosh"]])
@pytest.mark.parametrize("V", [1e-6, 0.1, 10, 1e4, 1e9])
def test_proximal_points_are_stationary(loss, V):
    u = np.concatenate([np.linspace(-30, 30, 601), np.linspace(-2, 2, 501) * V])
    x = loss.prox(u, np.full_like(u, V))
    pull = V * loss.derivatives(x)[0]
    assert np.max(np.abs(x - u + pull) / (np.abs(u) + np.abs(pull) + 1)) < 1e-13


@pytest.mark.parametrize(
    ("function", "slope", "reason"),
    [
        (np.abs, np.sign, "analytic"),
        (lambda u: np.maximum(u, 0) ** 2 / 2, lambda u: u * (u.real > 0), "analytic"),
        (lambda u: u**2, lambda u: u, "`slope` its derivative"),
        (np.sin, np.cos, "convex"),
        (lambda u: np.sqrt(1 + u**2), lambda u: u / np.hypot(1, u), "complex"),
    ],
)
def test_a_loss_that_no_rule_covers_is_refused_with_the_reason(function, slope, reason):
    with pytest.raises(InvalidParametersError, match=f"loss = 'own': must be .*{reason}"):
        own_loss("own", SmoothLoss(function, slope))


def test_a_loss_of_the_library_keeps_its_name():
    with pytest.raises(InvalidParametersError, match="loss = 'hinge': must be no name of a loss"):
        own_loss("hinge", LOSSES["log_cosh"])
    with pytest.raises(InvalidParametersError, match="must be a SmoothLoss or a ClippedLoss"):
        own_loss("mine", np.abs)
