"""The variances solve their equations, written plainly."""

import numpy as np
import pytest

from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.bulk.isotropic import IsotropicBulk
from giantstep.theory.features.conditional_features import conditional_features
from giantstep.theory.readout.fixed_point import Equations, solve_resolvent


def test_variances_solve_their_equations_written_plainly():
    srf = SpikedFeatures("tanh", "sign", 1.5, 2.0, 0.9, beta=0.6)
    alpha, ridge = np.array([0.1, 0.6, 5.0]), np.array([1e-6, 1e-8, 10.0])
    f = conditional_features(srf)
    found = solve_resolvent(
        Equations(f, srf, IsotropicBulk(f.B, srf.groups, srf.beta)), alpha, ridge
    )
    for a, lam, (V1, V2) in zip(alpha, ridge, found.V, strict=True):
        V = f.mu1[0] ** 2 * V1 + f.mu2_squared[0] * V2
        V1_hat = a / srf.beta * np.sum(f.weight * f.mu1[0] ** 2 / (1 + V))
        V2_hat = a / srf.beta * np.sum(f.weight * f.mu2_squared[0] / (1 + V))
        c, beta = srf.groups.c[0], srf.beta
        s = (lam + V2_hat) / (c * V1_hat)  # Marchenko-Pastur, theory.md section 5
        b = s + 1 - beta
        g = (-b + np.sqrt(b**2 + 4 * beta * s)) / (2 * beta * s)
        assert V2 == pytest.approx(g / (c * V1_hat), rel=1e-6)
        assert V1 == pytest.approx((1 - (lam + V2_hat) * V2) / V1_hat, rel=1e-6)
