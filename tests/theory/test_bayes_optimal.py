"""The best possible prediction is where closed forms, other integrals and AMP on data say."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import log_ndtr

import giantstep
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.protocol import Protocol
from giantstep.questions.bayes_optimal import bayes_optimal
from giantstep.theory.bayes_optimal import prediction_error, state_evolution
from giantstep.theory.label_channel import exact_channel, noisy_channel

AMP = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "amp.py"), run_name="amp")


def labels(target, **differing):
    return state_evolution(Protocol("tanh", target, 1, alpha0=0, beta=1, **differing))


def test_noiseless_labels_of_a_monotone_target_are_linear_equations():
    found = [labels("tanh").overlaps(alpha) for alpha in (0.1, 0.5, 0.99, 1.01, 7)]
    assert np.array(found).T == pytest.approx(np.array([[0.1, 0.5, 0.99, 1, 1]] * 2), abs=1e-7)


def test_noisy_linear_labels_are_ridge_regression():
    q, noise, alpha = labels("linear", noise=0.5).overlaps(2.0)[0], 0.5, 2.0
    assert q / (1 - q) == pytest.approx(alpha / (1 - q + noise), rel=1e-5)
    assert prediction_error(lookup("linear"), q) == pytest.approx(1 - q, rel=1e-6)


@pytest.mark.parametrize(("alpha", "q"), [(1, 0.486264), (2, 0.728298), (5, 0.932064)])
def test_the_sign_has_the_curve_of_opper_and_haussler(alpha, q):
    found, _ = labels("sign").overlaps(alpha)
    assert found == pytest.approx(q, abs=2e-6)

    def integrand(xi):  # its fixed point, by another integral
        t = np.sqrt(found / (1 - found)) * xi
        return np.exp(-(t**2) - log_ndtr(t) - xi**2 / 2) / (2 * np.pi) ** 1.5

    assert 2 * alpha * quad(integrand, -12, 12)[0] == pytest.approx(found, rel=1e-4)


@pytest.mark.parametrize("target", ["abs", "he2"])
def test_phases_are_found_from_half_a_sample_on_and_known_to_amp_from_1_128(target):
    phases = labels(target)
    assert phases.weak_recovery == pytest.approx(0.5, abs=1e-6)
    assert phases.overlaps(0.499) == (0, 0)
    assert 0 < phases.overlaps(0.51)[1] < 0.02
    assert phases.overlaps(1.127)[1] < 0.9 < phases.overlaps(1.129)[1]  # Barbier et al. 2019
    assert phases.overlaps(0.99)[0] < 0.9 < phases.overlaps(1.01)[0]


def test_weak_recovery_of_he4_is_that_of_its_branches():
    def square(y):  # density times (E[z^2 - 1 | y])^2, of the branches z^2 = 3 +- sqrt(6 + y)
        z2 = 3 + np.array([-1, 1]) * np.sqrt(6 + y)
        z2 = z2[z2 > 0]
        density = 2 * np.exp(-z2 / 2) / np.sqrt(2 * np.pi) / np.abs(4 * np.sqrt(z2) * (z2 - 3))
        return (density @ (z2 - 1)) ** 2 / density.sum()

    whole = quad(lambda t: 2 * t * square(t**2 - 6), 0, 3, limit=200)[0]
    whole += quad(lambda t: 2 * t * square(t**2 - 6), 3, 60, limit=400)[0]
    assert labels("he4").weak_recovery == pytest.approx(1 / whole, rel=1e-4)


def test_little_noise_is_near_to_none():
    target, gaps = "sin", []
    for noise in (1e-2, 1e-3):
        noisy = noisy_channel(lookup(target), [(1, noise, 1.0)])
        gaps.append(exact_channel(lookup(target), {1: 1.0}).explained(1, 0.3))
        gaps[-1] -= noisy.explained(1, 0.3)
    assert 0 < gaps[1] < 0.4 * gaps[0] < 0.04


@pytest.mark.parametrize("case", [("abs", 0.0, 0.9), ("sign", 0.0, 1.0)])
def test_amp_on_data_has_the_overlap_of_its_state_evolution(case):
    """Of d = 500, within 6 standard errors and 2 %; it fails by chance once in 1e4."""
    theory, mean, stderr = AMP["measure"](*case, 500, 4)
    assert abs(mean - theory) < 6 * stderr + 0.02 * theory


@pytest.mark.slow
@pytest.mark.parametrize("case", AMP["CASES"])
def test_amp_at_dimension_1000(case):
    """It fails by chance once in a hundred runs, with eleven cases of eight."""
    theory, mean, stderr = AMP["measure"](*case, 1000, 8)
    assert abs(mean - theory) < 5 * stderr + 0.01


def test_bounds_count_the_samples_of_all_steps():
    problem = Protocol("tanh", "abs", learning_rate=1, alpha0=0.5, beta=1, steps=2)
    found = bayes_optimal(problem, alpha=[0.1, 0.2])
    assert found.bayes_optimal_error.values == pytest.approx([0, 0], abs=1e-9)
    assert found.amp_error.values[0] > 0.1 > found.amp_error.values[1]
    features = giantstep.one_spike("tanh", "abs", 1, 1, 1, beta=1)
    of_all = giantstep.bounds(features, bayes_optimal=True, alpha=[1.1, 1.2])
    assert of_all.amp_error.values == pytest.approx(found.amp_error.values, abs=1e-12)
    assert "alpha" not in giantstep.bounds(features).coords
    with pytest.raises(giantstep.InvalidParametersError, match="given with bayes_optimal"):
        giantstep.bounds(features, alpha=1)


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"target": "z1+z1*z2"}, "target"),
        ({"target": "he5", "noise": 1e-4}, "noise"),
        ({"target": "sin", "outlier_fraction": 0.1, "outlier_variance": 1.0}, "noise"),
    ],
)
def test_what_is_not_covered_is_refused_with_the_reason(fields, name):
    with pytest.raises(giantstep.InvalidParametersError, match=f"{name} = .*best possible error"):
        labels(**{"target": "sin"} | fields)


def test_thresholds_of_he3_set_methods_apart():
    found = giantstep.thresholds(Protocol("tanh", "he3", 1, alpha0=1, beta=1))
    assert {name: float(x) for name, x in found.items()} == {
        "kernel_degree": 3,
        "information_exponent": 3,
        "leap": 3,
        "generative_exponent": 1,
        "weak_recovery": 0,
    }
