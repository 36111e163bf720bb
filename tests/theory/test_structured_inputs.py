"""Inputs with a covariance: docs/theory/structured-inputs.md."""

import math
from dataclasses import replace

import numpy as np
import pytest

import giantstep
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.theory.bounds import bounds
from giantstep.theory.first_layer.anisotropic_rows import AnisotropicRows
from giantstep.theory.first_layer.equivalent_features import equivalent_features
from giantstep.theory.first_layer.odd_step import OddStep
from giantstep.theory.readout.solve import solve
from giantstep.validation import InvalidParametersError

PROBLEM = Protocol("tanh", "sign", 1, alpha0=1, beta=1, covariance="two_level:8,0.2")
# Reference values of the page: eigenvalues of d = 200, as d -> infinity.
INDEX = np.arange(1, 201.0)
B = Protocol(
    "erf", "tanh", 1, 2, 0.7, noise=0.1, covariance=INDEX**-0.5, target_decay=1
), (1.5, 0.02)  # fmt: skip
LEADING = INDEX <= 40
WEIGHTS = np.where(LEADING, 1 / 80, 1 / 320)
A = Protocol(
    "tanh", "sign", 1, 1, 1, covariance=np.column_stack([np.where(LEADING, 8, 1), WEIGHTS])
), (2.0, 0.1)  # fmt: skip
C = Protocol("tanh", "sign", 0.1, 2, 1, covariance=INDEX**-1, target_decay=2), (2.0, 0.1)


@pytest.mark.parametrize("bulk", ["isotropic", "trained"])
@pytest.mark.parametrize("dimension", [math.inf, 300])
@pytest.mark.parametrize(("target", "alpha0"), [("sign", 1), ("relu", 0.5), ("tanh", math.inf)])
def test_a_flat_spectrum_is_the_identity(target, alpha0, dimension, bulk):
    plain = Protocol("tanh", target, 1, alpha0, beta=1)
    same, flat = (
        solve(one, Grid((0.5, 2.0), (0.01, 0.1)), bulk, dimension)
        for one in (plain, replace(plain, covariance="power:0"))
    )
    for name in ("test_error", "training_error", "m", "q1", "q2", "V1", "V2"):
        np.testing.assert_allclose(getattr(flat, name), getattr(same, name), rtol=1e-9)


@pytest.mark.parametrize(("noise", "alpha0"), [(1, 0.1), (0.1, 1)])
def test_label_noise_after_a_small_batch_is_resolved(noise, alpha0):
    plain = Protocol("erf", "relu", 2, alpha0, 0.9, noise=noise)
    one, other = (
        solve(replace(plain, covariance=name), Grid((0.5,), (0.01,)), "trained").test_error
        for name in ("identity", "power:0")
    )
    np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize(
    ("reference", "bulk", "expected"),
    [
        (A, "isotropic", (0.67747255, 0.30349703, 0.92862286, -0.25080374, 0.69248650)),
        (B, "isotropic", (0.24678507, 0.10921039, 0.71465718, -0.58454328, 0.54902892)),
        (C, "isotropic", (0.31944222, 0.13868137, 0.98695852, 0.76810099, 0.74942002)),
        (C, "trained", (0.31612577, 0.13714436, 0.93162192, 0.63056182, 0.75345406)),
    ],
)
def test_reference_values(reference, bulk, expected):
    problem, (alpha, ridge) = reference
    at = solve(problem, Grid((alpha,), (ridge,)), bulk)
    names = ("test_error", "training_error", "m", "zeta", "psi")
    assert [getattr(at, name).item() for name in names] == pytest.approx(expected, abs=2e-8)


@pytest.mark.parametrize("suffix", ["npy", "csv"])
def test_eigenvalues_and_weights_are_read_from_a_file(tmp_path, suffix):
    (problem, _), path = A, tmp_path / f"spectrum.{suffix}"
    table = np.array(problem.covariance) * [8, 1]
    np.save(path, table) if suffix == "npy" else np.savetxt(path, table, delimiter=",")
    found = replace(problem, covariance=str(path))
    for of in ("test_error", "m"):
        same = giantstep.solve(found)[of] / giantstep.solve(problem)[of]
        assert same.item() == pytest.approx(1, rel=1e-12)
    swept = giantstep.sweep(found, covariance=[str(path), "power:0.3"])
    assert list(swept.covariance.values) == [str(path), "power:0.3"]


def test_errors_at_finite_dimension_are_continuous_where_the_activation_loses_its_slope():
    problem = Protocol("z**3-3*z", "sin", 5, alpha0=0.5, beta=0.5, covariance=[8.0] + [1.0] * 99)
    near = replace(problem, activation="z**3-2.99999*z")
    one, other = (giantstep.solve(of, 1, 0.1, dimension=100).test_error for of in (problem, near))
    assert one.item() == pytest.approx(other.item(), rel=1e-4)


