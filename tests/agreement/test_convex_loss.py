"""Simulated readouts of any convex loss are where the theory says."""

from dataclasses import replace

import numpy as np
import pytest
from alarms import largest_z

from giantstep.problems.convex_losses import SmoothLoss
from giantstep.problems.grid import Grid
from giantstep.problems.losses import own_loss
from giantstep.problems.overlaps import Overlaps
from giantstep.problems.sizes import Sizes
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.simulation.replicate_statistics import summarise
from giantstep.simulation.simulate import simulate
from giantstep.theory.readout.classification_error import classification_error
from giantstep.theory.readout.solve import solve

SIGNS = SpikedFeatures("tanh", "sign", 1.2, 1.5, 0.9, 0.7)


FLIPPED = replace(SIGNS, label_flips=0.15)
OUTLIERS = replace(SIGNS, target="sin", noise=0.05, outlier_fraction=0.1, outlier_variance=9)


LOSSES = ("hinge", "logistic", "huber:0.5")
# One of a user's, whose curvature is found from its slope.
OWN = SmoothLoss(lambda u: np.sqrt(1 + u**2), lambda u: u / np.sqrt(1 + u**2))


def zero_one(problem, found):
    return classification_error(problem, Overlaps.of(found))


@pytest.mark.parametrize(
    ("problem", "loss"),
    [
        *((SIGNS, loss) for loss in LOSSES),
        *(pytest.param(FLIPPED, loss, marks=pytest.mark.slow) for loss in LOSSES[:2]),
        (SIGNS, own_loss("own", OWN)),
        *((OUTLIERS, loss) for loss in ("huber:0.5", "quantile:0.3")),
        pytest.param(OUTLIERS, "log_cosh", marks=pytest.mark.slow),
    ],
)
def test_theory_is_where_simulated_readouts_are(problem, loss):
    """Within standard errors, and 1 % of order 1/d; a false alarm has 1 % at most."""
    problem = replace(problem, model="conditional_gaussian")
    grid = Grid((0.7, 2.0), (0.05, 0.5), loss)
    if loss == "log_cosh":  # a point takes twenty seconds
        grid = replace(grid, alpha=(2.0,), ridge=(0.5,))
    raw = simulate(problem, grid, Sizes(250, 1, 4000), range(10), 7)
    theory = solve(problem, grid, dimension=250)
    named = {name: getattr(theory, name) for name in ("training_loss", "test_error", "test_loss")}
    if problem.target == "sign":
        named["classification_error"] = zero_one(problem, theory)
    far = largest_z(len(named) * theory.training_loss.size, 10)
    for name, expected in named.items():
        found = summarise(getattr(raw, name))
        assert np.all(np.abs(found.mean - expected) < far * found.stderr + 0.01 * expected), name
