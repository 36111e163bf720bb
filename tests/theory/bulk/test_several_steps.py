"""The bulk after several steps: its overlaps against the isotropic ones and finite differences."""

import numpy as np
import pytest

from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.bulk.isotropic import IsotropicBulk
from giantstep.theory.features.bulk.several_steps import SteppedBulk
from giantstep.theory.features.conditional_features import conditional_features

C = 1.4
FEATURES = SpikedFeatures("tanh", "sin", C, spike_strength=1, alignment=0.8, beta=0.7)
HATS, L, ALONG, ACROSS = np.array([[[0.9]]]), np.array([[0.5]]), np.array([[0.3, -0.2]]), 0.4


def stepped(covariance):
    features = conditional_features(FEATURES, norms=True)
    isotropic = IsotropicBulk(features.B, FEATURES.groups, FEATURES.beta)
    return SteppedBulk(isotropic, covariance)


def respond(bulk, V1_hat, L):
    V, T = bulk.variances(V1_hat, L)
    return bulk.spike_response(V1_hat, V), T


def test_rows_without_memory_answer_as_isotropic_rows():
    bulk = stepped(np.diag([C, C, 0.0]))
    ours, T = respond(bulk, HATS, L)
    theirs, _ = respond(bulk.isotropic, HATS, L)
    across = np.array([[ACROSS]])
    assert ours.along[:, :1, :1] == pytest.approx(theirs.along)
    assert ours.across == pytest.approx(theirs.across)
    first, second = ours.sources(ALONG, across)
    expected, _ = theirs.sources(ALONG[:, :1], across)
    total = np.einsum("sij,sj->si", T, first) + second
    assert total == pytest.approx(np.einsum("sij,sj->si", T, expected))


@pytest.mark.parametrize("directions", [1, 3])
def test_sources_are_minus_the_derivative_of_the_overlaps_by_the_hats(directions):
    order = directions + 2
    root = np.random.default_rng(3).standard_normal((order, order))
    bulk, across = stepped(np.eye(order) + root @ root.T), np.array([[0.4, -0.7, 0.2][:directions]])

    def squared(V1_hat, L):
        response = respond(bulk, V1_hat, L)[0]
        along = ALONG[0] @ response.along[0] @ ALONG[0]
        mixed = ALONG[0] @ response.mixed[0] @ across[0]
        return along + 2 * mixed + across[0] @ response.across[0] @ across[0]

    step = 1e-6
    change = [
        squared(HATS + step, L) - squared(HATS - step, L),
        squared(HATS, L + step) - squared(HATS, L - step),
    ]
    response, T = respond(bulk, HATS, L)
    first, second = response.sources(ALONG, across)
    total = np.einsum("sij,sj->si", T, first) + second
    assert total[0] == pytest.approx(-np.array(change) / (2 * step), rel=1e-6)


def test_directions_across_the_spike_are_screened_together():
    order = 5
    root = np.random.default_rng(4).standard_normal((order, order))
    bulk = stepped(np.eye(order) + root @ root.T)
    response, _ = respond(bulk, HATS, L)
    G = FEATURES.beta * response.V2[0, 0] * bulk.covariance
    precision = np.linalg.inv(G)
    precision[1:4, 1:4] += HATS[0, 0, 0] * np.eye(3)
    K = np.linalg.inv(precision)
    assert response.across[0] == pytest.approx(K[1:4, 1:4])
    assert response.mixed[0] == pytest.approx(K[np.ix_([0, 4], [1, 2, 3])])
    assert response.along[0] == pytest.approx(K[np.ix_([0, 4], [0, 4])])
