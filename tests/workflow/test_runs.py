"""A run makes every figure, and the next one computes again what a change concerns, and no more."""

import re
import shutil
import subprocess
import sys
from collections import Counter

import pytest
import tiny
from tiny import ROOT, edit

from giantstep.files import UNFINISHED
from giantstep.workflow.config import load_config
from giantstep.workflow.missing import CHANGED, NETWORKS, NEW, missing_jobs
from giantstep.workflow.plan import make_plan

FIGURE = "config/figures/fig2.yaml"
DRAWN = {"key": 1, "figure": 1}
MERGED = {"key": 2, "merge": 1, "figure": 1}
ALL_DRAWN, ALL_MERGED = ({rule: 2 * n for rule, n in one.items()} for one in (DRAWN, MERGED))
SOLVED = {"parameters": 2, "theory": 2} | ALL_MERGED
TRAINED = {"montecarlo": 4} | ALL_MERGED
STYLE = "\nstyle: {colours: ['#000000', '#333333', '#666666', '#999999']}\n"


def appended(name, text):
    """An edit: a text at the end of a file."""
    return lambda project: edit(project / name, None, text)


def replaced(name, old, new):
    """An edit: a text for another."""
    return lambda project: edit(project / name, old, new)


def touched(project):
    """All that a user keeps in version control gets new times."""
    for name in ("config", "src", "workflow"):
        for path in (project / name).rglob("*.*"):
            path.touch()


SRC = "src/giantstep"
HARMLESS = (
    touched,
    lambda project: shutil.rmtree(project / ".snakemake"),
    appended(f"{SRC}/cli/main.py", "\nX = 1\n"),
    appended(f"{SRC}/explore/view.py", "\nX = 1\n"),
    replaced(f"{SRC}/theory/readout/solve.py", '"""', '"""Read: '),
    appended("workflow/rules/theory.smk", "# Remark\n"),
    replaced(tiny.TINY, "networks_per_job: 2", "networks_per_job: 3"),
    appended(tiny.TINY, "limits: {memory: 500}\n"),
    replaced(FIGURE, "alpha0: 1, beta: 1,", "alpha0: 1.0, beta: 1.0,"),
)
# Edits, and the jobs that they cause.
EDITS = {
    "theory": (appended(f"{SRC}/theory/bounds.py", "\nX = 1\n"), SOLVED),
    "simulation": (appended(f"{SRC}/simulation/ridge.py", "\nX = 1\n"), TRAINED),
    "a table": (appended(f"{SRC}/problems/losses.py", "\nX = 1\n"), SOLVED | TRAINED),
    "a drawing": (appended(f"{SRC}/figures/style.py", "\nX = 1\n"), ALL_DRAWN),
    "names": (appended(f"{SRC}/vocabulary.py", "\nX = 1\n"), SOLVED),
    "a script": (appended("workflow/scripts/merge.py", "\nX = 1\n"), ALL_MERGED),
    "a rule": (appended("workflow/rules/theory.smk", "\nX = 1\n"), ALL_MERGED),
    "a style": (appended(FIGURE, STYLE), DRAWN),
    "a caption": (replaced(FIGURE, "caption: Tiny", "caption: Small"), DRAWN),
    "a title": (replaced(FIGURE, "title: Tiny", "title: Small"), MERGED),
    "a ridge": (replaced(FIGURE, "ridge: 0.1", "ridge: 1"),
                MERGED | {"theory": 1, "montecarlo": 2}),
    "the theory's grid": (replaced(FIGURE, "points: 4", "points: 5"), MERGED | {"theory": 1}),
    "a network more": (replaced(tiny.TINY, "networks: 4", "networks: 5"),
                       ALL_MERGED | {"montecarlo": 2}),
    "fewer networks": (replaced(tiny.TINY, "networks: 4", "networks: 2"), ALL_MERGED),
    "the seed": (appended(tiny.TINY, "seed: 1\n"), TRAINED),
    "a figure less": (replaced(tiny.TINY, "[fig2, fig4]", "[fig2]"), {}),
    "its own drawing": (
        lambda project: shutil.copy(ROOT / SRC / "figures/default.py",
                                    project / "config/figures/fig2.py"), DRAWN),
}  # fmt: skip
FEW = ("theory", "a network more")
# What `giantstep explain` says of edits that do not concern the code which this process has read.
REASONS = {
    "a style": {("figure", CHANGED)},
    "a title": {("merge", CHANGED), ("figure", CHANGED)},
    "a ridge": {(stage, CHANGED) for stage in ("theory", "montecarlo", "merge", "figure")},
    "a network more": {("montecarlo", NETWORKS), ("merge", CHANGED), ("figure", CHANGED)},
}
SOME = [pytest.param(name, marks=() if name in FEW else pytest.mark.slow) for name in EDITS]


