"""Spikes of larger rank: each group of neurons has a spike of its own (Appendix C.8)."""

from dataclasses import replace

import numpy as np
import pytest
from networks import assert_near

from giantstep.problems.grid import Grid
from giantstep.problems.several_spikes import several_spikes
from giantstep.problems.sizes import Sizes
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.questions.networks import eigenvalues
from giantstep.simulation.measurements import SLABS
from giantstep.simulation.simulate import simulate
from giantstep.theory.features.kappa_rules import spike_rule
from giantstep.theory.learned_function import learned_function
from giantstep.theory.outliers import outliers_at
from giantstep.theory.readout.solve import readout_of, solve
from giantstep.validation import InvalidParametersError

POINT = Grid((2.0,), (0.1,))
# By another program: of three vectors on axes of which the target has parts 0.6, 0.3 and 0.2.
SPIKES = np.array([[0.9, -0.4, 0.2], [-0.7, 1.1, 0.3], [0.2, 0.5, -1.0]])
TARGET = np.array([0.6, 0.3, 0.2])
TWO = {"bulk_variance": (1.2, 1.7), "beta": 0.8, "fraction": (0.3, 0.7), "noise": 0.1}
THREE = TWO | {"bulk_variance": (1.2, 1.7, 1.0), "fraction": (0.3, 0.3, 0.4)}


def of_vectors(spikes, **parameters):
    return several_spikes(spikes @ spikes.T, spikes @ TARGET, **parameters)


@pytest.mark.parametrize(
    ("activation", "target", "expected"),
    [
        ("relu", "sign", (1.066415717936482, 0.5018259537632574)),
        ("tanh", "sin", (0.2605561710039703, 0.1736765147255947)),
    ],
)
def test_two_spikes_have_the_errors_of_an_independent_program(activation, target, expected):
    found = solve(of_vectors(SPIKES[:2], activation=activation, target=target, **TWO), POINT)
    assert [found.test_error, found.training_error] == pytest.approx(expected, rel=1e-8)


def test_strong_spikes_of_several_directions_are_resolved():
    strong = {"spike_strength": (10, 20), "further_spikes": ((8.0,), (10.0,))}
    srf = SpikedFeatures("tanh", "sign", 1.0, alignment=0.7, beta=1, fraction=(0.5, 0.5), **strong)
    assert solve(srf, Grid((1.0,), (1e-4,))).status == 0


@pytest.mark.slow
def test_three_spikes_have_the_errors_of_an_independent_program():
    srf = of_vectors(SPIKES, activation="softplus", target="sign", **THREE)
    found = readout_of(srf).solve(*np.array([[2.0], [0.1]]))
    assert found.test_error[0] == pytest.approx(0.9115835957976112, rel=1e-9)
    assert found.training_error[0] == pytest.approx(0.47342642192440676, rel=1e-9)
    assert found.quadrature_error < 1e-8


def test_a_direction_that_no_spike_has_changes_nothing():
    one = SpikedFeatures("softplus", "sign", (1.2, 1.7), (0.8, -1.1), 0.7, beta=0.8,
                         fraction=(0.3, 0.7))  # fmt: skip
    more = replace(one, further_spikes=((1e-9,), (0.0,)))
    found, expected = solve(more, POINT), solve(one, POINT)
    for name in ("test_error", "training_error", "m", "zeta", "psi", "q1", "q2"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-8, abs=1e-9)


def test_the_rule_over_several_directions_has_the_moments_of_independent_normals():
    srf = of_vectors(SPIKES, activation="relu", target="sign", **THREE)
    kappa, beside, weight = spike_rule(srf)
    x = np.vstack([np.ones_like(kappa), kappa, beside])
    assert (x * weight) @ x.T == pytest.approx(np.eye(4), abs=1e-11)
    assert kappa**4 @ weight == pytest.approx(3, abs=1e-11)


@pytest.mark.slow
def test_networks_with_several_spikes_agree_with_the_theory():
    """Within standard errors, beside 1 % for the finite size; a false alarm has 1 % at most."""
    srf = of_vectors(SPIKES[:2], activation="relu", target="sign", **TWO)
    raw = simulate(srf, POINT, Sizes(400, 1, 20_000), range(12), 1)
    theory = solve(srf, POINT, dimension=400)
    learned = learned_function(srf, theory.m, theory.zeta, theory.psi, SLABS, theory.xi)[0, 0]
    pairs = [(getattr(raw, name), getattr(theory, name)[0, 0])
             for name in ("test_error", "training_error", "m", "q2")]  # fmt: skip
    pairs.append((raw.learned_function, learned))
    for simulated, expected in pairs:
        assert_near(simulated[:, :, 0, 0], expected, 0.01 * np.abs(expected).max(), count=30)


@pytest.mark.slow
def test_there_is_an_outlier_for_each_spike():
    srf = of_vectors(SPIKES[:2], activation="tanh", target="sin", **TWO)
    d, networks = 500, 6
    found = outliers_at(srf, 2.0, d, 4.5)[:2]
    simulated = eigenvalues(srf, 2.0, dimension=d, networks=range(networks), seed=0)
    values = simulated.simulated_eigenvalue.values[:, -1:-3:-1]
    assert_near(values[:, None], found)


@pytest.mark.parametrize(
    ("gram", "overlaps", "fault"),
    [
        ([[1, 2], [2, 1]], [0, 0], "gram"),
        ([[1, 0], [1, 1]], [0, 0], "gram"),
        ([[1, 0], [0, 1]], [0.9, 0.9], "overlaps"),
        ([[1, 1], [1, 1]], [0.2, 0.3], "overlaps"),
    ],
)
def test_overlaps_that_no_vectors_have_are_refused(gram, overlaps, fault):
    with pytest.raises(InvalidParametersError, match=fault):
        several_spikes(gram, overlaps, activation="relu", target="sign", **TWO)


def test_further_spikes_are_given_for_every_group_and_a_target_of_one_direction():
    with pytest.raises(InvalidParametersError, match="for each of the 2 groups"):
        SpikedFeatures("relu", "sign", (1, 2), 1, 0.5, beta=1, fraction=(0.5, 0.5),
                       further_spikes=((1.0,),))  # fmt: skip
    with pytest.raises(InvalidParametersError, match="target = .* of one direction"):
        SpikedFeatures("relu", "z1*z2", 1, 1, (0.5, 0.1), beta=1, further_spikes=((1.0,),))
