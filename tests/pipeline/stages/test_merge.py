"""A figure's merged file holds theory beside simulation, scores, and how it was made."""

import json
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from many_networks import merge

import giantstep
from giantstep.pipeline.stages.dataset_layout import GROUP_PARAMETERS
from giantstep.pipeline.stages.join_lines import join_lines
from giantstep.pipeline.stages.scores import score_summary
from giantstep.pipeline.storage import large_netcdf
from giantstep.problems.grid import Grid
from giantstep.problems.overlaps import Overlaps
from giantstep.problems.protocol import Protocol
from giantstep.theory.features.equivalent_features import equivalent_features
from giantstep.theory.readout.classification_error import classification_error
from giantstep.theory.readout.solve import solve


def test_merged_files_score_each_curve(paper):
    for name, drawn in (
        ("fig1", "learned_function"), ("fig3", "optimal_test_error"), ("fig4", "test_error"),
    ):  # fmt: skip
        data = giantstep.open_figure(name, paper)
        z = data[f"z_score_{drawn}"]
        points = [dim for dim in z.dims if dim != "curve"]
        largest = data[f"largest_z_score_{drawn}"].values
        assert largest == pytest.approx(abs(z).max(points).values)
        assert data[f"mean_z_score_{drawn}"].values == pytest.approx(z.mean(points).values)
        table = (paper / f"results/scores/{name}.csv").read_text().splitlines()
        assert len(table) == 1 + data.sizes["curve"]
        assert f"mean_z_score_{drawn}" in table[0]
    assert "simulated_outlier_mean" in (paper / "results/scores/fig8.csv").read_text()


def test_a_merged_file_holds_the_theory_of_what_is_simulated_and_scores_against_it(paper):
    data = giantstep.open_figure("fig2", paper)
    curve = data.sel(curve="right:alpha0=0.5")
    protocol = Protocol("tanh", "sign", learning_rate=3, alpha0=0.5, beta=1)
    grid = Grid((0.8, 3.0), (0.1,))
    expected = solve(protocol, grid, "trained", dimension=100)
    at = curve.sel(alpha=list(grid.alpha))
    for name in ("test_error", "training_error", "m", "zeta", "q1"):
        found = at[f"finite_size_{name}"]
        assert found.values == pytest.approx(getattr(expected, name).ravel(), rel=1e-9)
        assert found.attrs.keys() == at[name].attrs.keys()
        assert found.attrs["units"] == "1"
    wrong = classification_error(equivalent_features(protocol, 100), Overlaps.of(expected))
    found = at["finite_size_classification_error"].values
    assert found == pytest.approx(wrong.ravel(), rel=1e-9)
    scored = curve.sel(alpha_simulated=list(grid.alpha))
    gap = scored["simulated_test_error_mean"].values - expected.test_error.ravel()
    z = gap / scored["simulated_test_error_stderr"].values
    assert scored["z_score_finite_size_test_error"].values == pytest.approx(z, rel=1e-6)
    whole = curve["z_score_finite_size_test_error"]
    assert curve["largest_z_score_finite_size_test_error"] == abs(whole).max()
    table = (paper / "results/scores/fig2.csv").read_text().splitlines()
    assert "mean_z_score_finite_size_test_error" in table[0]
    summary = score_summary(data).set_index(["panel", "quantity"])
    largest = data["largest_z_score_finite_size_test_error"].values
    assert summary.loc[("left", "test_error"), "largest z, finite d"] == ", ".join(
        f"{z:.1f}" for z in largest[data["panel"].values == "left"]
    )


def test_the_error_at_the_best_ridge_is_simulated_at_the_nearest(paper):
    data = giantstep.open_figure("fig3", paper)
    data = data.isel(curve=data["beta"].values == 1)
    best = data["optimal_ridge"].isel(curve=0).sel(alpha=data["alpha_simulated"].values)
    for place, ridge in enumerate(best.values):
        nearest = np.argmin(np.abs(np.log(data["ridge"].values / ridge)))
        shown = data["simulated_optimal_test_error_mean"].isel(curve=0, alpha_simulated=place)
        mean = data["simulated_test_error_mean"].isel(curve=nearest, alpha_simulated=place)
        assert shown.item() == mean.item()


