"""The theory is right: against reference values, actual matrices, limits and simulation."""

import numpy as np
import pytest

from giantstep.activations import FUNCTIONS
from giantstep.bounds import best_linear_error
from giantstep.features import conditional_features
from giantstep.gaussian import moments
from giantstep.learning import Status, solve
from giantstep.protocol import Grid, Protocol, SpikedFeatures
from giantstep.resolvent import solve_resolvent, variances
from giantstep.srf import equivalent_features

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
    assert (found.bulk_variance, found.spike_strength, found.alignment) == pytest.approx(
        srf, abs=1e-6
    )
    solution = solve(protocol, Grid((point[0],), (point[1],)))
    values = [getattr(solution, name).item() for name in COLUMNS]
    assert values == pytest.approx(overlaps, abs=6e-6)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
@pytest.mark.parametrize(("mean", "std"), [(0.3, 1.3), (-1.1, 0.4), (0.0, 7.0)])
def test_gaussian_moments_agree_with_adaptive_quadrature(name, mean, std):
    from scipy.integrate import quad

    f = FUNCTIONS[name]
    kinks = [(k - mean) / std for k in (f.kinks or (0.0,))]

    def expect(g):
        def integrand(z):
            return g(z) * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)

        return quad(integrand, -9, 9, points=kinks, limit=400, epsabs=1e-12, epsrel=1e-12)[0]

    found = moments(f, np.array(mean), std)
    slope = expect(lambda z: z * f.value(mean + std * z))
    assert float(found.mean) == pytest.approx(expect(lambda z: f.value(mean + std * z)), abs=1e-9)
    assert float(found.slope) == pytest.approx(slope, abs=1e-9)
    second = expect(lambda z: f.value(mean + std * z) ** 2)
    assert float(found.second) == pytest.approx(second, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("beta", [0.4, 1.0, 2.5])
def test_variances_are_traces_over_an_actual_matrix(beta):
    c, V1_hat, L, d = 1.3, 0.8, 0.35, 1500
    p = round(beta * d)
    bulk = np.random.default_rng(1).standard_normal((p, d)) * np.sqrt(c / d)
    spectrum = np.zeros(p)
    squares = np.linalg.svd(bulk, compute_uv=False) ** 2
    spectrum[: squares.size] = squares
    resolvent = 1 / (L + V1_hat * spectrum)

    V, T = variances(np.array([V1_hat]), np.array([L]), c, beta)
    traces = [np.mean(spectrum**k * resolvent) for k in (1, 0)]
    assert V[0] == pytest.approx(traces, rel=4e-3)
    squared = {k: np.mean(spectrum**k * resolvent**2) for k in range(3)}
    assert T[0] == pytest.approx(
        np.array([[squared[2], squared[1]], [squared[1], squared[0]]]), rel=8e-3
    )


def test_T_is_minus_the_derivative_of_the_variances():
    V1_hat, L, h = np.array([0.7]), np.array([0.2]), 1e-6
    T = variances(V1_hat, L, 1.4, 1.7)[1][0]
    by_V1_hat = variances(V1_hat + h, L, 1.4, 1.7)[0] - variances(V1_hat - h, L, 1.4, 1.7)[0]
    by_L = variances(V1_hat, L + h, 1.4, 1.7)[0] - variances(V1_hat, L - h, 1.4, 1.7)[0]
    differences = -np.stack([by_V1_hat[0], by_L[0]], axis=-1) / (2 * h)
    assert T == pytest.approx(differences, rel=1e-8)


def test_variances_solve_their_equations_written_plainly():
    srf = SpikedFeatures("tanh", "sign", 1.5, 2.0, 0.9, beta=0.6)
    alpha, ridge = np.array([0.1, 0.6, 5.0]), np.array([1e-6, 1e-8, 10.0])
    f = conditional_features(srf)
    found = solve_resolvent(f, srf, alpha, ridge)
    for a, lam, (V1, V2) in zip(alpha, ridge, found.V, strict=True):
        V = f.mu1**2 * V1 + f.mu2_squared * V2
        V1_hat = a / srf.beta * np.sum(f.weight * f.mu1**2 / (1 + V))
        V2_hat = a / srf.beta * np.sum(f.weight * f.mu2_squared / (1 + V))
        c, beta = srf.bulk_variance, srf.beta
        s = (lam + V2_hat) / (c * V1_hat)  # Marchenko-Pastur, theory.md section 5
        b = s + 1 - beta
        g = (-b + np.sqrt(b**2 + 4 * beta * s)) / (2 * beta * s)
        assert V2 == pytest.approx(g / (c * V1_hat), rel=1e-6)
        assert V1 == pytest.approx((1 - (lam + V2_hat) * V2) / V1_hat, rel=1e-6)


def test_every_equation_holds_over_twelve_decades_of_ridge():
    grid = Grid(tuple(np.geomspace(1e-2, 1e3, 26)), tuple(np.geomspace(1e-8, 1e4, 13)))
    for srf in (
        SpikedFeatures("tanh", "sign", 1.0, 50.0, 1.0, beta=1.0),
        SpikedFeatures("erf", "tanh", 100.0, 0.0, 0.0, beta=0.01),
        SpikedFeatures("tanh", "sin", 1.2, 1.0, -0.5, beta=100.0, noise=0.3),
    ):
        solution = solve(srf, grid)
        assert np.all(solution.status == Status.CONVERGED)
        assert solution.residual.max() < 1e-10


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


def bounds(srf):
    """Distance of the target to span{mu0}, and to span{mu0, kappa mu1}: equations (26), (27)."""
    f = conditional_features(srf)
    errors = []
    for span in (np.stack([f.mu0]), np.stack([f.mu0, f.kappa * f.mu1])):
        gram, right = (span * f.weight) @ span.T, (span * f.weight) @ f.h
        errors.append(np.sum(f.weight * f.h**2) - right @ np.linalg.solve(gram, right))
    return errors


def test_error_optimised_over_the_ridge_lies_between_its_bounds():
    for target, r in (("sin", 0.9), ("sign", 2.0), ("tanh", 0.5)):
        srf = SpikedFeatures("tanh", target, 1.0, r, 1.0, beta=1.0)
        upper, lower = bounds(srf)
        errors = solve(srf, Grid((0.1, 1.0, 100.0), tuple(np.geomspace(1e-3, 1e7, 41)))).test_error
        assert np.all(errors.min(axis=1) >= lower)
        assert np.all(errors.min(axis=1) <= upper * (1 + 1e-6))
        # mu0 is of order sqrt(d) in the readout's problem: no finite ridge shrinks it.
        assert errors[:, -1] == pytest.approx(upper, rel=1e-4)


def test_the_sign_of_the_alignment_is_free():
    grid = Grid((0.5, 2.0), (0.1,))
    plus, minus = (
        solve(SpikedFeatures("tanh", "sin", 1.1, 1.0, g, beta=1.0), grid) for g in (0.7, -0.7)
    )
    assert plus.test_error == pytest.approx(minus.test_error, rel=1e-12)
    assert plus.m == pytest.approx(-minus.m, rel=1e-12)


def test_initialisation_is_plain_random_features_and_an_infinite_batch_the_limit():
    start = equivalent_features(Protocol("tanh", "sign", 3, alpha0=0, beta=1))
    assert (start.bulk_variance, start.spike_strength, start.alignment) == (1, 0, 0)
    limit = equivalent_features(Protocol("tanh", "sign", 3, alpha0=np.inf, beta=1, noise=0.2))
    near = equivalent_features(Protocol("tanh", "sign", 3, alpha0=1e9, beta=1, noise=0.2))
    assert (limit.bulk_variance, limit.alignment) == (1, 1)
    assert near.spike_strength == pytest.approx(limit.spike_strength, rel=1e-6)


def test_random_features_never_beat_the_best_linear_predictor():
    problem = Protocol("tanh", "sign", 3, alpha0=0, beta=5)
    errors = solve(problem, Grid((0.5, 5.0, 500.0), (1e-3, 1.0, 100.0))).test_error
    assert best_linear_error("sign") == pytest.approx(1 - 2 / np.pi)
    assert errors.min() > 1 - 2 / np.pi
    assert errors.min() < 1 - 2 / np.pi + 0.1
