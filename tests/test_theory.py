"""The theory is right: against reference values, actual matrices, limits and simulation."""

import numpy as np
import pytest

from giantstep.problems.protocol import Grid, Groups, Protocol, SpikedFeatures
from giantstep.simulation.first_layer import members
from giantstep.theory.bounds import best_linear_error, bounds
from giantstep.theory.bulk.interface import IsotropicBulk
from giantstep.theory.bulk.isotropic_variances import Triangle, variances
from giantstep.theory.conditional_features import conditional_features
from giantstep.theory.equivalent_features import equivalent_features
from giantstep.theory.fixed_point import Equations, solve_resolvent
from giantstep.theory.solve import Status, solve

# theory.md, section 11: parameters, then c, r, gamma and the theory's seven numbers.
REFERENCE = [
    (("sin", 3, 20, 1), (0.9, 0.1), (1.018973, 1.134056, 0.971854),
     (0.042504, 0.016859, 1.11182, 0.042686, 0.115709, 0.056805, 0.050684)),
    (("sin", 3, 20, 1), (3.0, 0.1), (1.018973, 1.134056, 0.971854),
     (0.032518, 0.022198, 1.12579, 0.072094, 0.188922, 0.063833, 0.085264)),
    (("tanh", 1, 0.5, 1), (1.6, 0.01), (1.076906, 0.651089, 0.563485),
     (0.205103, 0.037969, 0.98640, -0.000215, 0.622723, 0.749214, 1.323499)),
    (("tanh", 1, 0.5, 0.5), (1.6, 0.01), (1.307625, 1.302178, 0.563485),
     (0.271108, 0.125295, 0.64072, -0.014956, 0.429144, 0.738536, 0.811865)),
]  # fmt: skip
COLUMNS = ("test_error", "training_error", "m", "zeta", "psi", "q1", "q2")


@pytest.mark.parametrize(("setting", "point", "srf", "overlaps"), REFERENCE)
def test_theory_reproduces_the_reference_values(setting, point, srf, overlaps):
    protocol = Protocol("tanh", *setting)
    found = equivalent_features(protocol)
    (c,), (r,), *_ = found.groups
    assert (c, r, found.alignment) == pytest.approx(srf, abs=1e-6)
    solution = solve(protocol, Grid((point[0],), (point[1],)))
    values = [getattr(solution, name).item() for name in COLUMNS]
    assert values == pytest.approx(overlaps, abs=6e-6)


def groups_of(c, pi):
    return Groups(np.array(c), np.zeros(len(c)), np.array(pi), np.zeros(len(c)))


@pytest.mark.parametrize(
    ("beta", "groups"),
    [
        (0.4, groups_of([1.3], [1.0])),
        (2.5, groups_of([1.3], [1.0])),
        (0.8, groups_of([1.0, 3.0], [0.3, 0.7])),
        (1.5, groups_of([1.0, 2.0, 4.0], [0.2, 0.3, 0.5])),
    ],
)
def test_variances_are_traces_over_an_actual_matrix(beta, groups):
    # S = V1_hat_{g(i)g(j)} (W W^T)_ij + delta_ij (ridge + V2_hat_g), for W drawn at finite size:
    # V2 = tr S^-1 / p on each group, V1 = tr (W W^T S^-1) / p on each pair, and T their derivative.
    d, rng, count = 1200, np.random.default_rng(1), groups.c.size
    member = members(groups.pi, round(beta * d))
    root = rng.standard_normal((count, count))
    V1_hat, L = 0.5 + root @ root.T / count, rng.uniform(0.2, 0.6, count)
    bulk = rng.standard_normal((member.size, d)) * np.sqrt(groups.c[member] / d)[:, None]
    gram = bulk @ bulk.T

    def traces(V1_hat, L):
        S = V1_hat[np.ix_(member, member)] * gram + np.diag(L[member])
        inverse = np.linalg.inv(S)
        pairs = np.eye(count)[member]
        return np.concatenate([
            (pairs.T @ (inverse * gram) @ pairs)[np.triu_indices(count)],
            pairs.T @ np.diag(inverse),
        ]) / member.size  # fmt: skip

    V, T = variances(V1_hat[None], L[None], np.eye(count), groups, beta)
    actual = traces(V1_hat, L)
    assert V[0] == pytest.approx(actual, rel=8e-3, abs=2e-3)
    change = (actual - traces(V1_hat * 1.001, L * 1.001)) / 0.001
    direction = np.concatenate([V1_hat[np.triu_indices(count)], L])
    assert T[0] @ direction == pytest.approx(change, rel=2e-2, abs=4e-3)


