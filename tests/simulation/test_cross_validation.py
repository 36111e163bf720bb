"""Cross-validation by the hat matrix is that by fitting again, and the theory has its errors."""

import numpy as np
import pytest

from giantstep.problems.losses import lookup_loss
from giantstep.problems.protocol import Protocol
from giantstep.questions.compare import compare
from giantstep.simulation.convex_readout import ConvexPath, leave_one_out
from giantstep.simulation.cross_validation import cross_validator
from giantstep.theory.optima import CROSS_VALIDATION, optimal_ridge
from giantstep.theory.readout.solve import readout_of

SIGN = Protocol("tanh", "sign", 3.0, alpha0=2.0, beta=1.0)


@pytest.mark.parametrize(("n", "p", "ridge"), [(60, 30, 1), (30, 60, 1), (60, 30, 0), (30, 60, 0)])
def test_what_is_left_out_is_predicted_as_by_fits_without_it(n, p, ridge):
    normal, rank = np.random.default_rng(0).standard_normal, 30 if ridge else 20
    features, labels = normal((n, rank)) @ normal((rank, p)), normal(n)
    one, _, folds = cross_validator("square", features, labels, folds=5)(ridge)

    def error(parts):
        total = 0.0
        for part in parts:
            kept = np.delete(np.arange(n), part)
            Phi, y = features[kept], labels[kept]
            readout = np.linalg.pinv(Phi.T @ Phi + ridge * np.eye(p), rcond=1e-12) @ Phi.T @ y
            total += np.sum((labels[part] - features[part] @ readout) ** 2)
        return total / n

    assert one == pytest.approx(error(np.arange(n)[:, None]), rel=1e-9)
    assert folds == pytest.approx(error(np.array_split(np.arange(n), 5)), rel=1e-9)


@pytest.mark.parametrize("name", ["huber:0.3", "hinge", "logistic"])
def test_a_newton_step_predicts_what_is_left_out_nearly_as_fits_without_it(name):
    rng, loss, exact = np.random.default_rng(0), lookup_loss(name), []
    features = rng.standard_normal((300, 225)) / 15
    labels = features @ rng.standard_normal(225) + 0.3 * rng.standard_normal(300)
    labels = np.sign(labels) if loss.margin else labels
    for index in range(0, 300, 15):
        path = ConvexPath(loss)
        path.extend(np.delete(features, index, axis=0), np.delete(labels, index))
        exact.append(features[index] @ path.fit(299)((0.3,)).readouts[0])
    found = leave_one_out(loss, features, labels, 0.3)[::15]
    assert np.linalg.norm(found - exact) < 0.2 * np.linalg.norm(exact)


@pytest.mark.parametrize(
    "loss", ["square", "huber", pytest.param("hinge", marks=pytest.mark.slow), "logistic"]
)
def test_networks_find_by_cross_validation_what_the_theory_has_for_any_loss(loss):
    noise = {"noise": 0.3} if loss in ("square", "huber") else {"label_flips": 0.1}
    step = Protocol("tanh", "sign", 2.0, alpha0=2.0, beta=1.0, **noise)
    found = compare(
        step, [0.7, 2], 0.5, loss=loss, dimension=150, networks=4, cross_validation=True
    ).sel(theory="finite")
    names = [name for name in CROSS_VALIDATION if name in found]
    assert ("gcv" in names) == (loss == "square")
    for name in names:
        assert np.abs(found[f"z_score_{name}"]).max() < 4
    for name in ("leave_one_out", "k_fold"):
        assert np.all(found[name] > found.test_error + 0.05)


@pytest.mark.parametrize(("loudness", "flips"), [(0.3, 0.0), (0.0, 0.1)])
def test_leaving_one_out_sees_the_noise_of_labels(loudness, flips):
    step = Protocol("tanh", "sign", 3.0, alpha0=2.0, beta=1.0, noise=loudness, label_flips=flips)
    at = readout_of(step).solve(np.array([0.5, 1.5]), np.array([0.1, 0.1]))
    kept = 1 - step.beta / np.array([0.5, 1.5]) * (1 - 0.1 * at.V2[:, 0])  # E 1/(1 + V)
    assert at.gcv == pytest.approx(at.training_error / kept**2, rel=1e-8)
    if loudness:
        assert at.leave_one_out == pytest.approx(at.test_error + loudness, rel=1e-12)
    else:
        assert np.all(at.leave_one_out > at.test_error)


def test_gcv_is_right_without_a_step_and_wrong_after_one():
    errors = []
    for rate in (0.0, 3.0):
        step = Protocol("tanh", "sign", rate, alpha0=2.0, beta=1.0, noise=0.1)
        at = readout_of(step).solve(np.array([1.0]), np.array([0.1]))
        errors.append(at.gcv / at.leave_one_out - 1)
    assert errors[0] == pytest.approx(0, abs=1e-9)
    assert errors[1] < -0.2
    gcv, folds, best = (
        optimal_ridge(SIGN, np.array([1.0]), by=by).solution.test_error
        for by in ("gcv", "k_fold", "test_error")
    )
    assert gcv > 1.1 * best
    assert best <= folds < 1.002 * best
