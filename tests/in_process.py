"""The data of all figures of the paper, made in this process: no job starts, tiny networks."""

from importlib import import_module

import pytest
import yaml
from tiny import configured

from giantstep.pipeline.planning.config import load_config, load_yaml
from giantstep.pipeline.planning.identities import merged_name
from giantstep.pipeline.planning.layout import STAGES
from giantstep.pipeline.planning.plan import make_plan
from giantstep.pipeline.stages import spectrum
from giantstep.pipeline.stages.merge import merge_figure
from giantstep.pipeline.stages.result import compute_result
from giantstep.pipeline.stages.scores import score_table
from giantstep.pipeline.storage import large_netcdf, netcdf

SIZES = {"dimension": 100, "networks": 2, "trainings": 2, "test_samples": 500}
POINTS = 9


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
    plan = make_plan(project, load_config(project, [overlay]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spectrum, "POINTS", 100)
        for stage, tasks in plan.tasks.items():
            for key, task in tasks.items():
                module = import_module(STAGES[stage].module)
                path = made(project, stage, key)
                netcdf.write(compute_result(module, task), path, f"{stage}/{key}")
    for name, figure in plan.figures.items():
        given = figure.curves, figure.science, figure.sizes, figure.root_seed
        merged = merge_figure(*given, project)
        large_netcdf.write(merged, made(project, "merge", name), merged_name(project, figure))
        score_table(merged).to_csv(made(project, "scores", name), index=False)


def made(project, stage, name):
    """Return the path of a stage's file, whose folder exists."""
    path = project / STAGES[stage].paths(name)[0]
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
