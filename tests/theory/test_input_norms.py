"""What the norms of inputs do to mean features, against rows and inputs that were drawn."""

import numpy as np
import pytest
from networks import assert_agreement

from giantstep.problems.grid import Grid
from giantstep.problems.sizes import Sizes
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.conditional_features import conditional_features
from giantstep.theory.features.input_norms import with_input_norms


def unit_rows(rng, count, dimension):
    rows = rng.standard_normal((count, dimension))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("kappa", [0.5, 2.0])
def test_mean_features_move_with_the_norm_of_the_input(kappa):
    srf, d, count = SpikedFeatures("tanh", "sin", 1.5, 1.0, 0.9, beta=1), 60, 3000
    rng = np.random.default_rng(0)
    rows, inputs = np.sqrt(1.5) * unit_rows(rng, 2000, d), rng.standard_normal((count, d))
    inputs[:, 0] = kappa  # the spike is the first direction
    products = inputs @ rows.T
    # Rows in pairs of opposite sign, which have no part linear in the input.
    means = (np.tanh(kappa + products) + np.tanh(kappa - products)).mean(axis=1) / 2
    limit = conditional_features(srf)
    features = with_input_norms(limit, srf, d)
    mu0, at_infinity, spread = (
        np.interp(kappa, features.kappa, values[0])
        for values in (features.mu0, limit.mu0, features.mean_spread)
    )
    error = means.std(ddof=1) / np.sqrt(count)
    assert abs(means.mean() - mu0) < 4 * error + 0.1 * abs(mu0 - at_infinity)
    assert means.std(ddof=1) == pytest.approx(abs(spread), rel=0.1)


def test_an_activation_that_jumps_has_no_such_effect():
    srf = SpikedFeatures("sign", "sin", 1.0, 1.0, 0.9, beta=1)
    assert with_input_norms(conditional_features(srf), srf, 100).mean_spread is None


def test_small_networks_of_several_letters_show_their_effect():
    letters = {"bulk_variance": (3.2, 1.2, 2.0), "spike_strength": (-0.84, 0.28, -0.56)}
    srf = SpikedFeatures(
        "sin", "sin", **letters, alignment=1.0, beta=1.1, noise=0.1, fraction=(0.5, 0.25, 0.25)
    )
    # Without it the theory is three per cent lower.
    sizes = Sizes(100, 1, 4000)
    assert_agreement(srf, Grid((3.0,), (9.0,)), sizes, 96, ["test_error"], "isotropic", seed=0)
