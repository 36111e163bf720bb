"""Answers are labelled, survive a file, and tell all that is wrong with a question."""

import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

import giantstep
from giantstep import InvalidParametersError, Protocol, SpikedFeatures, Status
from giantstep.numerics.function_table import FUNCTIONS
from giantstep.problems.bulk_kind import BULKS
from giantstep.problems.grid import Grid
from giantstep.problems.inputs import INPUTS
from giantstep.problems.losses import LOSSES
from giantstep.theory.readout.solve import solve

PROTOCOL = Protocol("tanh", "sign", learning_rate=3, alpha0=2, beta=1)
SMOOTH = Protocol("tanh", "sin", learning_rate=3, alpha0=2, beta=1)
GROUPS = SpikedFeatures("relu", "sin", (1.2, 2), (0.5, 2), 0.8, 0.8, fraction=(0.5, 0.5))
SMALL = {"dimension": 40, "networks": 2, "test_samples": 100}
ANSWERS = {
    "solve": lambda: giantstep.solve(GROUPS, [0.5, 1]),
    "another loss": lambda: giantstep.solve(SMOOTH, loss="huber"),
    "optimal": lambda: giantstep.solve(PROTOCOL, [0.5, 2], "optimal", dimension=500),
    "simulate": lambda: giantstep.simulate(PROTOCOL, 1, [0.1, 1], **SMALL),
    "compare": lambda: giantstep.compare(PROTOCOL, 1, [0.1, 1], **SMALL),
    "bounds": lambda: giantstep.bounds(SMOOTH),
    "spectrum": lambda: giantstep.spectrum(SMOOTH, 2, points=20),
    "learned_function": lambda: giantstep.learned_function(PROTOCOL, [1, 2], s=[0, 1]),
}


@pytest.mark.parametrize("question", ANSWERS)
def test_an_answer_is_labelled_and_survives_a_file(question, tmp_path):
    answer = ANSWERS[question]()
    for variable in answer.variables.values():
        assert {"long_name", "units", "symbol", "equation"} <= set(variable.attrs)
    answer.to_netcdf(tmp_path / "answer.nc")
    xr.testing.assert_identical(xr.load_dataset(tmp_path / "answer.nc"), answer)
    assert len(answer.to_dataframe()) > 0 if answer.dims else answer.to_array().size
    assert max(map(len, repr(answer).splitlines())) < 200


def test_an_answer_holds_the_numbers_of_the_theory_in_the_dimensions_that_vary():
    alpha, ridge = (0.5, 1.0, 2.0), (0.01, 0.1)
    bare = solve(PROTOCOL, Grid(alpha, ridge), "trained", 500)
    asked = {"bulk": "trained", "dimension": 500}
    both = giantstep.solve(PROTOCOL, np.array(alpha), ridge, **asked)
    np.testing.assert_array_equal(both.test_error, bare.test_error)
    np.testing.assert_array_equal(both.V1, bare.V1[..., 0, 0])
    assert both.test_error.dims == ("alpha", "ridge")
    one = giantstep.solve(PROTOCOL, 1, 0.1, **asked)
    assert one.test_error.dims == ()
    assert one.alpha == 1
    np.testing.assert_allclose(one.test_error, both.test_error.sel(alpha=1, ridge=0.1), rtol=1e-9)
    assert giantstep.solve(GROUPS, alpha).q1.dims == ("alpha", "group", "other_group")


def test_each_change_that_is_advised_resolves_a_point():
    step = Protocol("tanh(3*z)", "z1+z1*z2*z3", 0.242, alpha0=0.1, beta=1)
    found = giantstep.solve(step, 0.5, 0.01)
    assert found.status == Status.UNRESOLVED
    assert found.remarks.startswith("Here: unresolved. ")
    for name, value in {"learning_rate": 0.1, "alpha0": 0.4, "beta": 2}.items():
        assert name.replace("_", " ") in found.remarks
        other = giantstep.solve(replace(step, **{name: value}), 0.5, 0.01)
        assert other.status == Status.CONVERGED
    assert giantstep.solve(step, 0.5, 1.0).status == Status.CONVERGED


@pytest.mark.slow
def test_spectra_say_where_networks_may_end_elsewhere():
    step, letters = Protocol("tanh", "sin", 3, alpha0=1, beta=1), ((-1, 0.5), (1, 0.5))
    remarks = [
        giantstep.spectrum(replace(step, **changed), points=8).attrs.get("remarks", "")
        for changed in ({}, {"target": "z+0.15*z**3"}, {"readout": letters})
    ]
    assert not remarks[0]
    assert remarks[1].startswith("Labels have heavier tails")
    assert remarks[2].startswith("The trained bulk leaves out how norms of rows fluctuate")
    assert "\nThe bulk of networks may end elsewhere" in remarks[2]


@pytest.mark.parametrize("alpha", [range(1, 3), np.array([1, 2]), xr.DataArray([1, 2]), (1, 2)])
def test_numbers_of_any_kind_serve(alpha):
    found = giantstep.solve(SMOOTH, alpha, np.float32(0.5), dimension=np.int64(100))
    assert found.test_error.dims == ("alpha",)
    np.testing.assert_allclose(found.alpha, [1, 2])
    whole = {"dimension": 4e1, "networks": 2.0, "test_samples": 1e2}
    assert giantstep.simulate(SMOOTH, alpha, **whole).equals(
        giantstep.simulate(SMOOTH, alpha, **SMALL)
    )


