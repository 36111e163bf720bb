"""The quadrature rule over kappa resolves features and targets, however sharp."""

import pytest

from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.conditional_features import conditional_features


@pytest.mark.parametrize("target", ["sign", "relu", "hardtanh", "sin"])
@pytest.mark.parametrize("alignment", [0.5, 0.99, 1 - 1e-6, 1 - 1e-12, 1.0])
@pytest.mark.parametrize("strength", [0.5, 50.0])
def test_the_rule_over_kappa_resolves_features_and_target_however_sharp(
    target, alignment, strength
):
    srf = SpikedFeatures("tanh", target, 1.5, strength, alignment, beta=1.0)
    values = []
    for fineness in (1, 2):
        f = conditional_features(srf, fineness)
        w = f.weight / (1 + 1e6 * f.mu1[0] ** 2 + 1e3 * f.mu2_squared[0])
        values.append([w @ (f.mu0[0] * f.h), w @ f.h**2, w @ f.target_residual, w @ f.h_z[0]])
    assert values[0] == pytest.approx(values[1], rel=1e-9, abs=1e-12)
