"""Averages over the output channel are those of a brute-force rule."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, lambertw

from giantstep.numerics.quadrature import split_rule, unit_edges
from giantstep.problems.convex_losses import SmoothLoss
from giantstep.problems.losses import lookup_loss, own_loss
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.readout.convex_equations import output_channel
from giantstep.theory.readout.output_channel import PredictionMoments

SIGNS = SpikedFeatures("tanh", "sign", 1.2, 1.5, 0.9, 0.7)


# A loss that is not registered elsewhere: its value and derivative are all there is.
EXPONENTIAL = own_loss(
    "exponential", SmoothLoss(lambda u: np.exp(u - 1), lambda u: np.exp(u - 1), None, True, np.pi)
)
LOSSES = ("hinge", "logistic", "huber:0.5", "quantile:0.3", EXPONENTIAL, "log_cosh")
# Of the brute-force rule over a normal: kinks, whose places it does not know, need many.
PANELS = {"hinge": 1500, "huber:0.5": 1500, "quantile:0.3": 1500}


def g_out(loss, y, omega, V):
    if loss == "logistic":
        return y * expit(lookup_loss(loss).prox(1 - y * omega, np.full_like(omega, V)) - 1)
    if loss == "exponential":
        return y * lambertw(V * np.exp(-y * omega)).real / V
    if loss == "log_cosh":
        return np.tanh(lookup_loss(loss).prox(y - omega, np.full_like(omega, V)))
    if loss == "quantile:0.3":
        return np.clip((y - omega) / V, -0.7, 0.3)
    if loss == "hinge":
        return y * np.clip((1 - y * omega) / V, 0, 1)
    return np.clip((y - omega) / (1 + V), -0.5, 0.5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("V", "M", "P", "Q"), [(0.02, 0.3, 0.1, 0.05), (3.0, -0.8, 0.9, 2.0)])
def test_averages_of_the_channel_and_of_losses_are_those_of_a_brute_force_rule(loss, V, M, P, Q):
    kappa = np.array([-0.7, 0.4])
    at = PredictionMoments(*(np.full((1, 2), value) for value in (V, M, P, Q)))
    kind = lookup_loss(loss)
    channel = output_channel(kind, SIGNS, kappa)
    found, losses = channel.averages(at), channel.losses(at)
    xi, xi_weight = split_rule(np.linspace(-9, 9, PANELS.get(loss, 200)))
    for place, k in enumerate(kappa):
        jump = -SIGNS.alignment * k / np.sqrt(1 - SIGNS.alignment**2)
        z, z_weight = split_rule(unit_edges(np.array([jump])))
        omega = M + P * z[:, None] + np.sqrt(Q - P**2) * xi
        y = np.where(z > jump, 1.0, -1.0)[:, None]
        f = g_out(loss, y, omega, V)
        expected = (f, f * z[:, None], f**2)
        for value, brute in zip((found.g, found.z_g, found.g_squared), expected, strict=True):
            assert value[0, place] == pytest.approx(z_weight @ brute @ xi_weight, abs=2e-7)
        fitted = omega + V * f
        expected = (y - fitted) ** 2, kind.value(y, fitted), kind.value(y, omega)
        for value, brute in zip(losses.values(), expected, strict=True):
            assert value[0, place] == pytest.approx(
                z_weight @ brute @ xi_weight, rel=1e-6, abs=1e-6
            )
        # By Stein's lemma E xi f = sqrt(Q - P^2) E df/domega.
        slope = -(z_weight @ (f * xi) @ xi_weight) / np.sqrt(Q - P**2)
        assert found.minus_dg[0, place] == pytest.approx(slope, abs=2e-6)


@pytest.mark.parametrize(
    ("loss", "target"), [("logistic", "sign"), ("log_cosh", "sign"), ("log_cosh", "sin")]
)
def test_averages_at_a_node_depend_on_no_other_node(loss, target):
    srf, spread = replace(SIGNS, target=target), np.geomspace(0.05, 5, 40)[:, None]
    at = PredictionMoments(spread, spread - 1, spread / 4, spread)
    channel = output_channel(lookup_loss(loss), srf, np.array([0.4]), fineness=1 / 3)
    together = channel.averages(at)
    for one in range(len(spread)):
        alone = channel.averages(PredictionMoments(*(x[[one]] for x in at)))
        for value, all_values in zip(alone, together, strict=True):
            assert value[0] == pytest.approx(all_values[one], rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("loss", ["hinge", "huber"])
@pytest.mark.parametrize("P", [0.1, 0.6, 1.5])
def test_panels_over_z_resolve_predictions_that_vary_slowly_and_fast(loss, P):
    at = PredictionMoments(*(np.full((1, 1), value) for value in (0.3, 0.2, P, P**2 + 0.5)))
    one, finer = (
        output_channel(lookup_loss(loss), SIGNS, np.array([0.4]), fineness).averages(at)
        for fineness in (1, 2)
    )
    for value, expected in zip(one, finer, strict=True):
        assert value == pytest.approx(expected, abs=1e-13)
