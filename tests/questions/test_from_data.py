"""Networks on given samples, and errors predicted from the features of these."""

import numpy as np
import pytest
import xarray as xr

import giantstep
from giantstep import Protocol
from giantstep.cli.main import main
from giantstep.problems.covariance import directions_of
from giantstep.problems.gaussian_model import gaussian_model
from giantstep.theory.readout.subsets import subset_errors

INDEX = np.arange(1, 61.0)
ERRORS = "test_error", "classification_error", "training_error"


def skewed_samples(count=500, d=30):
    """Draw correlated inputs that are far from Gaussian, and signs."""
    drawn = np.random.default_rng(0).exponential(size=(count, d))
    inputs = drawn * np.geomspace(3, 0.3, d)
    return inputs, np.sign((inputs - inputs.mean(axis=0)) @ np.ones(d))


def test_fits_on_subsets_have_the_errors_that_are_predicted_from_all_features():
    (inputs, labels), rng = skewed_samples(), np.random.default_rng(0)
    weights = rng.normal(size=(40, 30)) / 5 + 0.1  # with a spike
    features = np.tanh((inputs - inputs.mean(axis=0)) @ weights.T) / np.sqrt(40)
    for count, ridge in (25, 0.01), (60, 0.05), (300, 0.1):
        errors = []
        for _ in range(100):
            fit, rest = np.split(rng.permutation(len(labels)), [count])
            gram = features[fit].T @ features[fit] + ridge * np.eye(40)
            output = features @ np.linalg.solve(gram, features[fit].T @ labels[fit])
            squares, wrong = (labels - output) ** 2, labels * output < 0
            errors.append([squares[rest].mean(), squares[fit].mean(), wrong[rest].mean()])
        predicted = subset_errors(features, labels, count, ridge)
        np.testing.assert_allclose(predicted, np.mean(errors, axis=0), rtol=0.06, atol=0.002)


@pytest.mark.parametrize("names", [ERRORS, ERRORS[::2]])
def test_gaussian_samples_have_the_errors_of_the_gaussian_theory_whatever_their_units(names):
    rng, scales = np.random.default_rng(0), INDEX[:30] ** -0.2
    labels = rng.choice([-1.0, 1.0], 1500)
    inputs = (rng.normal(size=(1500, 30)) + 0.3 * labels[:, None]) * scales
    if names != ERRORS:
        inputs = rng.normal(size=(1500, 30)) * scales
        labels = np.tanh(inputs @ rng.normal(size=30) / 3) + 0.1 * rng.normal(size=1500)
    given = {"alpha0": 6, "alpha": 2, "ridge": 0.3, "networks": 3}
    found = giantstep.from_data(inputs, labels, **given)
    scaled = np.column_stack([7 * inputs + 3, np.ones(1500)])
    xr.testing.assert_allclose(giantstep.from_data(scaled, labels, **given), found, rtol=1e-6)
    for name in names:
        assert found[f"gaussian_{name}"] == pytest.approx(found[name].item(), rel=0.12)
    assert found.chi_2 < 0.1
    assert found.isotropic_test_error < found.gaussian_test_error


def test_the_model_of_samples_has_what_they_were_drawn_with():
    rng, weights = np.random.default_rng(0), INDEX**-1.0
    s = np.array(Protocol("tanh", "linear", 1, 1, 1, covariance=INDEX**-0.5).covariance)
    z = rng.normal(size=(20_000, 60))
    labels = 3 * z @ np.sqrt(weights / weights.sum()) + rng.normal(size=20_000)
    model = gaussian_model(Protocol("tanh", "linear", 1, 1, 1), z * np.sqrt(s), labels)
    found, powers = directions_of(model.covariance, 0)
    order = np.argsort(-found)
    np.testing.assert_allclose(found[order], s, rtol=0.1)
    np.testing.assert_allclose(powers[order][:5], (weights / weights.sum())[:5], rtol=0.2)
    assert model.noise == pytest.approx(1, rel=0.05)
    assert float(model.target.split(",")[1]) == pytest.approx(3, rel=0.03)


def test_a_step_and_one_fit_serve_several_outputs():
    inputs, _ = skewed_samples(1500)
    outputs = inputs @ np.random.default_rng(1).normal(size=(30, 3))
    labels = np.eye(3)[outputs.argmax(axis=1)]
    given = {"learning_rate": 2, "alpha0": 4, "beta": 1.5, "alpha": [1, 3], "networks": 5}
    found = giantstep.from_data(inputs, labels, **given)
    assert (abs(found.z_score_test_error) < 5).all()
    assert (abs(found.z_score_training_error) < 5).all()
    np.testing.assert_allclose(
        found.classification_error, found.simulated_classification_error_mean, rtol=0.2
    )
    assert "it is for one output" in found.remarks


def test_a_column_of_labels_is_a_vector_of_labels():
    inputs, labels = skewed_samples(400, 20)
    one, column = (giantstep.from_data(inputs, x, networks=1) for x in (labels, labels[:, None]))
    assert one.identical(column)
    assert {"classification_error", "gaussian_test_error"} <= {*column}


