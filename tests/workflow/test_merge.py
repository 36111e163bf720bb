"""A figure's merged file holds theory beside simulation, scores, and how it was made."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import giantstep
from giantstep.figures.labels import curve_label, shared_setting
from giantstep.figures.learning_curves import curve_looks
from giantstep.questions.equivalent_features import equivalent_features
from giantstep.workflow.curves import Curve
from giantstep.workflow.merge import by_group, join_lines
from giantstep.workflow.merge_curve import merge_curve


@pytest.mark.parametrize(
    ("name", "drawn"),
    [("fig1", "learned_function"), ("fig3", "optimal_test_error"), ("fig2", "test_error")],
)
def test_a_curve_is_scored_by_the_z_scores_of_what_is_drawn(paper, name, drawn):
    data = giantstep.open_figure(name, paper)
    z = data[f"z_score_{drawn}"]
    points = [dim for dim in z.dims if dim not in ("curve", "theory")]
    scores = (f"largest_z_score_{drawn}", f"mean_z_score_{drawn}")
    np.testing.assert_allclose(data[scores[0]], abs(z).max(points))
    np.testing.assert_allclose(data[scores[1]], z.mean(points))
    table = (paper / f"results/scores/{name}.csv").read_text().splitlines()
    assert len(table) == 1 + data.sizes["curve"]
    assert set(scores) | {f"{score}_finite" for score in scores} <= set(table[0].split(","))


@pytest.mark.parametrize(
    ("theory", "bulk", "dimension"), [("limit", "isotropic", np.inf), ("finite", "trained", 100)]
)
def test_both_theories_are_those_of_the_library_and_networks_are_scored_by_them(
    paper, theory, bulk, dimension
):
    curve = giantstep.open_figure("fig2", paper).sel(curve="right:alpha0=0.5", theory=theory)
    protocol = giantstep.Protocol("tanh", "sign", learning_rate=3, alpha0=0.5, beta=1)
    alpha = curve["alpha_simulated"].values
    expected = giantstep.solve(protocol, alpha, 0.1, bulk=bulk, dimension=dimension)
    np.testing.assert_allclose(curve["total_samples"].sel(alpha=alpha), expected["total_samples"])
    for name in ("test_error", "training_error", "classification_error", "m", "zeta", "q1"):
        np.testing.assert_allclose(curve[name].sel(alpha=alpha), expected[name], rtol=1e-9)
        raw = curve[f"simulated_{name}"]
        spread = raw.mean("training").std("network", ddof=1)
        stderr = spread.where(spread > 0) / np.sqrt(raw.sizes["network"])
        z = (raw.mean(("network", "training")).values - expected[name].values) / stderr
        np.testing.assert_allclose(curve[f"z_score_{name}"], z, rtol=1e-6)
    assert curve["largest_z_score_test_error"] == abs(curve["z_score_test_error"]).max()


def test_the_error_at_the_best_ridge_is_simulated_at_the_nearest(paper):
    data = giantstep.open_figure("fig3", paper).sel(theory="finite")
    data = data.isel(curve=data["beta"].values == 1)
    best = data["optimal_ridge"].isel(curve=0).sel(alpha=data["alpha_simulated"].values)
    for place, ridge in enumerate(best.values):
        nearest = np.argmin(np.abs(np.log(data["ridge"].values / ridge)))
        shown = data["simulated_optimal_test_error_mean"].isel(curve=0, alpha_simulated=place)
        mean = data["simulated_test_error_mean"].isel(curve=nearest, alpha_simulated=place)
        assert shown.item() == mean.item()


def test_the_merged_file_says_how_it_was_made_and_nothing_of_where(paper):
    with xr.open_dataset(paper / "results/figures/fig2.nc") as data:
        attributes = data.attrs
        assert all(
            {"long_name", "symbol", "units", "equation"} <= x.attrs.keys()
            for x in data.variables.values()
        )
    said = json.loads(attributes["parameters"])
    assert said["curves"]["left:alpha0=0.5"]["learning_rate"] == 1
    assert said["simulation"]["dimension"] == 100
    made_from = json.loads(attributes["made_from"])
    assert len(made_from) == 10  # parameters, theory, and the networks of eight curves
    everything = json.dumps({k: str(v) for k, v in attributes.items()})
    for private in (str(paper), os.uname().nodename, str(Path.home())):
        assert private not in everything


def test_a_map_is_numbered_and_keeps_what_does_not_vary():
    protocol = giantstep.Protocol("erf", "sin", 1, alpha0=1, beta=2)
    gains = ("gain_over_linear", "gain_over_no_step", "isotropic_deviation")
    values = {"learning_rate": [1.0, 3.0], "alpha0": [0.5, 1.0, 2.0], "alpha": 2.0}
    answer = giantstep.sweep(protocol, gains=gains, **values)
    curve = Curve("a", "a", protocol, "isotropic", "square", 0, {}, {})
    (line,) = merge_curve(curve, {"map": answer})
    assert dict(line["map_test_error"].sizes) == {"row": 2, "column": 3}
    assert (line["y_parameter"], line["x_parameter"]) == ("learning_rate", "alpha0")
    np.testing.assert_array_equal(line["map_x"], values["alpha0"])
    assert line["beta"] == 2
    assert "alpha0" not in line.coords
    np.testing.assert_allclose(
        line["gain_over_linear"],
        1 - line["map_test_error"] / giantstep.bounds(protocol)["best_linear_error"],
    )


def line_of(name, groups, networks, alphas):
    """A line of which nothing is known but what was measured of its networks."""
    dims = ("network", "training", "alpha_simulated", *(("group",) if groups > 1 else ()))
    shape = (len(networks), 1, len(alphas), *((groups,) if groups > 1 else ()))
    values = np.arange(np.prod(shape), dtype=float).reshape(shape)
    coords = {"curve": name, "network": networks, "alpha_simulated": alphas}
    return xr.Dataset({"simulated_m": (dims, values), "beta": 1.0}, coords).set_coords("beta")


def test_lines_of_other_groups_networks_and_points_stand_at_their_places():
    lines = [line_of("a", 2, [0, 1], [1.0, 3.0]), line_of("b", 1, [2], [2.0])]
    theory_alone = xr.Dataset(coords={"curve": "c", "beta": 2.0})
    whole = join_lines([*lines, theory_alone])
    assert dict(whole.sizes) == {
        "curve": 3, "network": 3, "training": 1, "alpha_simulated": 3, "group": 2,
    }  # fmt: skip
    for line in map(by_group, lines):
        found = whole["simulated_m"].sel(curve=line["curve"].item())
        stored = found.reindex_like(line["simulated_m"])
        np.testing.assert_array_equal(
            stored.transpose(*line["simulated_m"].dims), line["simulated_m"]
        )
        assert int(found.notnull().sum()) == line["simulated_m"].size


def merged_curves(protocols):
    """Merge curves of which nothing but the equivalent features was computed."""
    lines = []
    for name, protocol in protocols.items():
        curve = Curve(name, "a", protocol, "isotropic", "square", 100, {}, {})
        lines += merge_curve(curve, {"parameters": equivalent_features(protocol)})
    return join_lines(lines)


def test_a_figures_file_has_the_state_after_each_step():
    several = {k: giantstep.Protocol("tanh", "sin", 2, 20, beta=1, steps=k) for k in (1, 2, 3)}
    merged = merged_curves({str(k): protocol for k, protocol in several.items()})
    for name in ("bulk_variance", "spike_strength", "alignment"):
        of_steps = merged[f"{name}_by_step"]
        assert of_steps.sizes["step"] == 3
        for k in (2, 3):  # the state after the last step is that of the curve
            of_curve = of_steps.sel(curve=str(k))
            assert of_curve.sel(step=k) == merged[name].sel(curve=str(k))
            assert np.isnan(of_curve.sel(step=3)) == (k < 3)


def test_batches_of_each_step_stand_beside_those_of_all_and_are_told_apart():
    of = {str(x): giantstep.Protocol("tanh", "sin", (2, 1), x, 1, steps=2) for x in (2, (2, 4))}
    merged = merged_curves(of)
    assert merged.alpha0.values.tolist() == ["2", "2/4"]
    labels = [curve_label(merged, k) for k in (0, 1)]
    assert labels == [r"$\alpha_0 = 2$", r"$\alpha_0 = (2,4)$"]
    assert r"\tilde\eta = (2,1)" in shared_setting(merged)
    assert len(curve_looks(merged)) == 2
