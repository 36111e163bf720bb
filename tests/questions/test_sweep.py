"""A sweep is the outer product of its parameters, and passes over what cannot be combined."""

import io
import math
import sys

import numpy as np
import pytest

import giantstep
from giantstep import InvalidParametersError, Protocol, SpikedFeatures, Status, progress
from giantstep.questions.choices import GAINS

PROTOCOL = Protocol("tanh", "sin", learning_rate=3, alpha0=2, beta=1)


def test_each_point_of_a_sweep_is_that_of_solve():
    readouts = [((1, 1),), ((1, 0.5), (-2, 0.5))]
    found = giantstep.sweep(
        PROTOCOL, alpha=np.array([1, 2]), readout=readouts, target=["sin", "sign"], beta=0.5
    )
    assert found.test_error.dims == ("alpha", "readout", "target")
    assert found.beta == 0.5
    for readout, label in zip(readouts, found.readout.values, strict=True):
        problem = Protocol("tanh", "sign", 3, 2, 0.5, readout=readout)
        one = giantstep.solve(problem, alpha=2)
        here = found.sel(alpha=2, readout=label, target="sign")
        for name in ("test_error", "classification_error", "residual"):
            np.testing.assert_allclose(here[name], one[name], rtol=1e-9, atol=1e-12)
        groups = here.V1.values[: len(readout), : len(readout)]
        np.testing.assert_allclose(np.squeeze(groups), one.V1, rtol=1e-9)


def test_answers_count_the_samples_of_all_steps_and_of_the_readout():
    swept = giantstep.sweep(PROTOCOL, alpha=[1, 3], alpha0=[0.5, math.inf], steps=[1, 4])
    total = swept.total_samples.transpose("alpha", "alpha0", "steps")
    np.testing.assert_allclose(total[:, 0], [[1.5, 3], [3.5, 5]])
    assert np.isinf(total[:, 1]).all()
    reused = Protocol("tanh", "sin", 3, alpha0=2, beta=1, steps=5, reuse_batch=True)
    small = {"dimension": 20, "networks": 1, "test_samples": 10}
    assert giantstep.simulate(reused, alpha=0.5, **small).total_samples == 2.5
    assert giantstep.compare(PROTOCOL, alpha=[1, 3], **small).total_samples.dims == ("alpha",)
    assert giantstep.solve(SpikedFeatures("tanh", "sin", 1, 1, 1, beta=1)).total_samples == 1


def test_parameters_that_vary_together_are_the_diagonal_of_all_their_combinations():
    budget = {"alpha0": [0.5, 1, 2], "alpha": [2.5, 2, 1], "ridge": [0.1, 1]}
    zipped = giantstep.sweep(PROTOCOL, **budget, zip=["alpha0", "alpha"], gains=GAINS[0])
    every = giantstep.sweep(PROTOCOL, **budget, gains=GAINS[0])
    assert zipped.test_error.dims == ("alpha0", "ridge")
    assert zipped.alpha.dims == ("alpha0",)
    np.testing.assert_array_equal(zipped.total_samples, 3)
    for alpha0, alpha in zip(budget["alpha0"], budget["alpha"], strict=True):
        one, other = zipped.sel(alpha0=alpha0), every.sel(alpha0=alpha0, alpha=alpha)
        for name in ("test_error", GAINS[0], "V1"):
            np.testing.assert_allclose(one[name], other[name], rtol=1e-9)
    for names in (["alpha0"], ["alpha0", "ridge"], ["alpha0", "beta"]):
        with pytest.raises(InvalidParametersError, match="zip = .* that have as many values each"):
            giantstep.sweep(PROTOCOL, **budget, zip=names)


def test_remarks_say_where_they_hold():
    doubtful = Protocol("tanh", "z1+z2+0.5*z1*z2", 1.28, alpha0=10.1, beta=1.71)
    budget = {"alpha": [0.25, 1, 2], "ridge": [1.6e-5, 1]}
    found = giantstep.sweep(doubtful, **budget, activation=["tanh", "erf"], dimension=200)
    assert "At 4 of 12 points (alpha 0.25 to 1, ridge 1.6e-05) the theory may" in found.remarks
    zipped = giantstep.sweep(doubtful, alpha=[0.25, 2], ridge=[1.6e-5, 1], zip=["alpha", "ridge"])
    assert "alpha 0.25: Here the theory may be off" in zipped.remarks