@pytest.mark.parametrize("count", [1, 3])
def test_T_is_minus_the_derivative_of_the_variances(count):
    rng = np.random.default_rng(2)
    groups, triangle = (
        groups_of(rng.uniform(1, 3, count), np.full(count, 1 / count)),
        Triangle(count),
    )
    root = rng.standard_normal((count, count))
    hats = np.concatenate([triangle.pack(root @ root.T + 0.1), rng.uniform(0.1, 1, count)])

    def at(hats):
        V1_hat = triangle.unpack(hats[None, : triangle.size])
        return variances(V1_hat, hats[None, triangle.size :], np.eye(count), groups, 1.7)

    steps = 1e-6 * np.eye(hats.size)
    differences = [(at(hats - h)[0][0] - at(hats + h)[0][0]) / 2e-6 for h in steps]
    assert at(hats)[1][0] == pytest.approx(np.transpose(differences), rel=1e-6, abs=1e-8)


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


def test_the_closed_form_of_one_group_and_the_general_iteration_agree():
    rng = np.random.default_rng(3)
    V1_hat = np.exp(rng.uniform(-9, 9, (200, 1, 1)))
    L = np.exp(rng.uniform(-9, 9, (200, 1)))
    for beta in (0.01, 1.0, 100.0):
        group = groups_of([1.7], [1.0])
        closed = variances(V1_hat, L, np.eye(1), group, beta)
        general = variances(V1_hat, L, np.eye(1), group, beta, closed_form=False)
        for one, other in zip(closed, general, strict=True):
            assert other == pytest.approx(one, rel=1e-10)


STRESS = [
    SpikedFeatures("tanh", "sign", 1.0, 50.0, 1.0, beta=1.0),
    SpikedFeatures("erf", "tanh", 100.0, 0.0, 0.0, beta=0.01),
    SpikedFeatures("tanh", "sin", 1.2, 1.0, -0.5, beta=100.0, noise=0.3),
    SpikedFeatures("relu", "sign", (1, 100), (0.5, 50), 1, 0.01, fraction=(0.3, 0.7), bias=(1, -2)),
    SpikedFeatures("relu", "sign", 1.2, 50.0, 0.9, 10.0, 0.1),
    SpikedFeatures("linear", "sign", 1.2, 10.0, 0.9, 10.0, 0.1),
    SpikedFeatures("he2", "he1", (1.0, 1.2), (0.0, 0.0), 0.9, 1.0, fraction=(0.5, 0.5)),
    SpikedFeatures("hardtanh", "he3", (1, 5, 2), (0.5, 2, -1), 0.9, 0.7, fraction=(0.3, 0.2, 0.5)),
]


@pytest.mark.parametrize("srf", STRESS)
def test_every_equation_holds_over_the_whole_stress_grid(srf):
    alpha = (*np.geomspace(1e-2, 1e3, 16), srf.beta)
    solution = solve(srf, Grid(alpha, tuple(np.geomspace(1e-10, 1e4, 15))))
    assert np.all(solution.status == Status.CONVERGED)
    assert solution.residual.max() < 1e-10
    threshold = np.isclose(alpha, srf.beta)  # there small errors are magnified without bound
    assert solution.quadrature_error[~threshold].max() < 1e-8
    assert solution.quadrature_error[threshold].max() < 1e-3


GRID = Grid((0.1, 0.8, 5.0), (1e-8, 0.1, 10.0))


COMMON = {
    "activation": "tanh", "target": "sin", "bulk_variance": 1.2, "alignment": 0.8, "beta": 0.8,
    "noise": 0.1,
}  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # a group split into two equal halves
        ({"spike_strength": 0.5}, {"spike_strength": 0.5, "fraction": (0.5, 0.5)}),
        # a neuron is its own mirror image, for an odd activation
        ({"spike_strength": 0.5}, {"spike_strength": (0.5, -0.5), "fraction": (0.3, 0.7)}),
        (
            {"spike_strength": 0.5, "bias": 0.2},
            {"spike_strength": (0.5, -0.5), "bias": (0.2, -0.2), "fraction": (0.3, 0.7)},
        ),
        # a linear activation has mu1 = 1 in all groups, whatever the ridge
        (
            {"activation": "linear", "spike_strength": 0.5, "beta": 2.0},
            {
                "activation": "linear",
                "spike_strength": (0.5, 0.5),
                "beta": 2.0,
                "fraction": (0.1, 0.9),
            },
        ),
        # without a spike the groups differ by nothing
        ({"spike_strength": 0.0}, {"spike_strength": (0.0, 0.0, 0.0), "fraction": (0.2, 0.3, 0.5)}),
    ],
)
def test_groups_that_are_alike_are_one(one, other):
    errors = [solve(SpikedFeatures(**(COMMON | kind)), GRID) for kind in (one, other)]
    assert errors[0].test_error == pytest.approx(errors[1].test_error, rel=1e-10)
    assert errors[0].training_error == pytest.approx(errors[1].training_error, rel=1e-9)


