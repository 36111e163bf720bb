"""Steps by signs, against networks and against matrices of actual batches."""

import math

import numpy as np
import pytest
from networks import first_layers
from numpy.random import default_rng
from scipy.special import erf

import giantstep
from giantstep.problems.protocol import OPTIMIZER, Protocol
from giantstep.theory.first_layer.equivalent_features import equivalent_features
from giantstep.theory.first_layer.layer import layer_of
from giantstep.theory.first_layer.odd_step import OddStep
from giantstep.theory.first_layer.sign_rows import SignRows
from giantstep.theory.first_layer.signs import OddSigns, Signs
from giantstep.validation import InvalidParametersError

SIGNS = Protocol("tanh", "sin", 1, alpha0=4, beta=0.5, optimizer="sign")


def at(alpha0, **others):
    return Protocol("tanh", "sin", 1, alpha0=alpha0, beta=0.5, **others)


def test_signs_align_less_and_less_than_the_gradient():
    problems = [at(alpha0, optimizer="sign") for alpha0 in (1, 4, 16, math.inf)]
    overlaps = [equivalent_features(problem).first_alignment for problem in problems]
    assert overlaps == pytest.approx([0.6146, 0.7693, 0.8138, math.sqrt(2 / math.pi)], abs=1e-4)


@pytest.mark.parametrize("letters", [((1, 1),), ((1, 0.5), (-2, 0.25), (0, 0.25))])
def test_networks_have_the_spike_and_the_norms_of_the_theory(letters):
    problem = at(4, optimizer="sign", readout=letters)
    (layer,) = first_layers(problem, 500)
    srf = equivalent_features(problem)
    assert layer.spike @ layer.directions[0] == pytest.approx(srf.first_alignment, abs=0.04)
    bulk = layer.weights - np.outer(layer.strengths, layer.spike)
    for group, (c, u) in enumerate(zip(srf.groups.c, srf.groups.u, strict=True)):
        chosen = layer.member == group
        assert layer.strengths[chosen].mean() == pytest.approx(u, abs=0.08)
        assert np.sum(bulk[chosen] ** 2, axis=1).mean() == pytest.approx(c, rel=0.08)


def test_signs_of_the_population_gradient_differ_between_neurons_at_finite_dimension():
    problem = Protocol("tanh", "sin", 8, alpha0=math.inf, beta=1, optimizer="sign")
    norms = [np.var(layer.weights, axis=0).sum() for layer in first_layers(problem, 400, 8)]
    assert np.mean(norms) == pytest.approx(equivalent_features(problem, 400).groups.c[0], rel=0.15)


@pytest.mark.slow
def test_rows_after_signs_have_the_covariance_of_actual_batches():
    d, e = 300, 2.0
    batch = OddStep(layer_of(SIGNS).protocol)
    k = math.sqrt(2 / math.pi * e**2 / (batch.tau * batch.label_power) - 1)
    rows, state = layer_of(SIGNS).rows_in_limit
    t, measured = np.array([0.2, 1, 5]), []
    for seed in range(4):
        rng = default_rng(seed)
        theta, x = rng.standard_normal(d), rng.standard_normal((4 * d, d))
        theta /= np.linalg.norm(theta)
        y = np.sin(x @ theta)
        gradient = x.T @ y / len(y)
        gradient /= np.linalg.norm(gradient)
        z = k * math.sqrt(d) * gradient
        D, mean = e * math.sqrt(2 / math.pi) * np.exp(-(z**2) / 2), erf(z / math.sqrt(2))
        C = D[:, None] * (x.T * y**2 @ x / np.sum(y**2)) * D
        C += np.diag(1 + e**2 * (1 - mean**2) - D**2)
        v = mean / np.linalg.norm(mean)
        u = theta - (theta @ v) * v
        norms = 2 * batch.norm_coupling * gradient - 2 * state.spike_strength * (C @ v - v)
        vectors = np.stack([v, u / np.linalg.norm(u), norms / state.bulk_variance])
        inverses = [np.linalg.inv(np.eye(d) + s * C) for s in t]
        forms = [[np.trace(R) / d, *(vectors @ R @ vectors.T).ravel()] for R in inverses]
        measured.append(forms)
    forms = rows.forms(t).resolvent.reshape(t.size, -1)
    predicted = np.column_stack([rows.traces(t).f, forms])
    assert np.mean(measured, axis=0) == pytest.approx(predicted, rel=0.04, abs=0.03)


@pytest.mark.parametrize("noise", [0.0, 0.4])
def test_along_spike_and_target_rows_of_odd_activations_have_the_covariance_in_closed_form(noise):
    problem = at(2, optimizer="sign", noise=noise)
    layer = layer_of(problem)
    found, expected = (kind.rows_in_limit.func(layer) for kind in (Signs, OddSigns))
    covariances = (state.covariance[:2, :2] for _, state in (found, expected))
    assert np.subtract(*covariances) == pytest.approx(np.zeros((2, 2)), abs=1e-8)


def test_rows_of_relu_networks_have_the_covariance_after_signs():
    problem = Protocol("relu", "0.5*(z*z-1)+z", 0.65, alpha0=6, beta=0.6, optimizer="sign")
    (layer,) = first_layers(problem, 800)
    spike = layer.weights.mean(axis=0, dtype=float)
    v = spike / np.linalg.norm(spike)
    across = layer.directions[0] - (layer.directions[0] @ v) * v
    projections = layer.weights @ np.stack([v, across / np.linalg.norm(across)]).T
    _, state = layer_of(problem).rows_in_limit
    assert 800 * np.cov(projections.T) == pytest.approx(state.covariance[:2, :2], abs=0.35)


def test_averages_over_the_entries_resolve_them():
    batch = OddStep(layer_of(SIGNS).protocol)
    t = np.array([0.5, 3.0])
    coarse, fine = (SignRows(batch, 2, fineness).functions()[0] for fineness in (1, 2))
    assert coarse.forms(t).resolvent == pytest.approx(fine.forms(t).resolvent, rel=1e-9)


@pytest.mark.parametrize("question", [giantstep.solve, giantstep.simulate])
def test_an_optimizer_that_no_layer_takes_is_refused(monkeypatch, question):
    monkeypatch.setitem(OPTIMIZER.domain._known, "momentum", "momentum")
    with pytest.raises(InvalidParametersError, match="optimizer = 'momentum': must be sgd"):
        question(at(4, optimizer="momentum"), dimension=20)


def test_what_is_not_known_of_other_optimizers_is_refused_or_remarked():
    with pytest.raises(InvalidParametersError, match="only the first is known"):
        giantstep.solve(at(4, optimizer="sign", steps=2))
    with pytest.raises(InvalidParametersError, match="isotropic for the spectrum after a step"):
        giantstep.spectrum(SIGNS, alpha=2)
    relu = Protocol("relu", "sin", 1, alpha0=4, beta=0.5, optimizer="sign")
    assert "beyond spike and target" in layer_of(relu).remarks("trained")[0]
    assert "in the median" in layer_of(SIGNS).remarks("trained")[0]