def test_the_functions_of_figure_3_realise_their_bounds(paper):
    curve = giantstep.open_figure("fig3", paper).isel(curve=0)
    density = np.exp(-(curve["kappa"] ** 2) / 2)
    density /= density.sum()
    for name in ("upper_bound", "lower_bound"):
        gap = np.sin(curve["kappa"]) - curve[f"{name}_function"]
        assert float((gap**2 * density).sum()) == pytest.approx(curve[name].item(), rel=5e-2)
    best = curve["optimal_test_error"]
    assert bool(((curve["lower_bound"] < best) & (best <= curve["upper_bound"] + 1e-9)).all())


def test_the_merged_file_alone_redraws_the_figure(paper):
    with xr.open_dataset(paper / "results/figures/fig2.nc") as data:
        curve = data.sel(curve="right:alpha0=inf")
        assert curve["test_error"].sel(alpha=1.0).item() == pytest.approx(0.3, abs=0.05)
        assert curve["alignment"].item() == 1
        assert curve["simulated_test_error"].dims == ("network", "training", "alpha_simulated")
        mean = curve["simulated_test_error"].mean(("network", "training"))
        assert curve["simulated_test_error_mean"].values == pytest.approx(mean.values)
        assert np.isin(data["alpha_simulated"].values, data["alpha"].values).all()
        assert data["best_linear_error"].sel(curve="right:alpha0=0").item() == pytest.approx(
            1 - 2 / np.pi
        )
        gap = mean - curve["test_error"].sel(alpha=data["alpha_simulated"].values).values
        z = gap / curve["simulated_test_error_stderr"]
        assert curve["z_score_test_error"].values == pytest.approx(z.values)


def test_the_merged_file_says_how_it_was_made_and_nothing_of_where(paper):
    with xr.open_dataset(paper / "results/figures/fig2.nc") as data:
        attributes = data.attrs
    parameters = json.loads(attributes["parameters"])
    assert parameters["curves"]["left:alpha0=0.5"]["learning_rate"] == 1
    assert parameters["simulation"]["dimension"] == 100
    assert len(json.loads(attributes["made_from"])) == 32
    everything = json.dumps({k: str(v) for k, v in attributes.items()})
    for private in (str(paper), os.uname().nodename, str(Path.home())):
        assert private not in everything


def test_merging_holds_less_than_the_largest_variable_twice(tmp_path):
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        few, many = (pool.submit(merge, tmp_path, n).result() for n in (10, 10_000))
    data = large_netcdf.read(tmp_path / "10000.nc", "merge/some")
    largest = max(variable.nbytes for variable in data.variables.values())
    assert largest == data["simulated_learned_function"].nbytes
    assert many - few < 2 * largest
    values = data["simulated_m"].isel(curve=0)
    assert np.all(values == values[0] * (1 + data["network"]))
    assert data["simulated_m_mean"].isel(curve=0).values == pytest.approx(
        values.mean(["network", "training"]).values
    )


def line_of(name, groups, networks, alphas):
    """A line of which nothing is known but what was measured of its networks."""
    dims = ("network", "training", "alpha_simulated", *(("group",) if groups > 1 else ()))
    sizes = len(networks), 1, len(alphas), *((groups,) if groups > 1 else ())
    coords = {"network": networks, "training": [0], "alpha_simulated": alphas, "curve": name}
    of_groups = (("group",), np.ones(groups)) if groups > 1 else 1.0
    coords |= dict.fromkeys(GROUP_PARAMETERS, of_groups)
    values = np.random.default_rng(groups).normal(size=sizes)
    return xr.Dataset({"simulated_m": (dims, values)}, coords)


def test_what_was_measured_of_networks_keeps_its_place_among_lines_with_other_coordinates():
    lines = [line_of("a", 1, [0, 1], [1.0, 2.0]), line_of("b", 2, [0, 1, 2], [2.0, 3.0])]
    joined = join_lines(lines)["simulated_m"]
    assert joined.dims == ("curve", "group", "network", "training", "alpha_simulated")
    assert joined.shape == (2, 2, 3, 1, 3)
    for line in lines:
        own = line["simulated_m"].transpose(..., "network", "training", "alpha_simulated")
        at = {dim: line[dim].values for dim in ("network", "alpha_simulated")}
        found = joined.sel(curve=line["curve"].item(), **at)
        groups = line.sizes.get("group", 1)
        assert np.array_equal(found[:groups].squeeze().values, own.values.squeeze())
        assert np.isnan(found[groups:]).all()
    assert np.isfinite(joined).sum() == sum(line["simulated_m"].size for line in lines)