def test_several_groups_reproduce_the_reference_value():
    srf = SpikedFeatures("tanh", "sin", (1.2, 2), (0.5, 2), 0.8, 0.8, fraction=(0.5, 0.5))
    found = solve(srf, Grid((1.5,), (0.05,)))
    assert found.test_error.item() == pytest.approx(0.161772, abs=1e-6)
    assert found.training_error.item() == pytest.approx(0.050296, abs=1e-6)
    assert found.m.ravel() == pytest.approx([0.0649, 0.7659], abs=5e-5)
    assert found.psi.ravel() == pytest.approx([0.1738, 0.2467], abs=5e-5)
    assert found.q2.ravel() == pytest.approx([0.1993, 0.2398], abs=5e-5)


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
    psi_hat = ratio * f.mu1 @ (f.weight * w * f.h_z)
    assert psi == pytest.approx(srf.beta * V1 @ psi_hat, rel=1e-9)
    v = f.target_residual + f.h_z**2 + f.h**2 + M**2 - 2 * M * f.h - 2 * P * f.h_z
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
        eye = np.eye(2)
        shifted = (hats + h * along)[None], (L + h * along_L)[None]
        return variances(*shifted, eye, srf.groups, srf.beta)[0]

    q = (at(-1e-6) - at(1e-6))[0] / 2e-6
    assert q == pytest.approx(np.concatenate([q1[np.triu_indices(2)], q2]), rel=1e-6)


def test_training_error_of_an_interpolating_readout_vanishes():
    srf = SpikedFeatures("tanh", "sign", 1.2, 1.0, 0.8, beta=2.0, noise=0.5)
    solution = solve(srf, Grid((0.5, 1.9, 2.1), (0.0,)))
    assert solution.training_error[:2] == pytest.approx(0, abs=1e-14)
    assert solution.training_error[2] > 1e-3


def test_ridgeless_limit_is_reached_continuously():
    srf = SpikedFeatures("tanh", "sign", 1.2, 1.0, 0.8, beta=1.0)
    limit, near = (solve(srf, Grid((0.4, 3.0), (ridge,))).test_error for ridge in (0.0, 1e-9))
    assert limit == pytest.approx(near, rel=1e-6)


def test_a_point_without_a_finite_solution_is_marked_and_holds_no_number():
    solution = solve(SpikedFeatures("tanh", "sign", 1.2, 1.0, 0.8, beta=1.0), Grid((1.0,), (0.0,)))
    assert solution.status.item() == Status.NOT_CONVERGED
    assert np.isnan(solution.test_error.item())


def test_the_sign_of_the_alignment_is_free():
    grid = Grid((0.5, 2.0), (0.1,))
    plus, minus = (
        solve(SpikedFeatures("tanh", "sin", 1.1, 1.0, g, beta=1.0), grid) for g in (0.7, -0.7)
    )
    assert plus.test_error == pytest.approx(minus.test_error, rel=1e-12)
    assert plus.m == pytest.approx(-minus.m, rel=1e-12)


def test_initialisation_is_plain_random_features_and_an_infinite_batch_the_limit():
    start = equivalent_features(Protocol("tanh", "sign", 3, alpha0=0, beta=1))
    assert (start.bulk_variance, start.spike_strength, start.alignment) == ((1,), (0,), 0)
    limit = equivalent_features(Protocol("tanh", "sign", 3, alpha0=np.inf, beta=1, noise=0.2))
    near = equivalent_features(Protocol("tanh", "sign", 3, alpha0=1e9, beta=1, noise=0.2))
    assert (limit.bulk_variance, limit.alignment) == ((1,), 1)
    assert near.spike_strength == pytest.approx(limit.spike_strength, rel=1e-6)


def test_random_features_never_beat_the_best_linear_predictor():
    problem = Protocol("tanh", "sign", 3, alpha0=0, beta=5)
    errors = solve(problem, Grid((0.5, 5.0, 500.0), (1e-3, 1.0, 100.0))).test_error
    assert best_linear_error("sign") == pytest.approx(1 - 2 / np.pi)
    assert errors.min() > 1 - 2 / np.pi
    assert errors.min() < 1 - 2 / np.pi + 0.1


@pytest.mark.parametrize("count", [6, 10])
def test_groups_that_hardly_differ_still_reach_the_upper_bound(count):
    strengths = tuple(np.linspace(0.5, 2, count))
    srf = SpikedFeatures("erf", "sign", 1.2, strengths, 1, 1, fraction=(1 / count,) * count)
    found = solve(srf, Grid((100.0,), (1e9,)))
    assert found.test_error.item() == pytest.approx(bounds(srf).upper, rel=1e-8)


def test_an_exactly_learnable_target_has_no_error():
    found = solve(Protocol("linear", "linear", 3, np.inf, 1), Grid((1.0,), (0.1, 10.0)))
    assert np.all(found.status == Status.CONVERGED)
    assert found.test_error == pytest.approx(0, abs=1e-20)
