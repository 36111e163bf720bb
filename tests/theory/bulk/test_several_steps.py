"""The bulk after several steps: its overlaps against the isotropic ones and finite differences."""

import numpy as np
import pytest

from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.bulk.isotropic import IsotropicBulk
from giantstep.theory.bulk.several_steps import SteppedBulk
from giantstep.theory.conditional_features import conditional_features

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


def test_sources_are_minus_the_derivative_of_the_overlaps_by_the_hats():
    root = np.random.default_rng(3).standard_normal((3, 3))
    bulk, across = stepped(np.eye(3) + root @ root.T), np.array([[ACROSS]])
    z = np.array([ALONG[0, 0], ACROSS, ALONG[0, 1]])

    def squared(V1_hat, L):
        return z @ respond(bulk, V1_hat, L)[0].K[0] @ z

    step = 1e-6
    change = [
        squared(HATS + step, L) - squared(HATS - step, L),
        squared(HATS, L + step) - squared(HATS, L - step),
    ]
    response, T = respond(bulk, HATS, L)
    first, second = response.sources(ALONG, across)
    total = np.einsum("sij,sj->si", T, first) + second
    assert total[0] == pytest.approx(-np.array(change) / (2 * step), rel=1e-6)
