"""Questions and views from texts that anyone may have written: read, refused, never run."""

from urllib.parse import urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("bokeh")

from giantstep.explore.controls import fault_text, reasons
from giantstep.explore.palette import LIGHT, PALETTES
from giantstep.explore.parameters import PARAMETERS
from giantstep.explore.question import Question
from giantstep.explore.view import Pin, View, from_address, to_address
from giantstep.figures import style

VIEWS = (
    View(),
    View(Question(alpha0=float("inf"), ridge="optimal", dimension=300.0), x="steps"),
    View(Question(readout=((0.5, 0.3), (2.0, 0.7)), bulk=("isotropic", "trained")), tab="map"),
    View(
        Question(model="spiked", alignment=-0.5, loss="huber:0.5", noise=0.25),
        x="spike_strength",
        start=0.5,
        pins=(Pin("b & <i>", Question(target="sin")), Pin("a|b", Question())),
    ),
)


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_the_same_after_its_address(view):
    again, faults = from_address(to_address(view))
    assert not faults
    assert again.question == view.question
    assert [pin.question for pin in again.pins] == [pin.question for pin in view.pins]
    assert again.texts == view.texts


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("beta=1e999&dimension=1&ridge=-1&target=cosh", "beta dimension ridge target"),
        ("alpha0=<script>alert(1)</script>", "alpha0"),
        ("ridge=__import__('os').system('id')", "ridge"),
        ("activation=" + 300 * "x", "activation"),
        ("readout=" + "+".join(["1:0.1"] * 10), "readout"),
        ("bulk=trained&model=spiked", "bulk"),
        ("x=__class__", "x"),
        ("start=3&stop=2", "stop"),
        ("bulk=,", "bulk"),
        ("x_scale=log&start=0&x=noise", "start"),
        ("by=classification_error&target=sin", "by"),
        ("&".join(["pin=a|"] * 9), "pin"),
        ("pin=a|beta%3D-1", "beta"),
    ],
)
def test_what_is_not_a_question_is_refused_at_its_field(query, field):
    view, faults = from_address(query)
    assert {*field.split()} <= {fault.name for fault in faults}
    assert view == View()


@settings(max_examples=40)
@given(st.dictionaries(st.sampled_from([*PARAMETERS, "x", "start", "tab", "pin"]), st.text()))
def test_any_text_is_a_question_or_has_faults(texts):
    view, faults = from_address(urlencode(texts))
    assert isinstance(view, View)
    assert all(str(fault) for fault in faults)


def test_a_refused_function_does_not_list_all_others():
    _, (fault,) = from_address("target=tnh")
    assert len(fault_text(fault)) < 150
    assert "did you mean tanh?" in fault_text(fault)


def test_curves_have_the_colours_of_the_figures():
    assert set(PALETTES[LIGHT].curves[:4]) <= set(style.COLOURS)


def test_what_does_not_apply_says_why():
    said = reasons(View(Question(target="sin"), x="beta"))
    assert "sign" in said["loss:hinge"]
    assert said["beta"] == "an axis of the plot"
    assert "loss" not in said
    assert {"steps", "readout"}.isdisjoint(said)
    said = reasons(View(Question(covariance="power:2")))
    assert said["steps"].startswith("must be 1 in theory")
    assert said["readout"].startswith("must be 1 for all neurons")
    assert "no step" in reasons(View(Question(alpha0=0.0)))["learning_rate"]
