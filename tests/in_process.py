"""Data of figures of the paper, made in this process: no job starts, tiny networks.

Figures 4 and 5 are left out, which are merged and drawn as Figure 2 is.
"""

from contextlib import chdir

import pytest
import yaml
from tiny import configured

from giantstep.workflow import learning_config, store
from giantstep.workflow.config import load_config, load_yaml
from giantstep.workflow.jobs import compute
from giantstep.workflow.merge import merge_figure
from giantstep.workflow.plan import make_plan
from giantstep.workflow.results import read_results
from giantstep.workflow.scores import write_scores

SIZES = {"dimension": 100, "networks": 2, "trainings": 2, "test_samples": 500}
POINTS = 9
FIGURES = ["fig1", "fig2", "fig3", "fig6", "fig7", "fig8"]


def make(project):
    """Compute and merge what the workflow would, at fewer points and in smaller networks."""
    project.mkdir()
    configured(project)
    for path in (project / "config/figures").glob("fig?.yaml"):
        figure = load_yaml(path, path.name)
        if theory := figure.get("theory"):
            theory["alpha"]["points"] = min(POINTS, theory["alpha"]["points"])
        path.write_text(yaml.safe_dump(figure))
    overlay = project / "config/quick.yaml"
    overlay.write_text(yaml.safe_dump({"simulation": SIZES}))
    with pytest.MonkeyPatch.context() as patch, chdir(project):
        patch.setattr(learning_config, "_POINTS", 100)
        plan = make_plan(project, load_config(project, [overlay]))
        for name in FIGURES:
            make_figure(plan.figure(name))


def make_figure(figure):
    """Make the merged file and the scores of a figure in this folder."""
    for path, tasks in figure.jobs.items():
        store.write(compute(tasks), path)
    results = read_results(figure, figure.solved, figure.files_of("montecarlo"))
    merged = merge_figure(figure, results)
    store.write(merged, figure.merged)
    write_scores(merged, *figure.scores)
