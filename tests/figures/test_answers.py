"""The drawing of an answer says what it shows, without the command that has made it."""

from dataclasses import replace

import pytest
import xarray as xr

import giantstep
from giantstep.figures import style
from giantstep.figures.answers import answer_figure

PROBLEM = giantstep.Protocol("tanh", "sin", learning_rate=3, alpha0=2, beta=1)
STEPS = replace(PROBLEM, steps=2, learning_rate=(3, 2))
LEARNED = {"theory", r"target $\sigma_\star = \mathrm{sin}$"}
BOUNDS = {"theory", "best linear"}
WIDTHS = {r"$\beta = 1$", r"$\beta = 2$", "best linear"}


def drawn(data, name):
    with style.settings():
        figure = answer_figure(data, name)
        figure.draw_without_rendering()
    title = figure.axes[0].get_title(loc="left")
    return title, {text.get_text() for text in figure.legends[0].get_texts()}, figure.axes[0]


def test_theory_beside_networks_names_each_line_and_all_that_is_fixed():
    data = giantstep.compare(PROBLEM, alpha=[1, 2], dimension=40, networks=2)
    title, entries, axes = drawn(data, "test_error")
    lines = {r"theory, $d \to \infty$", "theory, $d = 40$", "networks"}
    assert entries == lines | {"best linear"}
    said = r"\sigma_\star = \mathrm{sin}", r"\tilde\eta = 3", r"\alpha_0 = 2", r"\lambda = 0.1"
    assert all(part in title for part in said)
    assert title.endswith(" bulk")
    dashed = style.FINITE_SIZE["linewidth"]
    assert sum(line.get_linewidth() == dashed and len(line.get_xdata()) for line in axes.lines) == 2


def several(question):
    """Ask a question about two problems."""
    answers = [question(replace(PROBLEM, alpha0=alpha0)) for alpha0 in (1, 2)]
    whole = xr.concat(answers, "alpha0", coords="all").assign_coords(alpha0=[1.0, 2.0])
    return whole.assign_attrs(answers[0].attrs)


@pytest.mark.parametrize("name", ["compare", "simulate"])
def test_several_curves_have_in_their_title_the_ridge_the_dimension_and_the_bulk_they_share(name):
    sizes = {"alpha": [1, 2], "ridge": 0.1, "dimension": 40, "networks": 2}
    data = several(lambda problem: getattr(giantstep, name)(problem, **sizes))
    title, entries, _ = drawn(data, "test_error")
    for part in (r"\lambda = 0.1", "d = 40", *["trained bulk"] * (name == "compare")):
        assert part in title.replace("\n", " ")
    assert "best" not in title
    assert {r"$\alpha_0 = 1$", r"$\alpha_0 = 2$"} < entries


@pytest.mark.parametrize(("ridge", "said"), [("optimal", "best ridge"), ("gcv", "ridge by gcv")])
def test_a_ridge_that_is_chosen_is_said_to_be(ridge, said):
    data = giantstep.solve(PROBLEM, alpha=[1, 2], ridge=ridge, loss="square")
    title = drawn(data, "test_error")[0].replace("\n", " ")
    assert said in title
    assert r"\lambda" not in title


@pytest.mark.parametrize(
    ("ask", "name", "entries"),
    [
        (lambda: giantstep.learned_function(PROBLEM, s=[-1, 0, 1]), "learned_function", LEARNED),
        (lambda: giantstep.bounds(PROBLEM).expand_dims(beta=[1.0, 2.0]), "lower_bound", BOUNDS),
        (lambda: giantstep.sweep(STEPS, beta=[1, 2], alpha=[1, 2, 3]), "test_error", WIDTHS),
    ],
)
def test_what_stands_beside_a_curve_is_in_the_legend(ask, name, entries):
    title, found, _ = drawn(ask(), name)
    assert found == entries
    assert r"\alpha_0 = 2" in title
    assert (r"\beta = " in title) == (name == "learned_function")