def test_the_function_learned_at_the_best_ridge_is_that_at_its_number():
    best = giantstep.learned_function(SMOOTH, [1, 2], "optimal", s=1.0)
    ridge = best.ridge.sel(alpha=2).item()
    one = giantstep.learned_function(SMOOTH, 2, ridge, s=1.0).learned_function
    np.testing.assert_allclose(best.learned_function.sel(alpha=2), one, rtol=1e-9)


@pytest.mark.parametrize(
    ("ask", "names"),
    [
        (
            lambda: giantstep.solve(PROTOCOL, [-1, 1], "much", bulk="hard", dimension=1),
            ["ridge", "bulk", "dimension"],
        ),
        (lambda: giantstep.solve(PROTOCOL, [[1]], -1, loss="cubic"), ["alpha"]),
        (
            lambda: giantstep.simulate(PROTOCOL, 0, 0.1, dimension=1.5, networks=0, seed=-1),
            ["alpha", "dimension", "networks", "seed"],
        ),
        (lambda: giantstep.spectrum(GROUPS, 0, points=1, bulk="trained"), ["alpha", "points"]),
        (lambda: giantstep.solve("tanh"), ["problem"]),
    ],
)
def test_all_faults_of_a_question_are_told_at_once(ask, names):
    with pytest.raises(InvalidParametersError) as refused:
        ask()
    assert set(names) <= {fault.name for fault in refused.value.faults}


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: Protocol("tahn", "sin", 3, 2, 1), "did you mean tanh?"),
        (lambda: Protocol("tanh", "sin", [1, 3], 2, 1), "must be one number for one step"),
        (lambda: giantstep.solve(PROTOCOL, alhpa=2), "did you mean alpha?"),
        (lambda: giantstep.optimise(PROTOCOL, "rigde"), "did you mean ridge?"),
        (lambda: giantstep.solve(PROTOCOL, ridge="best"), "from 0 to 1e+15 or optimal or"),
    ],
)
def test_what_was_probably_meant_is_said(ask, words):
    with pytest.raises((InvalidParametersError, TypeError), match=re.escape(words)):
        ask()


def test_several_values_are_a_dimension_of_any_question():
    sizes = SMALL | {"dimension": [40, 50], "trainings": [1]}
    both = giantstep.simulate(PROTOCOL, [1, 2], **sizes)
    assert both.test_error.dims == ("dimension", "trainings", "alpha")
    one = giantstep.simulate(PROTOCOL, [1, 2], **SMALL | {"dimension": 50})
    np.testing.assert_array_equal(both.test_error.sel(dimension=50, trainings=1), one.test_error)
    theory = giantstep.solve(PROTOCOL, dimension=[90, 500], bulk=["isotropic"])
    assert theory.test_error.sel(dimension=90, bulk="isotropic") == pytest.approx(
        giantstep.solve(PROTOCOL, dimension=90, bulk="isotropic").test_error.item(), rel=1e-9
    )
    beside = giantstep.simulate(PROTOCOL, [1, 2], **SMALL, beta=[1, 2], noise=0.1)
    other = giantstep.simulate(replace(PROTOCOL, beta=2, noise=0.1), [1, 2], **SMALL)
    np.testing.assert_array_equal(beside.test_error.sel(beta=2), other.test_error)
    with pytest.raises(InvalidParametersError, match="dimension = .*at least one value"):
        giantstep.simulate(PROTOCOL, **SMALL | {"dimension": []})


def test_theory_of_other_inputs_says_that_it_does_not_depend_on_them():
    other = Protocol("tanh", "sin", 3, alpha0=2, beta=1, inputs="student_t:3")
    theories = [ask(other) for ask in (giantstep.solve, giantstep.bounds)]
    theories.append(giantstep.sweep(SMOOTH, inputs=["gaussian", "student_t:3"]))
    for theory in theories:
        assert "same for all inputs. That it holds for student_t:3" in theory.remarks
    assert "all inputs" not in giantstep.simulate(other, **SMALL).attrs.get("remarks", "")


def test_the_public_names_are_listed_with_examples_and_loaded_on_demand():
    assert set(giantstep.__all__) <= set(dir(giantstep))
    assert all(">>> " in getattr(giantstep, name).__doc__ for name in giantstep.__all__)
    code = "import sys, giantstep; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_theory_and_networks_are_compared_at_the_same_points():
    asked = {"alpha": [1, 2], "ridge": 0.1}
    found = giantstep.compare(PROTOCOL, **asked, **SMALL, bulk=["isotropic", "trained"])
    networks = giantstep.simulate(PROTOCOL, **asked, **SMALL)
    np.testing.assert_array_equal(found.simulated_test_error_mean, networks.test_error)
    for which, dimension in (("limit", np.inf), ("finite", 40)):
        theory = giantstep.solve(PROTOCOL, **asked, bulk="trained", dimension=dimension)
        at = found.sel(theory=which, bulk="trained")
        for name in ("test_error", "classification_error"):
            np.testing.assert_array_equal(at[name], theory[name])
            z = (networks[name] - theory[name]) / networks[f"{name}_stderr"]
            np.testing.assert_allclose(at[f"z_score_{name}"], z)


@pytest.mark.parametrize("names", [FUNCTIONS, LOSSES, INPUTS, BULKS])
def test_the_help_of_the_package_names_all_that_a_problem_may_be_made_of(names):
    text = giantstep.__doc__.replace("he1 to he5", "he1 he2 he3 he4 he5")
    assert set(names) <= set(re.findall(r"\w+", text))
