"""Ridge regression on given features, predicted from their leverages."""

import numpy as np
import pytest

import giantstep
from giantstep.cli.main import main

RIDGE = 0.1
WEIGHTS = np.random.default_rng(0).normal(size=(20, 60)) / 3


def draw(count, seed=0):
    """Draw features of a layer, and which of four classes each input is of."""
    inputs = np.random.default_rng(seed).normal(size=(count, 20))
    features = np.tanh(inputs @ WEIGHTS) / np.sqrt(60)
    return features, 2 * (inputs[:, 0] > 0) + (inputs[:, 1] + inputs[:, 2] * inputs[:, 3] > 0)


def refit(count, repeats=30):
    """Return the errors of fits on so many samples: on others, on their own, and in classes."""
    others, classes = draw(4000, seed=1)
    errors = []
    for seed in range(repeats):
        features, own = draw(count, seed=2 + seed)
        labels = np.eye(4)[own]
        gram = features.T @ features + RIDGE * np.eye(60)
        readout = np.linalg.solve(gram, features.T @ labels)
        squares = [
            np.sum((np.eye(4)[known] - each @ readout) ** 2, axis=1).mean()
            for each, known in ((others, classes), (features, own))
        ]
        errors.append([*squares, np.mean((others @ readout).argmax(axis=1) != classes)])
    return np.mean(errors, axis=0)


def test_curves_of_four_classes_are_those_of_fits_on_other_samples_and_on_more_of_them():
    features, classes = draw(600)
    found = giantstep.from_features(features, np.eye(4)[classes], [150, 600, 900], RIDGE)
    for count in 150, 600:
        errors, expected = found.sel(samples=count).to_array().values, refit(count)
        np.testing.assert_allclose(errors[:2], expected[:2], rtol=0.05)
        assert 0.88 < errors[2] / expected[2] < 1.08  # outputs are taken as independent
    more = found.sel(samples=900)[["test_error", "training_error"]].to_array()
    np.testing.assert_allclose(more, refit(900)[:2], rtol=0.07)
    assert np.isnan(found.classification_error.sel(samples=900))


def test_squared_errors_of_several_outputs_are_the_sum_of_those_of_each():
    features, classes = draw(200)
    labels = np.eye(4)[classes] + 0.5 * np.arange(4)
    together = giantstep.from_features(features, labels, 100, RIDGE)
    each = [giantstep.from_features(features, one, 100, RIDGE).test_error for one in labels.T]
    assert together.test_error == pytest.approx(sum(map(float, each)), rel=1e-3)
    assert "classification_error" not in together


def test_the_command_has_the_best_ridge_of_a_curve_up_to_half_as_many_samples_again(
    tmp_path, capsys
):
    features, classes = draw(200)
    np.save(tmp_path / "Phi.npy", features)
    np.save(tmp_path / "y.npy", np.where(classes > 1, 1, -1))
    files = [str(tmp_path / "Phi.npy"), str(tmp_path / "y.npy")]
    assert main(["features", *files, "--ridge", "optimal"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert [row.split(",")[0] for row in rows] == ["samples", "25", "50", "100", "200", "300"]
    assert main(["features", *files, "--samples", "500"]) == 2
    assert "a whole number from 1 to 400" in capsys.readouterr().err
