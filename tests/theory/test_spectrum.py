"""The asymptotic spectrum is that of actual features: Appendix F, theory.md section 8."""

from dataclasses import replace

import numpy as np
import pytest

from giantstep.numerics.interval_rule import interval_rule
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.questions.networks import eigenvalues
from giantstep.theory.readout.solve import solve
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
    x, dx = interval_rule(found.edges, 400)
    mass = np.cumsum(dx * SpectralDensity(problem, alpha, bulk)(x))
    return np.interp(ends, x, mass, left=0.0)


def whole_mass(protocol, alpha, found, known=None):
    """Mass at zero and of the trained bulk, without that of faint tails."""
    density, (x, dx) = SpectralDensity(protocol, alpha, "trained"), interval_rule(found.edges, 1600)
    if known is not None:
        density(known)  # from which solutions next to a divergence begin
    return found.mass_at_zero + dx @ density(x)


@pytest.mark.parametrize(("srf", "alpha"), CASES)
def test_mass_bulk_and_outliers_are_those_of_simulated_features_and_mass_adds_up_to_one(srf, alpha):
    """Allowed are deviations of finite size; those of chance are ten times smaller."""
    found = spectrum(srf, alpha, points=200)
    assert np.all(np.isfinite(found.density))
    d = 700
    simulated = eigenvalues(srf, alpha, dimension=d, networks=[0], seed=1)
    values = simulated.simulated_eigenvalue.values[0, ::-1]

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


@pytest.mark.parametrize(("beta", "alpha"), [(1.0, 1e-5), (1.0, 1e-9), (100.0, 1e-4)])
def test_a_bulk_of_which_a_part_is_missed_is_refused(beta, alpha):
    with pytest.raises(InvalidParametersError, match="the whole bulk"):
        spectrum(SpikedFeatures("tanh", "sin", 1.5, 1.0, 0.5, beta=beta), alpha, points=8)


def test_densities_do_not_depend_on_what_was_asked_for_before():
    density = SpectralDensity(CASES[0][0], 1.5)
    x = np.geomspace(0.05, 3, 300)
    backwards = [density(part) for part in np.split(x[::-1], 5)]
    fresh = SpectralDensity(CASES[0][0], 1.5)(x)
    assert np.concatenate(backwards)[::-1] == pytest.approx(fresh, rel=1e-8)


TRAINED = {
    "odd": (Protocol("tanh", "sin", 3.0, alpha0=0.5, beta=1.0), 2.0),
    "letters": (
        Protocol("tanh", "sign", 2.0, alpha0=0.5, beta=1.0, readout=((0.5, 0.5), (2.0, 0.5))),
        2.0,
    ),
    "not odd": (Protocol("gelu", "sign", 3.0, alpha0=0.5, beta=0.8), 1.5),
    "three odd steps": (Protocol("tanh", "sin", 3.0, alpha0=0.5, beta=1.0, steps=3), 2.0),
    "three steps": (Protocol("relu", "sin", 1.0, alpha0=1.0, beta=1.0, steps=3), 0.7),
    "two directions": (Protocol("gelu", "z1+z2+.5*z1*z2", 2.0, 2.0, beta=1.0, steps=2), 2.0),
}
NAMES = pytest.mark.parametrize("name", TRAINED)


@pytest.mark.parametrize(
    ("name", "d"),
    [("odd", 250)] + [pytest.param(name, 500, marks=pytest.mark.slow) for name in [*TRAINED][1:]],
)
def test_the_trained_bulk_is_that_of_networks(name, d):
    """Allowed is what finite size does to quantiles; the isotropic bulk ends too early."""
    protocol, alpha = TRAINED[name]
    found = spectrum(protocol, alpha, points=8, bulk="trained")
    simulated = eigenvalues(protocol, alpha, dimension=d, networks=range(3), seed=1)
    values = simulated.simulated_eigenvalue.values[:, ::-1]
    bulk = values[:, found.outliers.size :]
    shares = np.array([0.1, 0.5, 0.75, 0.9, 0.95, 0.99])
    below = cumulated(protocol, alpha, found, np.quantile(bulk[bulk > 1e-10], shares), "trained")
    assert below / (1 - found.mass_at_zero) == pytest.approx(shares, abs=0.015)
    isotropic = spectrum(protocol, alpha, points=8)
    assert isotropic.edges.max() < bulk[:, 0].mean() < 1.02 * found.edges.max()
    assert found.outliers == pytest.approx(isotropic.outliers)


