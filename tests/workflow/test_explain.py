"""`giantstep explain` says why, and agrees with a dry run; each change computes what it feeds."""

from collections import Counter

import pytest
import tiny
from tiny import edit

from giantstep.workflow.config import load_config
from giantstep.workflow.missing import missing_jobs
from giantstep.workflow.plan import make_plan

FIGURE = "config/figures/fig2.yaml"
STYLE = "\nstyle:\n  colours: ['#000000', '#333333', '#666666', '#999999']\n"
CURVES = "its curves, or the code that merges, have changed"
CHANGED = "its parameters, or the code that computes it, have changed"
DRAWN = "its data, its config, or the code that draws, have changed"


def missing(project):
    return missing_jobs(make_plan(project, load_config(project, [project / tiny.TINY])))


def explained(project):
    """Explain what a run would do; return the reasons of stages."""
    return {(job.stage, job.why) for job in missing(project)}


def same_as_planned(project):
    """Check that a dry run plans what is explained."""
    planned = tiny.planned(project)
    planned.pop("key", None)
    assert Counter(job.stage for job in missing(project)) == planned


CHANGES = [
    (FIGURE, None, "", set()),
    (FIGURE, None, STYLE, {("figure", DRAWN)}),
    (FIGURE, "title: Tiny", "title: Small", {("merge", CURVES), ("figure", DRAWN)}),
    (FIGURE, "beta: 1,", "beta: 2,",
     {("montecarlo", CHANGED), ("theory", CHANGED), ("merge", CURVES), ("figure", DRAWN)}),
    (FIGURE, "alpha0: 1,", "alpha0: [1, 4],",
     {("montecarlo", "not made yet"), ("merge", CURVES), ("figure", DRAWN)}),
    (tiny.TINY, "networks: 4", "networks: 6",
     {("montecarlo", "more replicates"), ("merge", CURVES), ("figure", DRAWN)}),
]  # fmt: skip


@pytest.mark.parametrize(("file", "old", "new", "why"), CHANGES)
def test_a_change_is_explained(project, file, old, new, why):
    edit(project / file, old, new)
    found = explained(project)
    assert found >= why
    assert bool(found) == bool(why)


@pytest.mark.slow
@pytest.mark.parametrize(("file", "old", "new", "why"), CHANGES[3:])
def test_a_change_is_explained_as_it_is_planned(project, file, old, new, why):
    edit(project / file, old, new)
    same_as_planned(project)


def test_what_is_missing_is_told_from_what_other_code_has_made(project):
    theory = next((project / "results/theory").glob("fig2-*.nc"))
    theory.rename(theory.with_name("fig2-000000000000.nc"))
    assert explained(project) == set()  # what is merged does not need its results
    for made in ("results/figures/fig2.nc", "figures/fig4.png"):
        (project / made).unlink()
    assert explained(project) == {
        ("theory", CHANGED),
        ("merge", "not made yet"),
        ("figure", "what it is made from is made again"),
        ("figure", "not made yet"),
    }
    same_as_planned(project)
