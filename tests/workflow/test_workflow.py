"""The workflow runs every stage of every figure, and again only what a change feeds."""

import re
import shutil
import subprocess
import sys

import pytest
import tiny
from tiny import ROOT

FIGURE = "config/figures/fig2.yaml"
OUTPUTS = [f"figures/fig2.{suffix}" for suffix in ("pdf", "svg", "png")]
QUICK = "config/quick.yaml"
STYLE = "\nstyle:\n  colours: ['#000000', '#333333', '#666666', '#999999']\n"
SIZES = [
    ("tiny_run", tiny.TINY, ["fig2", "fig4"], tiny.STAGES, "Tiny."),
    pytest.param(
        "paper_run",
        QUICK,
        [f"fig{k}" for k in range(1, 9)],
        [
            stage
            for stage in tiny.STAGES
            if stage not in ("recovery", "dimensions", "learning_rates")
        ],
        "learned",
        marks=pytest.mark.slow,
    ),
]


@pytest.mark.parametrize(("run", "overlay", "figures", "stages", "caption"), SIZES)
def test_a_run_makes_every_figure_and_its_report_and_leaves_nothing_half_written(
    request, tmp_path, run, overlay, figures, stages, caption
):
    project = shutil.copytree(request.getfixturevalue(run), tmp_path / "project")
    for name in figures:
        for suffix in ("pdf", "svg", "png"):
            assert (project / f"figures/{name}.{suffix}").stat().st_size > 1000
    left = {folder.name for folder in (project / "results").iterdir()}
    assert left == {*stages, "figures", "identity", "scores"}
    assert not list(project.rglob("*.part"))
    tiny.snakemake(project, "--report", "report.html", overlay=overlay)
    page = (project / "report.html").read_text()
    assert caption in page
    for name in figures:
        assert f"{name}.png" in page
        assert f"{name}.html" in page
    linked = re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="(https?:[^"]+)"', page)
    assert not linked


@pytest.mark.slow
def test_a_figure_that_no_config_lists_is_made_and_reported_alone(tmp_path):
    project = tiny.make(tmp_path / "project")
    (project / "config/figures/mine.yaml").write_text(tiny.FIGURE.replace("Tiny", "Mine"))
    shutil.copy(ROOT / "src/giantstep/figures/fig5.py", project / "src/giantstep/figures/mine.py")
    tiny.snakemake(project, "figures/mine.pdf")
    assert (project / "figures/mine.pdf").exists()
    (project / tiny.TINY).write_text(tiny.CONFIG.replace("[fig2,", "[fig2, mine,"))
    tiny.snakemake(project, "--report", "report.html")
    page = (project / "report.html").read_text()
    assert "mine.png" in page
    assert "fig2.png" not in page


@pytest.mark.slow
def test_a_second_run_does_nothing_whatever_the_times_of_files(paper_project):
    project = paper_project
    for path in [*project.rglob("*.nc"), *project.rglob("*.yaml"), *project.rglob("*.py")]:
        path.touch()
    assert tiny.planned(project, overlay=QUICK) == {}


@pytest.mark.slow
def test_changes_are_seen_without_snakemakes_own_records(paper_project):
    project = paper_project
    shutil.rmtree(project / ".snakemake")
    assert tiny.planned(project, overlay=QUICK) == {}
    original = (project / FIGURE).read_text()
    (project / FIGURE).write_text(original + STYLE)
    assert tiny.planned(project, overlay=QUICK) == {"figures": 1}
    tiny.snakemake(project, overlay=QUICK)
    grey = (project / OUTPUTS[0]).read_bytes()
    shutil.rmtree(project / ".snakemake")
    (project / FIGURE).write_text(original)  # and back, where the old results still lie
    tiny.snakemake(project, overlay=QUICK)
    assert (project / OUTPUTS[0]).read_bytes() != grey


@pytest.mark.slow
def test_one_more_alpha0_computes_that_curve_only(paper_project):
    project = paper_project
    tiny.edit(project / FIGURE, "alpha0: [0.5, 1, 2, .inf]", "alpha0: [0.5, 1, 2, 8, .inf]")
    assert tiny.planned(project, overlay=QUICK) == {
        "parameters": 1, "theory": 2, "montecarlo": 1, "merge": 1, "scores": 1, "figures": 1,
    }  # fmt: skip


@pytest.mark.slow
def test_more_replicates_compute_those_only(paper_project):
    project = paper_project
    tiny.edit(project / "config/quick.yaml", "networks: 4", "networks: 8")
    shards = list((project / "results/montecarlo").rglob("*.nc"))
    assert tiny.planned(project, overlay=QUICK) == {
        "montecarlo": len(shards), "eigenvalues": 3, "merge": 8, "scores": 8, "figures": 8,
    }  # fmt: skip


@pytest.mark.slow
def test_a_change_of_colour_redraws_only(paper_project):
    project = paper_project
    (project / FIGURE).write_text((project / FIGURE).read_text() + STYLE)
    before = (project / OUTPUTS[0]).read_bytes()
    assert tiny.planned(project, overlay=QUICK) == {"figures": 1}
    tiny.snakemake(project, OUTPUTS[0], overlay=QUICK)
    assert (project / OUTPUTS[0]).read_bytes() != before


@pytest.mark.slow
def test_drawing_again_gives_the_same_bytes(paper_project):
    project = paper_project
    before = {name: (project / name).read_bytes() for name in OUTPUTS}
    for name in OUTPUTS:
        (project / name).unlink()
    tiny.snakemake(project, "figures/fig2.pdf", overlay=QUICK)
    assert {name: (project / name).read_bytes() for name in OUTPUTS} == before


def test_snakemakes_lint_finds_only_what_is_argued():
    # Every rule runs in the one environment that the package itself is installed in, so that
    # what a rule computes is what the library computes: no rule has another of its own. And
    # PYTHONPATH is extended if there is one, not required, as `envvars` would have it.
    command = [sys.executable, "-m", "snakemake", "--lint"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    found = set(
        re.findall(r"^ +\* (.+?)(?: in line \d+.*)?[:.]*$", done.stdout + done.stderr, re.MULTILINE)
    )
    assert found == {
        "Specify a conda environment or container for each rule",
        "Environment variable PYTHONPATH used but not asserted with envvars directive",
    }