@NAMES
def test_the_spectrum_and_the_fixed_point_are_of_one_resolvent(name):
    """V2 at a ridge is the density's integral over 1/(x + ridge); two routes, 0.001 to 10."""
    (protocol, alpha), ridges = TRAINED[name], (1e-3, 0.1, 10.0)
    found = spectrum(protocol, alpha, bulk="trained")
    x, dx = interval_rule(found.edges, 400)
    assert x == pytest.approx(found.x)
    allowed = 1e-6 if name != "two directions" else 1e-3
    assert whole_mass(protocol, alpha, found) == pytest.approx(1, abs=allowed)
    integral = (dx * found.density) @ (1 / np.add.outer(x, ridges))
    V2 = solve(protocol, Grid((alpha,), ridges), "trained").V2[0].sum(axis=-1)
    expected = V2 - found.mass_at_zero / np.array(ridges)
    # Labels without bound have a tail that is cut off.
    assert integral == pytest.approx(expected, rel=5e-6 if name != "two directions" else 1e-4)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.5])
def test_features_of_saturated_samples_leave_no_gaps_and_no_eigenvalue_out(alpha):
    """Eigenvalues of saturated samples go down to zero where they have samples for themselves."""
    protocol = Protocol("erf", "sin", 10.0, alpha0=1.0, beta=1.0)
    found = spectrum(protocol, alpha, bulk="trained")
    assert len(found.edges) == 1
    assert whole_mass(protocol, alpha, found) == pytest.approx(1, abs=1e-3)
    assert (found.edges[0, 0] < 1e-12) == (alpha <= 1)


@pytest.mark.parametrize(
    "protocol",
    [
        Protocol("tanh", "he3", 3.0, alpha0=0.5, beta=1.0),
        Protocol("relu", "he2", 2.0, alpha0=1.0, beta=1.0, noise=0.5),
        Protocol("tanh", "he3", 2.0, alpha0=1.0, beta=1.0, readout=((0.5, 0.5), (2, 0.5))),
        Protocol("relu", "z1*z2", 2.0, alpha0=1.0, beta=1.0),
    ],
    ids=["cubic", "noisy", "letters", "two directions"],
)
def test_labels_without_bound_have_a_tail_without_peaks(protocol):
    found = spectrum(protocol, 2.0, bulk="trained")
    assert len(found.edges) == 1
    assert whole_mass(protocol, 2.0, found) == pytest.approx(1, abs=1e-3)
    in_log = found.x * found.density
    assert np.all(np.diff(in_log[np.argmax(in_log) :]) < 0)


def test_a_gap_between_two_parts_of_the_bulk_is_reported():
    protocol = Protocol("softplus", "erf", 0.75, alpha0=4.81, beta=1.85)
    found = spectrum(protocol, 3.76, bulk="trained")
    assert len(found.edges) == 2
    assert whole_mass(protocol, 3.76, found) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    "protocol",
    [
        TRAINED["odd"][0],
        pytest.param(TRAINED["letters"][0], marks=pytest.mark.slow),
        pytest.param(
            Protocol("tanh", "he3", 3, 1, 1, noise=0.1, readout=((1, 0.5), (2, 0.3), (4, 0.2))),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_no_eigenvalue_is_missed_where_the_density_diverges_at_zero(protocol):
    """With as many samples as features it is a power of x there."""
    found = spectrum(protocol, protocol.beta, points=300, bulk="trained")
    assert found.edges[0, 0] < 1e-12
    mass = whole_mass(protocol, protocol.beta, found, known=found.x)
    assert mass == pytest.approx(1, abs=2e-4)


def test_random_features_have_the_edges_of_marchenko_and_pastur():
    """With many samples, linear features are the rows: W W^T, of p unit rows in d dimensions."""
    beta, alpha = 0.3, 1e5
    found = spectrum(SpikedFeatures("linear", "sin", 1.0, 0.0, 0.5, beta=beta), alpha)
    expected = (1 + np.sqrt(beta) * np.array([-1, 1])) ** 2
    assert found.edges[0] * beta / alpha == pytest.approx(expected, rel=1e-2)


@pytest.mark.parametrize(
    "protocol",
    [
        Protocol("tanh", "sin", 3.0, alpha0=1e9, beta=1.0),
        Protocol("tanh", "sin", 1e-5, alpha0=0.5, beta=1.0),
        replace(TRAINED["letters"][0], alpha0=1e9),
    ],
)
def test_a_trained_bulk_is_isotropic_after_a_large_batch_or_a_small_step(protocol):
    x = np.linspace(0.05, 2.5, 12)
    isotropic = SpectralDensity(protocol, 2.0)(x)
    assert SpectralDensity(protocol, 2.0, "trained")(x) == pytest.approx(isotropic, rel=1e-6)
