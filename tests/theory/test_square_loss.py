"""The overlaps satisfy the equations of several groups, written plainly."""

import numpy as np
import pytest

from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.conditional_features import conditional_features
from giantstep.theory.readout import fixed_point
from giantstep.theory.readout.solve import readout_of, solve
from giantstep.theory.rows.isotropic import IsotropicBulk


def test_overlaps_satisfy_the_equations_of_several_groups_written_plainly():
    srf = SpikedFeatures(
        "tanh",
        "sign",
        (1.2, 2),
        (0.5, 2),
        0.8,
        0.7,
        noise=0.2,
        fraction=(0.4, 0.6),
        bias=(0.1, -0.3),
    )
    alpha, ridge = 1.3, 0.02
    s, f = solve(srf, Grid((alpha,), (ridge,))), conditional_features(srf)
    m, zeta, psi, q1, q2, V1, V2 = (
        getattr(s, name)[0, 0] for name in ("m", "zeta", "psi", "q1", "q2", "V1", "V2")
    )
    w = 1 / (1 + np.einsum("gk,hk,gh->k", f.mu1, f.mu1, V1) + f.mu2_squared.T @ V2)
    M, P = m @ f.mu0 + zeta @ (f.kappa * f.mu1), psi @ f.mu1
    mean_residual = f.weight * w * (f.h - M)
    ratio, c = alpha / srf.beta, srf.groups.c
    assert f.mu0 @ mean_residual == pytest.approx(0, abs=1e-12)
    zeta_hat = ratio * (f.kappa * f.mu1) @ mean_residual
    assert zeta == pytest.approx(srf.beta * c * V2 * zeta_hat, rel=1e-9)
    psi_hat = ratio * f.mu1 @ (f.weight * w * f.h_z[0])
    assert psi == pytest.approx(srf.beta * V1 @ psi_hat, rel=1e-9)
    v = f.target_residual + f.h_z[0] ** 2 + f.h**2 + M**2 - 2 * M * f.h - 2 * P * f.h_z[0]
    v += np.einsum("gk,hk,gh->k", f.mu1, f.mu1, q1) + f.mu2_squared.T @ q2
    assert s.test_error.item() == pytest.approx(f.weight @ v - srf.noise, rel=1e-9)
    assert s.training_error.item() == pytest.approx(f.weight @ (v * w**2), rel=1e-9)
    # (q1, q2) is minus the derivative of (V1, V2) along (q_hat + sources): by finite differences.
    hats = ratio * np.einsum("gk,hk,k->gh", f.mu1, f.mu1, f.weight * w)
    L = ridge + ratio * f.mu2_squared @ (f.weight * w)
    along = ratio * np.einsum("gk,hk,k->gh", f.mu1, f.mu1, f.weight * w**2 * v)
    along = along + srf.beta * np.outer(psi_hat, psi_hat)
    along_L = ratio * f.mu2_squared @ (f.weight * w**2 * v) + srf.beta * c * zeta_hat**2

    def at(h):
        shifted = (hats + h * along)[None], (L + h * along_L)[None]
        return IsotropicBulk(np.eye(2), srf.groups, srf.beta).variances(*shifted)[0]

    q = (at(-1e-6) - at(1e-6))[0] / 2e-6
    assert q == pytest.approx(np.concatenate([q1[np.triu_indices(2)], q2]), rel=1e-6)


def test_many_groups_take_no_products_of_all_pairs_and_give_the_same_numbers(monkeypatch):
    letters = tuple((letter, 0.25) for letter in (0.5, 1.0, 1.5, 2.0))
    problem = Protocol("tanh", "sin", 3, alpha0=2, beta=1, readout=letters)
    errors = []
    for most in (fixed_point._MOST_PRODUCTS, 0):
        monkeypatch.setattr(fixed_point, "_MOST_PRODUCTS", most)
        solution = readout_of(problem).solve(np.array([0.5, 2.0]), np.array([0.1, 0.1]))
        errors.append(solution.test_error)
    assert errors[1] == pytest.approx(errors[0], rel=1e-13)