@pytest.mark.parametrize("name", SOME)
def test_an_edit_causes_the_jobs_that_it_concerns(project, name):
    change, jobs = EDITS[name]
    change(project)
    assert tiny.planned(project) == jobs
    if name in REASONS:
        told = explained(project)
        assert set(told) == REASONS[name]
        counts = Counter(stage for stage, _ in told)
        assert counts == {rule: n for rule, n in jobs.items() if rule != "key"}


def explained(project):
    """Explain what a run would do: the stages of jobs, and the reasons."""
    plan = make_plan(project, load_config(project, [project / tiny.TINY]))
    return [(job.stage, job.why) for job in missing_jobs(plan)]


def test_what_is_merged_does_not_need_its_results(project):
    next((project / "results/theory").glob("fig2-*.nc")).unlink()
    assert explained(project) == []  # what is merged does not need its results
    for made in ("results/figures/fig2.nc", "figures/fig4.png"):
        (project / made).unlink()
    assert explained(project) == [
        ("theory", NEW), ("merge", NEW), ("figure", CHANGED), ("figure", NEW),
    ]  # fmt: skip


def test_what_is_older_than_its_data_is_drawn_again(project):
    (project / "results/figures/fig2.nc").touch()
    shutil.rmtree(project / ".snakemake")  # checksums, by which small files are the same
    assert tiny.planned(project) == {"figure": 1}
    assert explained(project) == [("figure", CHANGED)]


def test_what_no_result_depends_on_causes_no_job(project):
    for change in HARMLESS:
        change(project)
    assert tiny.planned(project) == {}


def test_a_run_makes_every_figure_and_its_report_and_leaves_nothing_half_written(project):
    for name in ("fig2", "fig4"):
        for suffix in ("pdf", "svg", "png"):
            assert (project / f"figures/{name}.{suffix}").stat().st_size > 1000
    left = {folder.name for folder in (project / "results").iterdir()}
    assert left == {"parameters", "theory", "montecarlo", "keys", "figures", "scores"}
    assert not list(project.rglob(f"{UNFINISHED}*"))
    tiny.snakemake(project, "--report", "report.html")
    page = (project / "report.html").read_text()
    assert all(word in page for word in ("Tiny", "fig2.png", "fig4.png", "fig2.html"))
    assert not re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="(https?:[^"]+)"', page)


@pytest.mark.slow
def test_one_figure_is_made_alone_listed_or_not_and_follows_edits(project):
    (project / "config/figures/mine.yaml").write_text(tiny.FIGURE.replace("Tiny", "Mine"))
    assert tiny.planned(project, "figures/mine.png") == {
        "parameters": 1, "theory": 1, "key": 2, "merge": 1, "figure": 1,
    }  # fmt: skip
    tiny.snakemake(project, "figures/mine.png")
    edit(project / FIGURE, None, STYLE)
    assert tiny.planned(project, "figures/mine.png") == {}
    assert tiny.planned(project, "figures/fig2.svg") == DRAWN


def test_a_target_that_nothing_makes_is_told_in_a_sentence(project):
    for target, words in {
        "figures/fgi2.pdf": "there is no such figure; those of the project are fig1, fig2, ",
        "results/theory/fig2-000000000000.nc": "do not make results/theory/fig2-000000000000.nc",
        "results/montecarlo/tanh-000000000000/0-1.nc": "do not make results/montecarlo/tanh",
    }.items():
        said = tiny.snakemake(project, target, code=1)
        assert words in said
        assert "Traceback" not in said


@pytest.mark.slow
def test_a_run_without_a_core_is_refused(project):
    said = tiny.snakemake(project, "--forceall", cores=0, code=1)
    assert "--cores 0: a run needs at least one core" in said


def test_snakemakes_lint_finds_only_what_is_argued():
    # Every rule runs in the one environment that the package itself is installed in, so that
    # what a rule computes is what the library computes: no rule has another of its own.
    command = [sys.executable, "-m", "snakemake", "--lint"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    said = done.stdout + done.stderr
    found = set(re.findall(r"^ +\* (.+?)(?: in line \d+.*)?[:.]*$", said, re.MULTILINE))
    assert found == {"Specify a conda environment or container for each rule"}


def test_other_code_than_the_projects_is_refused(project):
    with (project / "src/giantstep/arrays.py").open("a") as module:
        module.write("EDITED = True\n")
    said = tiny.snakemake(project, code=1, variables={"PYTHONPATH": str(ROOT / "src")})
    assert "is not the project's" in said
    assert "Traceback" not in said
