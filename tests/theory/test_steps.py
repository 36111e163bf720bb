"""Several steps on fresh batches: reference values, actual weights, limits, and simulation."""

from dataclasses import replace

import numpy as np
import pytest
from networks import first_layers

from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.theory.first_layer.equivalent_features import equivalent_features
from giantstep.theory.first_layer.layer import layer_of
from giantstep.theory.readout.solve import solve
from giantstep.validation import InvalidParametersError

SINE = Protocol("tanh", "sin", 2, alpha0=20, beta=1, steps=3)
SMALL_BATCH = replace(SINE, alpha0=1, steps=5)
SOFTPLUS = Protocol("softplus", "polynomial:0.5,1,0.5", 1, alpha0=3, beta=1, steps=3)
POINT = Grid((2.0,), (0.1,))


def errors(protocol, bulk):
    return [
        solve(replace(protocol, steps=k + 1), POINT, bulk).test_error.item()
        for k in range(protocol.steps)
    ]


@pytest.mark.parametrize(
    ("protocol", "isotropic", "trained"),
    [
        (SINE, [0.054105, 0.028189, 0.018992], [0.053446, 0.026658, 0.017590]),
        (SOFTPLUS, [0.665687, 0.417614, 0.284511], [0.637812, 0.386012, 0.254983]),
    ],
)
def test_errors_after_each_step_are_those_of_the_reference(protocol, isotropic, trained):
    assert errors(protocol, "isotropic") == pytest.approx(isotropic, abs=1e-6)
    assert errors(protocol, "trained") == pytest.approx(trained, abs=1e-6)


def test_states_are_those_of_the_reference():
    last = layer_of(SMALL_BATCH).states[-1]
    found = last.bulk_variance, last.spike_strength, *last.alignment
    assert found == pytest.approx((1.370466, 1.483092, 0.967689), abs=1e-6)
    covariance = last.covariance[np.triu_indices(3)]
    reference = [1.4571, -0.1307, -1.4313, 1.3929, 0.1189, 2.3967]
    assert covariance == pytest.approx(reference, abs=1e-4)


@pytest.mark.parametrize("alpha0", [0.5, np.inf])
def test_the_first_step_of_an_odd_activation_has_the_papers_parameters(alpha0):
    protocol = Protocol("erf", "sign", 1.5, alpha0=alpha0, beta=0.7, noise=0.2)
    (state,), paper = layer_of(protocol).states[1:], equivalent_features(protocol)
    found = state.bulk_variance, state.spike_strength, *state.alignment
    expected = *paper.bulk_variance, *paper.spike_strength, paper.alignment
    assert found == pytest.approx(expected, rel=1e-10)
    two = replace(protocol, readout=((1.0, 0.5), (1.0 + 1e-12, 0.5)))
    shared = layer_of(two).common_rows().sum()
    assert state.mean_row == pytest.approx(state.bulk_variance + shared, rel=1e-10)


def test_rows_whose_readout_is_negative_learn_as_others():
    one, other = (replace(SINE, readout=((omega, 1.0),), steps=1) for omega in (1.5, -1.5))
    found = solve(other, POINT, "trained").test_error
    assert found == pytest.approx(solve(one, POINT, "trained").test_error, rel=1e-9)


@pytest.mark.parametrize(
    "protocol",
    [
        replace(SMALL_BATCH, steps=2),
        replace(SOFTPLUS, steps=2, alpha0=10),
        Protocol("softplus", "sin", 1, alpha0=30, beta=1, readout=((2.0, 1.0),)),
    ],
    ids=["tanh", "softplus", "larger readout"],
)
def test_actual_weights_have_the_parameters_and_the_covariance(protocol):
    state, found = layer_of(protocol).states[-1], []
    for layer in first_layers(protocol, 300, 6):
        bulk = layer.weights - np.outer(layer.strengths, layer.spike)
        c = np.sum(bulk**2, axis=1).mean()
        theta = layer.directions[0].astype(float)
        across = theta - (theta @ layer.spike) * layer.spike
        across /= np.linalg.norm(across)
        memory = bulk @ layer.spike, bulk @ across, np.sum(bulk**2, axis=1) / c - 1
        covariance = 300 * np.cov(memory, bias=True)
        scalars = c, layer.strengths[0], theta @ layer.spike
        found.append(np.concatenate([scalars, covariance[np.triu_indices(3)]]))
    expected = state.bulk_variance, state.spike_strength, *state.alignment
    expected = np.concatenate([expected, state.covariance[np.triu_indices(3)]])
    # |b|^2 of a row drawn on the sphere fluctuates less than what the steps add.
    noise = 2 * np.std(found, axis=0) + 0.05 * np.abs(expected) + 0.02
    assert np.all(np.abs(np.mean(found, axis=0) - expected) < noise)


def test_rows_after_large_steps_have_the_bulk_variance_of_the_recursion():
    steps = replace(SOFTPLUS, target="sign", learning_rate=13.9, alpha0=14, beta=0.261, steps=5)
    rows, state = layer_of(steps).rows_in_limit
    assert rows.error < 1e-10
    assert rows.traces(np.zeros(1)).phi == pytest.approx(state.bulk_variance, rel=1e-8)


def test_steps_of_rate_zero_and_on_no_samples_leave_the_network_at_initialisation():
    start = solve(replace(SINE, steps=1, alpha0=0), POINT).test_error
    for protocol in (replace(SINE, learning_rate=0), replace(SINE, alpha0=0)):
        for bulk in ("isotropic", "trained"):
            assert solve(protocol, POINT, bulk).test_error == pytest.approx(start, rel=1e-12)


@pytest.mark.parametrize("bulk", ["isotropic", "trained"])
def test_huge_batches_and_tiny_rates_approach_their_limits(bulk):
    protocol = Protocol("softplus", "sin", 1, alpha0=3, beta=1, noise=0.1, steps=2)

    def error(**changed):
        return solve(replace(protocol, **changed), POINT, bulk).test_error.item()

    assert error(alpha0=1e10) == pytest.approx(error(alpha0=np.inf), rel=1e-7)
    assert error(learning_rate=1e-9) == pytest.approx(error(learning_rate=0), rel=1e-6)


def test_many_small_steps_approach_gradient_flow():
    # The total rate is fixed; the error of k steps falls as 1/k.
    found = [
        layer_of(replace(SINE, alpha0=1e9, learning_rate=1 / k, steps=k)).states[-1]
        for k in (4, 8, 16)
    ]
    strength = [state.spike_strength for state in found]
    assert (strength[1] - strength[0]) / (strength[2] - strength[1]) == pytest.approx(2, rel=0.1)


def test_what_has_no_theory_is_refused_with_the_reason():
    letters = replace(SINE, readout=((1, 0.5), (2, 0.5)), reuse_batch=True)
    assert layer_of(letters).faults()
    with pytest.raises(InvalidParametersError, match="readouts of several values"):
        solve(letters, POINT)
    with pytest.raises(InvalidParametersError, match="squared norm of at most"):
        solve(replace(SINE, learning_rate=1e11), POINT)
