"""Parameters, curves and panels are named in LaTeX, curves by what sets them apart."""

import numpy as np
import pytest
import xarray as xr
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.mathtext import MathTextParser

from giantstep.figures import style
from giantstep.figures.labels import curve_keys, curve_label, format_parameter, shared_setting
from giantstep.figures.learning_curves import learning_curves
from giantstep.problems.parameter import parameters_of
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.vocabulary import MEANINGS


@pytest.mark.parametrize(
    ("name", "value", "written"),
    [
        ("beta", 0.5, r"\beta = 0.5"),
        ("alpha0", np.inf, r"\alpha_0 = \infty"),
        ("alpha0", "inf", r"\alpha_0 = \infty"),
        ("inputs", "student_t", r"\mathrm{student\ t}"),
        ("reuse_batch", "true", r"\mathrm{one\ batch}"),
        ("bias", "-1:0.5 1:0.5", r"b \in \{-1,1\}"),
        ("bias", "-1:0.25 1:0.75", r"b \in \{-1:0.25,1:0.75\}"),
        ("activation", "polynomial:0,1,0,-0.5", r"\sigma = z-0.5z^{3}"),
        ("covariance", "two_level:8,0.2", r"\Sigma = \mathrm{two\ level}(8,0.2)"),
        ("covariance", "5.0 4.0 3.0 2.0 1.0", r"\Sigma = (5,4,\ldots)"),
    ],
)
def test_a_parameter_is_written_with_its_symbol(name, value, written):
    assert format_parameter(name, value) == written


def panel(*curves, **parameters):
    coordinates = {k: ("curve", [v] * len(curves)) for k, v in parameters.items()}
    return xr.Dataset(coords={"curve": list(curves), **coordinates})


STEPPED = {"activation": "tanh", "target": "sin", "learning_rate": 3.0, "alpha0": 2.0, "beta": 1.0}
SPIKED = {"activation": "tanh", "target": "sin", "bulk_variance": 1.2, "spike_strength": 1.5}


def test_a_curve_is_labelled_by_what_varies_and_the_panel_by_the_rest():
    data = panel("one", "other", **STEPPED, ridge=0.1, noise=0.0)
    data["alpha0"] = "curve", [2.0, np.inf]
    assert [curve_label(data, k) for k in (0, 1)] == [r"$\alpha_0 = 2$", r"$\alpha_0 = \infty$"]
    title = shared_setting(data, alpha=2.0)
    shared_values = (r"\sigma = \mathrm{tanh}", r"\tilde\eta = 3", r"\lambda = 0.1", r"\alpha = 2")
    assert all(value in title for value in shared_values)
    assert r"\alpha_0" not in title
    assert r"\Delta" not in title
    spiked = panel("one", **SPIKED, learning_rate=np.nan)
    assert "r = 1.5" in shared_setting(spiked)
    assert "eta" not in shared_setting(spiked)


def with_another(of):
    """Return a value of a parameter that is not its default."""
    if isinstance(of.default, float):
        return of.default + 0.25
    return {bool: 1, int: 3, str: "other:1,2", tuple: "1:0.25 2:0.75"}[type(of.default)]


@pytest.mark.parametrize(
    ("kind", "given"), [(Protocol, STEPPED), (SpikedFeatures, SPIKED | {"alignment": 1.0})]
)
def test_every_parameter_is_said_in_the_title_unless_it_has_its_default(kind, given):
    parameters = {name: of for name, of in parameters_of(kind).items() if not of.required}
    values = {name: with_another(of) for name, of in parameters.items() if name != "further_spikes"}
    assert len(values) > 7
    plain = shared_setting(panel("one", **given))
    for name, value in values.items():
        said = shared_setting(panel("one", **given, **{name: value}))
        assert said == f"{plain}, ${format_parameter(name, value)}$"
    assert r"\mathrm{hinge}" in shared_setting(panel("one", **given, loss="hinge"))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("activation", ["tanh", "polynomial:0,1,0,0.5", "polynomial:0,1,0,0.05"]),
        ("covariance", ["identity", "two_level:8,0.2", "two_level:8,0.1"]),
        ("dimension", [100, 200, 300]),
    ],
)
def test_curves_whose_names_would_read_alike_have_their_own_label_look_and_networks(name, values):
    data = panel("a", "b", "c", **STEPPED, panel="left", bulk="trained", dimension=100)
    data = data.assign_coords({name: ("curve", values)})
    assert len({curve_label(data, k) for k in range(3)}) == len(set(curve_keys(data))) == 3
    errors = ("curve", "alpha"), [[1.0, 2.0]] * 3
    data = data.assign_coords(alpha=[1.0, 2.0], alpha_simulated=("alpha", [1.0, 2.0]))
    for one in ("test_error", "simulated_test_error_mean", "simulated_test_error_stderr"):
        data[one] = errors
    data["status"] = ("curve", "alpha"), [[0, 0]] * 3
    axes = Figure().subplots()
    learning_curves(axes, data)
    entries = axes.get_legend_handles_labels()[1]
    curves = [curve_label(data, k) for k in range(3)]
    assert entries == [*curves, "theory, trained bulk", "networks"]
    assert len(axes.containers) == 3
    assert len({bars.lines[0].get_color() for bars in axes.containers}) == 3


def test_curves_that_differ_in_the_bulk_alone_share_networks_and_a_lone_one_has_its_panels_name():
    data = panel("a", "b", **STEPPED)
    data["bulk"] = "curve", ["isotropic", "trained"]
    assert curve_label(data, 1) == r"$\mathrm{trained\ bulk}$"
    first, second = curve_keys(data, without=("bulk",))
    assert first == second
    assert curve_label(panel("left:alpha0=2", panel="left", ridge=0.1), 0) == "left"


@pytest.mark.parametrize("values", [range(20), [str(k) for k in range(20)]])
def test_many_curves_have_looks_of_their_own(values):
    looks = style.looks(values).values()
    assert len({(look["color"], look["marker"]) for look in looks}) == 20


def test_numbers_go_from_dark_to_light_in_their_order():
    for values in ([2.0, np.inf, 0.5], [(2.0,), (np.inf,), (0.5,)]):
        light = [sum(to_rgb(look["color"])) for look in style.looks(values).values()]
        assert light[2] < light[0] < light[1]


def test_every_symbol_can_be_drawn():
    of_parameters = ("alpha", "alpha0", "ridge", "learning_rate", "beta", "test_error")
    for name in (*MEANINGS, *map("optimal_{}".format, of_parameters)):
        MathTextParser("agg").parse(f"${MEANINGS[name].symbol}$")
