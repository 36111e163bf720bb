"""The whole covariance of the rows: against actual batches, other bulks, and differences."""

import math
from dataclasses import replace

import numpy as np
import pytest

from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.bulk_kind import TRAINED_COVARIANCE, TRAINED_NORMS
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.theory.features.activation_averages import activation_averages
from giantstep.theory.features.bulk.batch_covariance import FirstBatch
from giantstep.theory.features.bulk.prepare import prepare_bulk
from giantstep.theory.features.bulk.row_functions import row_functions
from giantstep.theory.features.complete_steps import complete_states
from giantstep.theory.features.equivalent_features import equivalent_features
from giantstep.theory.readout.solve import solve
from giantstep.validation import InvalidParametersError

SOFTPLUS = Protocol("softplus", "polynomial:0.5,1,0.5", 1, alpha0=3, beta=1, steps=2)
TANH = Protocol("tanh", "sin", 2, alpha0=1, beta=1, steps=1)
GRID = Grid((0.5, 2.0), (0.1,))


def covariance_of_actual_batches(protocol, dimension, seed):
    """Compute C, and the spike and the direction across it, from batches that are drawn."""
    rng = np.random.default_rng(seed)
    theta, spike = np.eye(dimension)[:2]
    activation, target = lookup(protocol.activation), lookup(protocol.target)
    e, count = protocol.learning_rate / protocol.beta, round(protocol.alpha0 * dimension)
    C, strength, c = np.eye(dimension), 0.0, 1.0
    a, s = np.zeros(dimension), 0.0
    for after in complete_states(protocol)[1:]:
        X = rng.standard_normal((count, dimension))
        A = activation_averages(activation, strength * (X @ spike), math.sqrt(c), 1.0, 1.0)
        noise = math.sqrt(protocol.noise) * rng.standard_normal(count)
        rho = target.value(X @ theta) + noise - A.mean
        L = np.eye(dimension) + e / count * (X.T * (rho * A.curvature)) @ X
        noise_weights = rho**2 * (A.variance - c * A.curvature**2)
        longer = e * c / 2 * X.T @ (rho * A.third) / count
        C, La = L @ C @ L + e**2 / protocol.alpha0 / count * (X.T * noise_weights) @ X, L @ a
        C += np.outer(longer, La) + np.outer(La, longer) + s * np.outer(longer, longer)
        step = strength * spike + e * X.T @ (rho * A.slope) / count
        strength, c = float(np.linalg.norm(step)), after.bulk_variance
        spike = step / strength
    across = theta - (theta @ spike) * spike
    return C, np.stack([spike, across / np.linalg.norm(across)])


def test_traces_and_forms_are_those_of_actual_batches():
    # Norms do not vary before the second step of softplus, whose E sigma''' vanishes at first.
    rows, t = row_functions(SOFTPLUS), np.array([0.1, 1.0, 10.0])
    C, directions = covariance_of_actual_batches(SOFTPLUS, 500, seed=2)
    eigenvalues, vectors = np.linalg.eigh(C)
    resolvents = 1 / (1 + t[:, None] * eigenvalues)
    assert rows.traces(t).f == pytest.approx(resolvents.mean(axis=1), rel=0.03)
    on = directions @ vectors
    forms = np.einsum("ik,tk,jk->tij", on, resolvents, on)
    expected = rows.forms(t)[0].resolvent[:, :2, :2]
    assert forms == pytest.approx(expected, rel=0.06, abs=0.01)


def test_the_trace_after_one_step_of_an_odd_activation_is_that_of_the_first_batch():
    protocol, t = replace(TANH, noise=0.3), np.array([[0.01], [1.0], [50.0]])
    batch = FirstBatch.of(protocol)
    expected = batch.resolvent_trace(batch.tau * t / (1 + t)) / (1 + t)
    assert row_functions(protocol).traces(t[:, 0]).f == pytest.approx(expected[:, 0], rel=1e-8)


def test_without_noise_of_batches_the_covariance_is_of_finite_rank():
    protocol = Protocol("gelu", "sin", 2, alpha0=np.inf, beta=0.7, steps=2)
    whole, norms = (solve(protocol, GRID, bulk) for bulk in (TRAINED_COVARIANCE, TRAINED_NORMS))
    assert whole.test_error == pytest.approx(norms.test_error, rel=1e-10)
    assert whole.xi == pytest.approx(norms.xi, rel=1e-9, abs=1e-12)


def test_forms_and_the_recursion_have_the_same_covariance():
    protocol = Protocol("erf", "sin", 2, alpha0=2, beta=1, noise=0.2, steps=2)
    sigma = complete_states(protocol)[-1].covariance
    found = row_functions(protocol).covariance(sigma[2, 2])
    assert found == pytest.approx(sigma, rel=1e-7, abs=1e-9)


def test_norms_whose_variance_is_left_out_after_one_step_change_little():
    whole, norms = (solve(TANH, GRID, bulk) for bulk in (TRAINED_COVARIANCE, TRAINED_NORMS))
    assert whole.test_error == pytest.approx(norms.test_error, rel=1e-3)


def test_derivatives_are_those_of_differences():
    protocol = replace(SOFTPLUS, steps=1)
    _, bulk = prepare_bulk(protocol, equivalent_features(protocol), TRAINED_COVARIANCE)
    hats, L, step = np.array([[[0.9]]]), np.array([[0.5]]), 1e-5
    z, along, across = np.array([0.3, 0.4, -0.2]), np.array([[0.3, -0.2]]), np.array([[0.4]])

    def at(V1_hat, L):
        V, T = bulk.variances(V1_hat, L)
        response = bulk.spike_response(V1_hat, V)
        return V[0], T[0], z @ response.K[0] @ z, response

    pairs = [(at(hats + step, L), at(hats - step, L)), (at(hats, L + step), at(hats, L - step))]
    _, T, _, response = at(hats, L)
    slopes = [(up[0] - down[0]) / (2 * step) for up, down in pairs]
    assert -np.transpose(slopes) == pytest.approx(T, rel=1e-6)
    first, second = response.sources(along, across)
    slopes = [(up[2] - down[2]) / (2 * step) for up, down in pairs]
    assert T @ first[0] + second[0] == pytest.approx(-np.array(slopes), rel=1e-6)


def test_several_values_of_the_readout_are_refused():
    with pytest.raises(InvalidParametersError, match="trained_norms for a readout"):
        solve(replace(TANH, readout=((1, 0.5), (2, 0.5))), GRID, TRAINED_COVARIANCE)