def test_traces_and_forms_are_those_of_a_batch():
    rng, d = np.random.default_rng(0), 600
    problem = replace(PROBLEM, learning_rate=3, target_decay=0.5).with_giant_step(d)
    step = OddStep(problem)
    s, t = step.eigenvalues, np.sqrt(step.weights)
    z = rng.standard_normal((d, d))
    y = np.sign(z @ t)
    inputs = z * s
    D = np.diag(s) + step.tau / d * (inputs.T * y**2) @ inputs
    v = y @ inputs / d
    D += step.norm_couplings()[2] * np.outer(v, v)
    v /= np.linalg.norm(v)
    gamma = v @ t
    across = (t - gamma * v) / np.sqrt(1 - gamma**2)
    at = 0.7
    Q = np.linalg.inv(np.eye(d) + at * D)
    forms = [x @ Q @ w for x, w in ((v, v), (v, across), (across, across))]
    rows = AnisotropicRows(OddStep(problem), trained=True)
    f, phi, vv, vt, _, tt, *_ = rows.columns(np.array([at]))[0]
    assert [f, phi] == pytest.approx([np.trace(Q) / d, np.trace(D @ Q) / d], rel=0.01)
    assert [vv, vt, tt] == pytest.approx(forms, abs=0.03)


def test_no_batch_turns_the_spike_to_the_target():
    problem = replace(PROBLEM, alpha0=math.inf, target_decay=1).with_giant_step(400)
    s, t2 = OddStep(problem).eigenvalues, OddStep(problem).weights
    assert equivalent_features(problem).alignment == pytest.approx(t2 @ s / np.sqrt(t2 @ s**2))


def test_errors_approach_the_lower_bound():
    problem = replace(PROBLEM, covariance="power:0.3", target_decay=1)
    wide = replace(problem, learning_rate=1e4, beta=1e4)
    error = solve(wide, Grid((1e4,), (50.0,))).test_error.item()
    bound = bounds(problem).lower
    assert bound < error < 1.01 * bound


def test_leading_directions_make_the_theory_pessimistic():
    remarks = []
    for covariance in ("power:0.3", "power:1"):
        problem = replace(C[0], covariance=covariance)
        answer = giantstep.solve(problem, alpha=2, ridge=0.02, dimension=400)
        chi = max(answer.chi_2, answer.chi_3, answer.chi_rows)
        remarks.append("pessimistic" in answer.attrs.get("remarks", ""))
        assert remarks[-1] == (chi > 0.3)
    assert remarks == [False, True]
    assert "chi_2" not in giantstep.solve(Protocol("tanh", "sign", 1, 1, 1))
    nearly = giantstep.solve(problem, alpha=2, ridge=0.02, dimension=400, loss="huber:100")
    for name in "chi_2", "chi_3", "chi_rows":
        assert nearly[name] == pytest.approx(answer[name].item(), rel=1e-6)
    best = giantstep.optimise(problem, "ridge", alpha=2, dimension=400)
    assert "pessimistic" in best.attrs["remarks"]


def test_bounds_skip_rates_at_which_rows_are_too_long():
    steep = giantstep.bounds(replace(PROBLEM, covariance="power:1", target_decay=1))
    assert steep.lower_bound_best_learning_rate <= steep.lower_bound


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"steps": 2, "activation": "relu"},
            "activation = .relu.: must be odd in theory.*\n.*1 in",
        ),
        ({"readout": ((1, 0.5), (-1, 0.5))}, "readout .* must be 1 for all neurons"),
        ({"inputs": "uniform"}, "inputs = 'uniform': must be gaussian or mixture:M where inputs"),
        ({"covariance": "power:9"}, "covariance = 'power:9': must be one of identity, power:A"),
        ({"covariance": [1, -1]}, "or 2 to 20000 eigenvalues > 0"),
        (
            {"covariance": "none.csv"},
            "covariance = 'none.csv': must be a file of 2 to 20000 eigen.*No such file.*none.csv",
        ),
        ({"covariance": [[2, 1], [1, 0]], "target_decay": 1}, "= 1.0: must be 0 where"),
        ({"target_decay": [1, 2]}, "target_decay .* must be a number from 0"),
        ({"covariance": [1, 2]}, "dimension = 100: must be 2, as many as eigenvalues"),
    ],
)
def test_what_is_not_known_is_refused(changed, message):
    with pytest.raises(InvalidParametersError, match=message):
        giantstep.solve(replace(PROBLEM, **changed), dimension=100)


def test_questions_that_do_not_cover_a_covariance_are_refused():
    refusals = [
        lambda: giantstep.spectrum(PROBLEM),
        lambda: giantstep.solve(PROBLEM, loss="gradient_flow"),
        lambda: giantstep.simulate(replace(PROBLEM, alpha0=math.inf), dimension=100),
    ]
    for refused in refusals:
        with pytest.raises(InvalidParametersError, match="covariance"):
            refused()


def test_covariances_are_an_axis_of_sweeps():
    table = giantstep.sweep(PROBLEM, covariance=["identity", "power:0.3"], alpha=[1, 2])
    assert table.test_error.dims == ("covariance", "alpha")
    alone = giantstep.solve(replace(PROBLEM, covariance="power:0.3"), alpha=[1, 2])
    np.testing.assert_array_equal(table.test_error.sel(covariance="power:0.3"), alone.test_error)
