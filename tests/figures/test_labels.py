"""Parameters, curves and panels are named in LaTeX, curves by what sets them apart."""

import numpy as np
import pytest
import xarray as xr

from giantstep.figures.labels import curve_label, format_parameter, shared_setting


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
    ],
)
def test_a_parameter_is_written_with_its_symbol(name, value, written):
    assert format_parameter(name, value) == written


def panel(*curves, **parameters):
    coordinates = {k: ("curve", [v] * len(curves)) for k, v in parameters.items()}
    return xr.Dataset(coords={"curve": list(curves), **coordinates})


def test_a_curve_is_labelled_by_what_varies_and_the_panel_by_the_rest():
    shared = {"activation": "tanh", "target": "sin", "learning_rate": 3.0, "ridge": 0.1}
    data = panel("left:alpha0=2,ridge=0.1", "left:alpha0=inf,ridge=0.1", **shared)
    data["alpha0"] = "curve", [2.0, np.inf]
    data["noise"] = "curve", [0.0, 0.0]
    assert [curve_label(data, k) for k in (0, 1)] == [r"$\alpha_0 = 2$", r"$\alpha_0 = \infty$"]
    title = shared_setting(data, alpha=2.0)
    shared_values = (r"\sigma = \mathrm{tanh}", r"\tilde\eta = 3", r"\lambda = 0.1", r"\alpha = 2")
    assert all(value in title for value in shared_values)
    assert r"\alpha_0" not in title
    assert r"\Delta" not in title
    spiked = panel("left", **shared | {"learning_rate": np.nan}, spike_strength=1.5)
    assert "r = 1.5" in shared_setting(spiked)
    assert "eta" not in shared_setting(spiked)


def test_a_curve_that_stands_alone_has_its_panels_name():
    assert curve_label(panel("left", ridge=0.1), 0) == "left"