@pytest.mark.parametrize(
    ("samples", "options", "words"),
    [
        ((300, 20), {"activation": "relu"}, "is left out: activation = 'relu': must be odd"),
        ((60, 100), {"alpha": 0.1, "alpha0": 0.1}, "needs more samples"),
    ],
)
def test_where_there_is_no_gaussian_theory_its_reason_is_told(samples, options, words):
    rng = np.random.default_rng(0)
    inputs, labels = rng.normal(size=samples), rng.choice([-1, 1], samples[0])
    found = giantstep.from_data(inputs, labels, networks=1, **options)
    assert words in found.attrs["remarks"]
    assert "gaussian_test_error" not in found


def test_networks_have_the_errors_that_are_predicted_for_them_after_a_step():
    inputs, labels = skewed_samples(1500)
    found = giantstep.from_data(inputs, labels, "relu", 2, 4, 1.5, [1, 3], [0.1, 1], networks=5)
    for name in "test_error", "training_error", "classification_error":
        assert (abs(found[f"z_score_{name}"]) < 5).all()
        assert found[name].dims == ("alpha", "ridge")
    with_numbers = giantstep.from_data(inputs, 2 * labels, networks=1)
    assert "classification_error" not in with_numbers


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"X": np.ones((500, 30))}, "2 or more that are not constant"),
        ({"X": np.full((500, 30), np.nan)}, "nan in sample 1, column 1 (15000 entries"),
        (
            {"y": ["cat"] * 500},
            "(of two classes: +1 and -1), or a matrix of one-hot rows, all finite numbers",
        ),
        ({"y": np.ones(3)}, "as many as X has rows, 500"),
        ({"y": np.eye(40)[np.arange(500) % 40]}, "'40 columns': must be at most beta d = 30"),
        ({"alpha": 20}, "at least (alpha0 + alpha) d + 30 = 660"),
        ({"alpha0": np.inf, "ridge": 0, "networks": 0}, "alpha0 = inf"),
        ({"activation": "sign"}, "activation = 'sign'"),
    ],
)
def test_what_cannot_be_is_refused(change, words):
    inputs, labels = skewed_samples()
    with pytest.raises(giantstep.InvalidParametersError) as refused:
        giantstep.from_data(**{"X": inputs, "y": labels} | change)
    assert words in str(refused.value)


def test_ridge_regression_on_the_inputs_is_beside_the_networks():
    inputs, labels = skewed_samples(400, 20)
    found = giantstep.from_data(inputs, labels, alpha0=0, alpha=[2, 5], ridge=0.3, networks=1)
    raw = (inputs - inputs.mean(axis=0)) / np.sqrt(20 * inputs.var(axis=0).mean())
    here = [found[f"linear_{name}"].sel(alpha=5) for name in ERRORS[:2]]
    np.testing.assert_allclose(here, subset_errors(raw, labels, 100, 0.3)[[0, 2]], rtol=1e-6)
    assert "on labels as given" in found.test_error.attrs["long_name"]
    assert found.test_error.attrs["equation"] == "docs/data.md"


def test_several_steps_and_the_best_ridge_of_each():
    inputs, labels = skewed_samples(400, 20)
    both = giantstep.from_data(inputs, labels, alpha0=[0, 2], ridge="optimal", networks=2)
    assert both.test_error.dims == both.ridge.dims == ("alpha0",)
    assert "on labels as given" in both.test_error.attrs["long_name"]
    for near in (0.3, 3):
        given = {"alpha0": 2, "ridge": near * both.ridge.sel(alpha0=2).item(), "networks": 2}
        other = giantstep.from_data(inputs, labels, **given)
        assert other.test_error > both.test_error.sel(alpha0=2)


def test_classes_of_other_names_are_told_how_to_be_classes():
    inputs, labels = skewed_samples(200, 10)
    given = {"networks": 1, "alpha0": 0}
    counted = giantstep.from_data(inputs, (labels + 1) / 2, **given)
    assert "Labels are taken as numbers" in counted.remarks
    halves = giantstep.from_data(inputs, np.where(labels > 0, 3.5, 1.25), **given)
    assert "Labels are taken as numbers" in halves.remarks
    assert "Labels are" not in giantstep.from_data(inputs, labels, **given).remarks


def test_the_command_reads_files_and_compares_steps(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    inputs, labels = skewed_samples(200, 10)
    np.save("X.npy", inputs)
    np.save("y.npy", labels)
    np.savetxt("X.csv", inputs, delimiter=",", header=",".join("abcdefghij"), comments="")
    np.savetxt("y.csv", labels)
    told = [main(f"data X.{x} y.{x} --networks 1 --format table".split()) for x in ("npy", "csv")]
    lines = capsys.readouterr().out.splitlines()
    saved = lines[: len(lines) // 2]
    assert (told, 2 * saved) == ([0, 0], lines)
    assert {"linear_test_error", "classification_error"} <= {*" ".join(saved).split()}
    for name, text in ("t.npy", "1 2 3"), ("t.csv", "1;2"), ("empty.csv", ""), ("i.csv", "0,1,2"):
        (tmp_path / name).write_text(text)
        assert main(["data", name, "y.npy"]) == 2
    assert main("data X.npy y.npy --alpha 50".split()) == 2
    assert main("data X.npy y.npy --max-hours 1e-9".split()) == 2
    said = capsys.readouterr().err
    assert said.count(" is neither a file of numpy.save (.npy) nor a table of numbers") == 3
    assert "i.csv begins with numbers of its rows or columns" in said
    assert "X 200 rows: must be" in said
    assert "allowed with --max-hours" in said
