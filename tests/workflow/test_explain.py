"""`giantstep explain` agrees with a dry run, and says why; each change computes what it feeds."""

from collections import Counter

import pytest
import tiny

from giantstep.pipeline.upkeep.explain import explain

FIGURE = "config/figures/fig2.yaml"
QUICK = "config/quick.yaml"
STYLE = "\nstyle:\n  colours: ['#000000', '#333333', '#666666', '#999999']\n"


def explained(project, *figures, overlay=tiny.TINY):
    """Count the jobs of each stage, list their reasons, and add up what they cost."""
    jobs = explain(project, figures, [project / overlay])
    counts = dict(Counter(job.stage for job in jobs))
    return counts, {(job.stage, job.why) for job in jobs}, sum(job.cost.seconds for job in jobs)


def test_a_curve_more_and_another_style_are_explained(project):
    tiny.edit(
        project / "config/figures/fig4.yaml",
        "learning_rate: 1, alpha0: 1,",
        "learning_rate: 1, alpha0: [1, 4],",
    )
    (project / FIGURE).write_text((project / FIGURE).read_text() + STYLE)
    counts, why, _ = explained(project)
    assert counts == tiny.planned(project)
    assert counts == {
        "parameters": 1, "theory": 1, "dimensions": 1, "learning_rates": 1, "montecarlo": 2,
        "spectrum": 1, "eigenvalues": 2, "merge": 1, "scores": 1, "figures": 2,
    }  # fmt: skip
    assert why >= {
        ("theory", "not made yet"),
        ("merge", "its curves, or the code that merges, have changed"),
        ("figures", "its config, or the code that draws, has changed"),
    }


def test_other_parameters_other_code_and_more_replicates_are_explained(project):
    for figure in ("fig2", "fig4"):
        tiny.edit(project / f"config/figures/{figure}.yaml", "width: 8,", "width: 10,")
    tiny.edit(project / tiny.TINY, "networks: 4, trainings", "networks: 8, trainings")
    spectrum = next((project / "results/spectrum").glob("*.nc"))
    spectrum.rename(spectrum.with_name(f"{spectrum.stem[:-12]}000000000000.nc"))
    counts, why, _ = explained(project)
    assert counts == tiny.planned(project)
    assert (counts["montecarlo"], counts["recovery"]) == (2, 4)
    assert why >= {
        ("recovery", "parameters have changed: problem.width from 8 to 10"),
        ("montecarlo", "more replicates"),
        ("spectrum", "the code that computes it has changed"),
    }


@pytest.mark.slow
def test_explain_agrees_with_a_dry_run_and_says_why(paper_project):
    project = paper_project
    assert explained(project, overlay=QUICK) == ({}, set(), 0)

    original = (project / FIGURE).read_text()
    tiny.edit(project / FIGURE, "ridge: 0.01", "ridge: 0.02")
    counts, why, _ = explained(project, "fig2", overlay=QUICK)
    targets = ("figures/fig2.pdf", "results/scores/fig2.csv")
    assert counts == tiny.planned(project, *targets, overlay=QUICK)
    changed = "parameters have changed: grid.ridge from [0.01] to [0.02]"
    assert {("montecarlo", changed), ("theory", changed)} <= why
    assert ("merge", "its curves, or the code that merges, have changed") in why

    (project / FIGURE).write_text(original + STYLE)
    counts, why, _ = explained(project, overlay=QUICK)
    assert counts == tiny.planned(project, overlay=QUICK) == {"figures": 1}
    assert why == {("figures", "its config, or the code that draws, has changed")}

    (project / FIGURE).write_text(original.replace("alpha0: [0.5,", "alpha0: [0.25, 0.5,"))
    counts, why, _ = explained(project, overlay=QUICK)
    assert counts == tiny.planned(project, overlay=QUICK)
    assert {(stage, "not made yet") for stage in ("parameters", "theory", "montecarlo")} <= why


@pytest.mark.slow
def test_explain_counts_replicates_that_are_there(paper_project):
    project = paper_project
    tiny.edit(project / QUICK, "networks: 4", "networks: 4\n  networks_per_job: 2")
    counts, why, others = explained(project, overlay=QUICK)
    assert counts == tiny.planned(project, overlay=QUICK)
    assert ("montecarlo", "its replicates exist, in other shards") in why
    tiny.edit(project / QUICK, "networks: 4", "networks: 8")
    counts, _, more = explained(project, overlay=QUICK)
    assert counts == tiny.planned(project, overlay=QUICK)
    assert more > others


@pytest.mark.slow
def test_explain_tells_a_change_of_code_from_one_of_parameters(paper_project):
    project = paper_project
    theory = next((project / "results/theory").glob("tanh-tanh-eta1-alpha0_0.5-*.nc"))
    theory.rename(theory.with_name(f"{theory.stem[:-12]}000000000000.nc"))
    for made in ("results/figures/fig2.nc", "figures/fig2.pdf"):
        (project / made).unlink()
    counts, why, _ = explained(project, overlay=QUICK)
    assert counts == tiny.planned(project, overlay=QUICK)
    assert ("theory", "the code that computes it has changed") in why
    assert ("merge", "not made yet") in why