def test_reversed_signs_are_noise_on_smaller_labels():
    agreement, flips = 0.6, {"label_flips": 0.2}
    noise = {"noise": 1 / agreement**2 - 1}
    flipped, noisy = (
        giantstep.solve(Protocol("tanh", "sign", rate, 2, 1, **labels), bulk="isotropic")
        for rate, labels in ((3, flips), (3 * agreement, noise))
    )
    powers = {"zeta": 1, "psi": 1, "q1": 2, "training_error": 2, "classification_error": 0}
    for name, power in powers.items():
        np.testing.assert_allclose(flipped[name], agreement**power * noisy[name], rtol=1e-9)


def test_points_that_cannot_be_combined_have_a_status_and_a_reason():
    found = giantstep.sweep(
        PROTOCOL, inputs=["gaussian", "rademacher"], alpha0=[2, math.inf], ridge=[0, 0.1]
    )
    refused = found.status == Status.REFUSED
    assert refused.sel(inputs="rademacher", alpha0=math.inf).all()
    assert refused.sum() == 2
    assert "Refused: inputs = 'rademacher'" in found.attrs["remarks"]


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ({"learnin_rate": 1, "gamma": 1}, ["parameter", "parameter"]),
        (
            {"learning_rate": [-1, 1], "beta": 0, "alpha": [0, 1], "dimension": 1},
            ["alpha", "dimension", "learning_rate", "beta"],
        ),
        ({"beta": [], "alpha": []}, ["alpha", "beta"]),
        ({"inputs": "rademacher", "alpha0": math.inf}, ["inputs"]),
        ({"loss": ["square", "cubic"], "beta": 0}, ["loss", "beta"]),
    ],
)
def test_values_that_no_combination_can_have_are_refused_together(values, names):
    with pytest.raises(InvalidParametersError) as refused:
        giantstep.sweep(PROTOCOL, **values)
    assert sorted(fault.name for fault in refused.value.faults) == sorted(names)


def test_groups_of_neurons_are_one_value_and_flat_sequences_several():
    features = SpikedFeatures("tanh", "sin", 1.2, (0.5, 2), 0.8, 0.8, fraction=(0.5, 0.5))
    found = giantstep.sweep(features, bulk_variance=[1, 2], spike_strength=[(0.5, 2), (1, 1)])
    assert found.m.dims == ("bulk_variance", "spike_strength", "group")
    assert list(found.spike_strength.values) == ["0.5 2", "1 1"]
    one = giantstep.sweep(PROTOCOL, alpha=[1, 2], dimension=3, covariance=[3, 2, 1])
    assert one.test_error.dims == ("alpha",)


def test_gains_are_over_the_linear_predictor_of_each_target_and_over_the_same_without_a_step():
    values = {"target": ["sin", "tanh"], "bulk": ["isotropic", "trained"], "alpha": [1, 2]}
    found = giantstep.sweep(PROTOCOL, **values, gains=GAINS)
    linear = [
        giantstep.bounds(Protocol("tanh", t, 3, 2, 1)).best_linear_error for t in ("sin", "tanh")
    ]
    still = giantstep.sweep(PROTOCOL, **values, learning_rate=0)
    for at, error in zip(("sin", "tanh"), linear, strict=True):
        here = found.sel(target=at)
        np.testing.assert_allclose(here.gain_over_linear, 1 - here.test_error / error)
        np.testing.assert_allclose(
            here.gain_over_no_step, 1 - here.test_error / still.test_error.sel(target=at)
        )
        isotropic, trained = (here.test_error.sel(bulk=bulk) for bulk in values["bulk"])
        for bulk in values["bulk"]:
            deviation = here.isotropic_deviation.sel(bulk=bulk)
            np.testing.assert_allclose(deviation, isotropic / trained - 1)


def test_a_bar_shows_on_a_terminal_after_a_while_and_never_in_pipes(monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    for terminal in (True, False):
        stream = io.StringIO()
        stream.isatty = lambda terminal=terminal: terminal
        monkeypatch.setattr(sys, "stderr", stream)
        with progress.progress_bar() as report:
            report(0.5)
        assert (" 50%" in stream.getvalue()) == terminal


def test_what_features_given_directly_lack_is_refused_by_its_name():
    features = SpikedFeatures("tanh", "sin", 1.2, 1, alignment=0.5, beta=1)
    with pytest.raises(InvalidParametersError, match="bulk = .trained.: must be isotropic"):
        giantstep.sweep(features, gains="isotropic_deviation")
    with pytest.raises(InvalidParametersError, match="given directly; mixtures are for protocols"):
        giantstep.sweep(features, inputs="mixture:1")
