"""Answers to a view are what the library says, and end where nothing can be solved."""

import numpy as np
import pytest

pytest.importorskip("bokeh")

from giantstep import sweep
from giantstep.explore.answers import answer
from giantstep.explore.plots.of_view import make_plot
from giantstep.explore.presets import PRESETS
from giantstep.explore.session import certificate
from giantstep.explore.view import from_address

QUICK = "bulk=isotropic"


def answered(query):
    view, faults = from_address(query)
    assert not faults
    said = []
    answer(view, lambda one: said.append(one) if one else None)
    assert [one["done"] for one in said if "remarks" not in one].count(True) == 1
    assert said[-1]["done"]
    return view, said


def test_the_example_of_a_staircase_gains_with_each_step_below_the_best_linear_predictor():
    _, said = answered(PRESETS["A staircase"])
    errors = said[-1]["curves"][0]["test_error"]
    assert np.all(np.diff(errors) < 0)
    assert errors[-1] < 0.8 * said[-1]["limits"]["best_linear"][0]


def test_a_limit_that_is_far_from_large_networks_is_remarked():
    said = answered("covariance=power:0.45")[1]
    assert "from d = 310 on" in certificate(said[-1])


def test_the_error_of_a_classifier_is_shown_and_minimised():
    view, said = answered(f"by=classification_error&ridge=optimal&x=steps&stop=2&{QUICK}")
    (curve,) = said[-1]["curves"]
    given = {"alpha": 2, "steps": [1, 2], "ridge": "optimal", "by": "classification_error"}
    expected = sweep(view.question.problem, bulk="isotropic", **given)
    for name in ("classification_error", "ridge"):
        np.testing.assert_allclose(curve[name], expected[name], rtol=1e-6)
    plot = make_plot(view, "light")
    plot.update(view, said[-1])
    (source,) = plot.sources.values()
    np.testing.assert_array_equal(
        source.data["classification_error"], curve["classification_error"]
    )


def test_a_map_shows_something_at_once_and_then_more():
    axes = "across=steps&up=ridge&colour=gain_over_linear"
    view, said = answered(f"tab=map&target=sin&{axes}&{QUICK}")
    shown = [one for one in said if np.isfinite(one["values"]).all()]
    shapes = dict.fromkeys(one["values"].shape for one in shown)
    assert list(shapes) == [(5, 8), (9, 8), (33, 8)]
    plot = make_plot(view, "light")
    for one in shown:
        plot.update(view, one)
    assert plot.lines.data["xs"]
    assert np.isfinite(plot.image.data["image"][0]).all()


def test_points_without_a_solution_are_gaps_with_advice():
    view, said = answered("target=sin&x=noise&start=0&stop=1e12&ridge=0")
    plot = make_plot(view, "light")
    plot.update(view, said[-1])
    assert "without a solution" in certificate(said[-1])
    assert len(plot.failures.data["x"]) > 100
    assert all(plot.failures.data["advice"])
    (source,) = plot.sources.values()
    assert np.isnan(source.data["test_error"][-1])


@pytest.mark.parametrize("dimension", [200.0, np.inf])
def test_eigenvalues_outside_the_bulk_are_drawn_beside_it(dimension):
    view, _ = from_address(f"tab=spectrum&{QUICK}&dimension={dimension}")
    bulk = {"x": np.array([0.1, 1.0, 4.0]), "density": np.array([0.0, 0.5, 0.0])}
    outside = {"outliers": np.array([0.3]), "dimension": dimension}
    plot = make_plot(view, "light")
    plot.update(view, {"curves": [{"name": "", "bulk": "isotropic"} | bulk | outside]})
    (drawn,) = plot.outliers.data["x"]
    assert drawn == 60 if np.isfinite(dimension) else drawn > 4
    assert plot.figure.x_range.start < 0.1 < drawn < plot.figure.x_range.end
    assert plot.outliers.data["label"][0].startswith("0.3 d")
