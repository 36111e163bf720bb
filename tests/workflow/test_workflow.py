"""The workflow runs every stage, and again only what a change feeds."""

import json
import os
import re
import shutil
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import yaml
from tiny import ROOT

import giantstep
from giantstep.pipeline.upkeep.explain import explain

FIGURE = "config/figures/fig2.yaml"


FIGURES = [f"fig{k}" for k in range(1, 9)]


OUTPUTS = [f"figures/fig2.{suffix}" for suffix in ("pdf", "svg", "png")]


JOBS = ("parameters", "theory", "spectrum", "eigenvalues", "montecarlo", "merge", "figures")


def snakemake(project, *arguments, code=0):
    """Run the project's workflow at the quick size; give what it printed."""
    command = [sys.executable, "-m", "snakemake", "--cores", "2", *arguments]
    command += ["--configfile", "config/quick.yaml"]
    clean = {k: v for k, v in os.environ.items() if not k.startswith("SNAKEMAKE")}
    done = subprocess.run(command, cwd=project, env=clean, capture_output=True, text=True)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def planned(project, *arguments):
    """Count the jobs of each stage that a dry run plans."""
    printed = snakemake(project, "--dry-run", *arguments)
    counts = dict(re.findall(r"^(\w+) +(\d+)$", printed, flags=re.MULTILINE))
    return {job: int(counts[job]) for job in JOBS if job in counts}


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A copy of the project in which the quick figures have been made."""
    project = tmp_path_factory.mktemp("workflow") / "project"
    project.mkdir()
    for name in ("Snakefile", "config", "workflow", "profiles"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, project / name)
    snakemake(project)
    return project


@pytest.fixture
def project(finished, tmp_path):
    """A copy of the finished project, to be changed."""
    return shutil.copytree(finished, tmp_path / "project")


def test_every_figure_is_made_and_nothing_half_written(finished):
    for name in FIGURES:
        for suffix in ("pdf", "svg", "png"):
            assert (finished / f"figures/{name}.{suffix}").stat().st_size > 1000
    left = {folder.name for folder in (finished / "results").iterdir()}
    stages = {"parameters", "theory", "montecarlo", "spectrum", "eigenvalues"}
    assert left == stages | {"figures", "identity", "scores"}
    assert not list(finished.rglob("*.part"))


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_readable_in_a_column_and_its_legend_off_its_data(finished, name):
    from importlib import import_module

    from matplotlib import rc_context

    from giantstep.figures import style

    config = yaml.safe_load((finished / f"config/figures/{name}.yaml").read_text())
    with rc_context(style.rc()), warnings.catch_warnings():
        warnings.simplefilter("error")
        data = giantstep.open_figure(name, finished)
        figure = import_module(f"giantstep.figures.{name}").draw(data, config)
        figure.draw_without_rendering()
        assert figure.get_figwidth() <= style.TEXT_WIDTH
        for axes in figure.axes:
            box = axes.get_tightbbox()
            assert box.x0 >= -1
            assert box.x1 <= figure.bbox.width + 1
            assert axes.get_title(loc="left") or len(figure.axes) == 1
            assert axes.get_xlabel() or name == "fig8"
            for text in axes.get_xticklabels() + axes.get_yticklabels():
                assert text.get_fontsize() >= 7
            if legend := axes.get_legend():
                ends = axes.transData.transform(np.reshape(axes.dataLim.get_points(), (2, 2)))
                frame = legend.get_window_extent()
                assert frame.x0 >= axes.bbox.x0
                assert frame.y0 >= ends[:, 1].max() - 1 or frame.x0 >= ends[:, 0].max() - 1


def test_merged_files_score_each_curve(finished):
    for name, drawn in (
        ("fig1", "learned_function"), ("fig3", "optimal_test_error"), ("fig4", "test_error"),
    ):  # fmt: skip
        data = giantstep.open_figure(name, finished)
        z = data[f"z_score_{drawn}"]
        points = [dim for dim in z.dims if dim != "curve"]
        largest = data[f"largest_z_score_{drawn}"].values
        assert largest == pytest.approx(abs(z).max(points).values)
        assert data[f"mean_z_score_{drawn}"].values == pytest.approx(z.mean(points).values)
        table = (finished / f"results/scores/{name}.csv").read_text().splitlines()
        assert len(table) == 1 + data.sizes["curve"]
        assert f"mean_z_score_{drawn}" in table[0]
    assert "simulated_outlier_mean" in (finished / "results/scores/fig8.csv").read_text()


def test_the_error_at_the_best_ridge_is_simulated_at_the_nearest(finished):
    data = giantstep.open_figure("fig3", finished)
    data = data.isel(curve=data["beta"].values == 1)
    best = data["optimal_ridge"].isel(curve=0).sel(alpha=data["alpha_simulated"].values)
    for place, ridge in enumerate(best.values):
        nearest = np.argmin(np.abs(np.log(data["ridge"].values / ridge)))
        shown = data["simulated_optimal_test_error_mean"].isel(curve=0, alpha_simulated=place)
        mean = data["simulated_test_error_mean"].isel(curve=nearest, alpha_simulated=place)
        assert shown.item() == mean.item()


def test_the_functions_of_figure_3_realise_their_bounds(finished):
    curve = giantstep.open_figure("fig3", finished).isel(curve=0)
    density = np.exp(-(curve["kappa"] ** 2) / 2)
    density /= density.sum()
    for name in ("upper_bound", "lower_bound"):
        gap = np.sin(curve["kappa"]) - curve[f"{name}_function"]
        assert float((gap**2 * density).sum()) == pytest.approx(curve[name].item(), rel=5e-2)
    best = curve["optimal_test_error"]
    assert bool(((curve["lower_bound"] < best) & (best <= curve["upper_bound"] + 1e-9)).all())


def test_the_example_redraws_a_panel(finished, tmp_path):
    script = ROOT / "examples/redraw_panel.py"
    command = [sys.executable, str(script), "fig2", "right", str(tmp_path / "panel.png")]
    subprocess.run(command, cwd=finished, check=True)
    assert (tmp_path / "panel.png").stat().st_size > 5000


def test_the_report_is_one_page_with_figures_captions_and_scores(finished):
    snakemake(finished, "--report", "report.html")
    page = (finished / "report.html").read_text()
    assert "learned" in page
    for name in FIGURES:
        assert f"{name}.png" in page
        assert f"{name}.csv" in page
    linked = re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="(https?:[^"]+)"', page)
    assert not linked


def test_the_merged_file_alone_redraws_the_figure(finished):
    with xr.open_dataset(finished / "results/figures/fig2.nc") as data:
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


def test_the_drawing_names_what_varies(finished):
    from giantstep.figures.labels import curve_label
    from giantstep.figures.selection import panel_data

    data = panel_data(giantstep.open_figure("fig2", finished), "right")
    names = [curve_label(data, k) for k in range(data.sizes["curve"])]
    values = ("0", "0.5", "2", r"\infty")
    assert names == [rf"$\alpha_0 = {value}$" for value in values]


def test_the_merged_file_says_how_it_was_made_and_nothing_of_where(finished):
    with xr.open_dataset(finished / "results/figures/fig2.nc") as data:
        attributes = data.attrs
    parameters = json.loads(attributes["parameters"])
    assert parameters["curves"]["left:alpha0=0.5"]["learning_rate"] == 1
    assert parameters["simulation"]["dimension"] == 100
    assert len(json.loads(attributes["made_from"])) == 24
    everything = json.dumps({k: str(v) for k, v in attributes.items()})
    for private in (str(finished), os.uname().nodename, str(Path.home())):
        assert private not in everything


def test_a_second_run_does_nothing_whatever_the_times_of_files(project):
    for path in [*project.rglob("*.nc"), *project.rglob("*.yaml"), *project.rglob("*.py")]:
        path.touch()
    assert "Nothing to be done" in snakemake(project)


def test_changes_are_seen_without_snakemakes_own_records(project):
    shutil.rmtree(project / ".snakemake")
    assert "Nothing to be done" in snakemake(project)
    style = "\nstyle:\n  colours: ['#000000', '#333333', '#666666', '#999999']\n"
    original = (project / FIGURE).read_text()
    (project / FIGURE).write_text(original + style)
    assert planned(project) == {"figures": 1}
    snakemake(project)
    grey = (project / OUTPUTS[0]).read_bytes()
    shutil.rmtree(project / ".snakemake")
    (project / FIGURE).write_text(original)  # and back, where the old results still lie
    snakemake(project)
    assert (project / OUTPUTS[0]).read_bytes() != grey


def test_one_more_alpha0_computes_that_curve_only(project):
    edit(project / FIGURE, "alpha0: [0.5, 1, 2, .inf]", "alpha0: [0.5, 1, 2, 8, .inf]")
    assert planned(project) == {
        "parameters": 1, "theory": 1, "montecarlo": 1, "merge": 1, "figures": 1,
    }  # fmt: skip


def test_more_replicates_compute_those_only(project):
    edit(project / "config/quick.yaml", "networks: 4", "networks: 8")
    shards = list((project / "results/montecarlo").rglob("*.nc"))
    assert planned(project) == {
        "montecarlo": len(shards), "eigenvalues": 3, "merge": 8, "figures": 8,
    }  # fmt: skip


def test_a_change_of_colour_redraws_only(project):
    with (project / FIGURE).open("a") as figure:
        figure.write("\nstyle:\n  colours: ['#000000', '#333333', '#666666', '#999999']\n")
    before = (project / OUTPUTS[0]).read_bytes()
    assert planned(project) == {"figures": 1}
    snakemake(project, OUTPUTS[0])
    assert (project / OUTPUTS[0]).read_bytes() != before


def test_drawing_again_gives_the_same_bytes(project):
    before = {name: (project / name).read_bytes() for name in OUTPUTS}
    for name in OUTPUTS:
        (project / name).unlink()
    snakemake(project, "figures/fig2.pdf")
    assert {name: (project / name).read_bytes() for name in OUTPUTS} == before


def test_snakemakes_lint_finds_only_what_is_argued():
    # Every rule runs in the one environment that the package itself is installed in, so that
    # what a rule computes is what the library computes: no rule has another of its own.
    command = [sys.executable, "-m", "snakemake", "--lint"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    found = set(re.findall(r"^ +\* (.+?):?$", done.stdout + done.stderr, flags=re.MULTILINE))
    assert found == {"Specify a conda environment or container for each rule."}


def explained(project, *figures):
    """What `giantstep explain` lists: the jobs of each stage, and all reasons."""
    jobs = explain(project, figures, [project / "config/quick.yaml"])
    counts = Counter(job.stage for job in jobs if job.stage in JOBS)
    return counts, {job.stage: job.why for job in jobs}, sum(job.cost.seconds for job in jobs)


def test_explain_agrees_with_a_dry_run_and_says_why(project):
    assert explained(project) == ({}, {}, 0)

    original = (project / FIGURE).read_text()
    edit(project / FIGURE, "ridge: 0.01", "ridge: 0.02")
    counts, why, _ = explained(project, "fig2")
    assert counts == planned(project, "figures/fig2.pdf", "results/scores/fig2.csv")
    assert why["montecarlo"] == "parameters have changed: grid.ridge from [0.01] to [0.02]"
    assert why["theory"] == why["montecarlo"]
    assert why["merge"] == "its curves, or the code that merges, have changed"

    style = "\nstyle:\n  colours: ['#000000', '#333333', '#666666', '#999999']\n"
    (project / FIGURE).write_text(original + style)
    counts, why, _ = explained(project)
    assert counts == planned(project) == {"figures": 1}
    assert why == {"figures": "its config, or the code that draws, has changed"}

    (project / FIGURE).write_text(original.replace("alpha0: [0.5,", "alpha0: [0.25, 0.5,"))
    counts, why, _ = explained(project)
    assert counts == planned(project)
    assert {why[stage] for stage in ("parameters", "theory", "montecarlo")} == {"not made yet"}


def test_explain_counts_replicates_that_are_there(project):
    edit(project / "config/quick.yaml", "networks: 4", "networks: 4\n  networks_per_job: 2")
    counts, why, others = explained(project)
    assert counts == planned(project)
    assert why["montecarlo"] == "its replicates exist, in other shards"
    edit(project / "config/quick.yaml", "networks: 4", "networks: 8")
    counts, _, more = explained(project)
    assert counts == planned(project)
    assert more > others


def test_explain_tells_a_change_of_code_from_one_of_parameters(project):
    theory = next((project / "results/theory").glob("tanh-tanh-eta1-alpha0_0.5-*.nc"))
    theory.rename(theory.with_name(f"{theory.stem[:-12]}000000000000.nc"))
    for made in ("results/figures/fig2.nc", "figures/fig2.pdf"):
        (project / made).unlink()
    counts, why, _ = explained(project)
    assert counts == planned(project)
    assert why["theory"] == "the code that computes it has changed"
    assert why["merge"] == "not made yet"
