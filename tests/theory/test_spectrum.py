"""The asymptotic spectrum is that of actual features: Appendix F, theory.md section 8."""

from dataclasses import replace

import numpy as np
import pytest

from giantstep.problems.protocol import Protocol
from giantstep.problems.sizes import Sizes
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.simulation.eigenvalues import feature_eigenvalues
from giantstep.theory.spectral_density import SpectralDensity
from giantstep.theory.spectrum import spectrum
from giantstep.validation import InvalidParametersError

CASES = [
    (SpikedFeatures("tanh", "sin", 1.0, 0.0, 0.0, beta=1.0), 1.5),
    (SpikedFeatures("tanh", "sin", 1.2, 1.1, 0.5, beta=2.0), 0.7),
    (
        SpikedFeatures("tanh", "sin", (1, 1.2, 3), (0, 1, 5), 0.5, 0.6, fraction=(0.3, 0.3, 0.4)),
        3.0,
    ),
    (SpikedFeatures("linear", "sin", 1.0, 1.0, 0.5, beta=2.0), 1.5),
]


def cumulated(problem, alpha, found, ends, bulk="isotropic"):
    """Mass of the bulk below each of `ends`."""
    density, below = SpectralDensity(problem, alpha, bulk), np.zeros(len(ends))
    for low, high in found.edges:
        angle = np.linspace(0, np.pi, 400)[1:-1]
        x = low + (high - low) * (1 - np.cos(angle)) / 2
        if low * 1e3 < high:
            x = np.geomspace(max(low, 1e-14 * high), high, 400)[:-1]
        y = density(x)
        mass = np.concatenate([[0], np.cumsum(np.diff(x) * (y[1:] + y[:-1]) / 2)])
        below += np.interp(ends, x, mass)
    return below


@pytest.mark.parametrize(("srf", "alpha"), CASES)
def test_mass_bulk_and_outliers_are_those_of_simulated_features_and_mass_adds_up_to_one(srf, alpha):
    """Allowed are deviations of finite size; those of chance are ten times smaller."""
    found = spectrum(srf, alpha, points=200)
    assert np.all(np.isfinite(found.density))
    d = 700
    values = feature_eigenvalues(srf, alpha, Sizes(d), [0], root_seed=1)[0, ::-1]

    assert np.mean(values < 1e-10) == pytest.approx(found.mass_at_zero, abs=2e-3)
    large = values[: found.outliers.size]
    assert large == pytest.approx(found.outliers * d, rel=0.25)
    assert large[:1] == pytest.approx(found.outliers[:1] * d, rel=0.06)
    bulk = values[found.outliers.size :]
    bulk = bulk[bulk > 1e-10]
    assert bulk.max() == pytest.approx(found.edges.max(), rel=0.05)
    ends = np.quantile(bulk, np.linspace(0.05, 0.95, 7))
    *below, everything = cumulated(srf, alpha, found, [*ends, np.inf])
    assert np.diff(below) == pytest.approx((1 - found.mass_at_zero) * 0.15, abs=0.006)
    assert found.mass_at_zero + everything == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(("beta", "alpha"), [(1.0, 1e-4), (1.0, 1e-9), (100.0, 0.01)])
def test_a_bulk_of_which_a_part_is_missed_is_refused(beta, alpha):
    with pytest.raises(InvalidParametersError, match="the whole bulk"):
        spectrum(SpikedFeatures("tanh", "sin", 1.5, 1.0, 0.5, beta=beta), alpha, points=8)


def test_many_points_are_followed_in_blocks_with_the_same_densities():
    density = SpectralDensity(CASES[0][0], 1.5)
    x = np.geomspace(0.05, 3, 1100)
    assert density(x) == pytest.approx(np.concatenate([density(x[:550]), density(x[550:])]))


TRAINED = [
    (Protocol("tanh", "sin", 3.0, alpha0=0.5, beta=1.0), 2.0),
    (Protocol("tanh", "sign", 2.0, alpha0=0.5, beta=1.0, readout=((0.5, 0.5), (2.0, 0.5))), 2.0),
]


@pytest.mark.parametrize(("protocol", "alpha"), TRAINED)
def test_the_trained_bulk_is_that_of_networks(protocol, alpha):
    """Allowed is what finite size does to quantiles; the isotropic bulk ends too early."""
    found, d = spectrum(protocol, alpha, points=8, bulk="trained"), 250
    values = feature_eigenvalues(protocol, alpha, Sizes(d), range(4), root_seed=1)[:, ::-1]
    bulk = values[:, found.outliers.size :]
    shares = np.array([0.1, 0.5, 0.75, 0.9, 0.95, 0.99])
    below = cumulated(protocol, alpha, found, [*np.quantile(bulk, shares), np.inf], "trained")
    assert found.mass_at_zero + below[-1] == pytest.approx(1, abs=1e-3)
    assert below[:-1] / below[-1] == pytest.approx(shares, abs=0.012)
    assert below[-2] / below[-1] == pytest.approx(0.99, abs=0.006)
    isotropic = spectrum(protocol, alpha, points=8)
    assert isotropic.edges.max() < bulk[:, 0].mean() < found.edges.max()
    assert found.outliers == pytest.approx(isotropic.outliers)


def test_the_mean_eigenvalue_of_a_trained_bulk_is_that_of_the_isotropic_one():
    """Both are the trace of the features' covariance, which only the rows' norms enter."""
    protocol, alpha = TRAINED[0]
    x = np.geomspace(0.01, 4, 600)
    means = []
    for bulk in ("isotropic", "trained"):
        y = x * SpectralDensity(protocol, alpha, bulk)(x)
        means.append(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2))
    assert means[1] == pytest.approx(means[0], rel=2e-3)


@pytest.mark.parametrize(
    "protocol",
    [
        Protocol("tanh", "sin", 3.0, alpha0=1e9, beta=1.0),
        Protocol("tanh", "sin", 1e-5, alpha0=0.5, beta=1.0),
        replace(TRAINED[1][0], alpha0=1e9),
    ],
)
def test_a_trained_bulk_is_isotropic_after_a_large_batch_or_a_small_step(protocol):
    x = np.linspace(0.05, 2.5, 12)
    isotropic = SpectralDensity(protocol, 2.0)(x)
    assert SpectralDensity(protocol, 2.0, "trained")(x) == pytest.approx(isotropic, rel=1e-6)
