"""Copies of a question ask the same question, and exports are what the pipeline makes."""

import math
import shlex
from io import StringIO

import numpy as np
import pandas as pd
import pytest
import yaml

pytest.importorskip("bokeh")

from in_process import made
from tiny import configured

from giantstep.cli.main import main
from giantstep.explore.answers import answer
from giantstep.explore.copying import as_command, as_panel, as_python
from giantstep.explore.export import export, file_of
from giantstep.explore.networks import simulate_networks
from giantstep.explore.question import Question
from giantstep.explore.tasks import ExportTask, NetworksTask, Shown
from giantstep.explore.view import View
from giantstep.figures import style
from giantstep.figures.learning_curves import learning_figure
from giantstep.pipeline.planning.config import load_config, load_yaml
from giantstep.pipeline.planning.config_models import StepsPanel
from giantstep.pipeline.planning.layout import STAGES
from giantstep.pipeline.planning.plan import make_plan
from giantstep.pipeline.stages.merge import merge_figure
from giantstep.pipeline.stages.result import compute_result
from giantstep.pipeline.storage import netcdf
from giantstep.validation import InvalidParametersError

VIEWS = (
    View(Question(target="sin", alpha0=math.inf, noise=0.5), stop=3.0, x_scale="log"),
    View(Question(target="sin", dimension=400.0), x="learning_rate", start=1.0),
    View(Question(model="spiked", target="sin", ridge="optimal"), start=1.0, stop=2.0),
    View(Question(target="sin", bulk=("isotropic", "trained_norms")), x="ridge"),
)


@pytest.mark.parametrize("view", VIEWS)
def test_copied_commands_and_python_give_the_numbers_that_are_shown(view, capsys):
    curve = shown(view).answer["curves"][-1]
    assert main([*shlex.split(as_command(view))[1:], "--format", "csv"]) == 0
    printed = pd.read_csv(StringIO(capsys.readouterr().out), comment="#")
    namespace = {}
    exec(as_python(view).rpartition("answer.test_error")[0], namespace)
    assert namespace["problem"] == view.question.problem
    error = namespace["answer"].test_error
    if "bulk" in error.dims:
        error, printed = error.sel(bulk=curve["bulk"]), printed[printed.bulk == curve["bulk"]]
    np.testing.assert_allclose(error[[0, -1]], curve["test_error"][[0, -1]], rtol=1e-12)
    ends = printed.test_error.to_numpy()[[0, -1]]
    np.testing.assert_allclose(ends, curve["test_error"][[0, -1]], rtol=1e-9)


def test_a_copied_panel_is_one_that_the_pipeline_reads():
    for view in (VIEWS[0], VIEWS[1], VIEWS[3]):
        panel = yaml.safe_load(yaml.safe_dump(as_panel(view.question)))
        assert StepsPanel.model_validate(panel).target == "sin"


def shown(view, networks=None):
    said, simulated = [], [{}]
    answer(view, said.append)
    if networks:
        simulate_networks(networks, simulated.append)
    return Shown(view, said[-1], networks, simulated[-1])


def drawn_by_the_pipeline(project, name, form):
    """Compute, merge and draw a figure as the jobs of the workflow do."""
    from importlib import import_module

    plan = make_plan(project, load_config(project) | {"figures": [name]})
    for stage, tasks in plan.tasks.items():
        for key, task in tasks.items():
            module = import_module(STAGES[stage].module)
            netcdf.write(compute_result(module, task), made(project, stage, key), f"{stage}/{key}")
    figure = plan.figures[name]
    merged = merge_figure(figure.curves, figure.science, figure.sizes, figure.root_seed, project)
    path = project / f"drawn.{form}"
    with style.settings():
        style.save(learning_figure(merged, figure.config), path)
    return path.read_bytes()


def test_a_drawing_has_the_bytes_of_the_pipelines_own(tmp_path):
    project = configured(tmp_path)
    view = View(Question(target="sin", beta=0.5), start=0.5, stop=2.0)
    asked = shown(view, NetworksTask(view, 40, 2, project))
    said = []
    export(ExportTask(asked, name="mine", project=project), said.append)
    assert "mine.yaml" in said[0]
    panel = load_yaml(project / "config/figures/mine.yaml", "mine")["panels"]["tanh_sin"]
    assert (panel["dimension"], panel["networks"], panel["beta"]) == (40, 2, 0.5)
    assert file_of(asked, "svg") == drawn_by_the_pipeline(project, "mine", "svg")
    with pytest.raises(InvalidParametersError, match="not taken"):
        export(ExportTask(asked, name="mine", project=project), said.append)


@pytest.mark.parametrize("name", ["", "../mine", "Mine", "mine.yaml"])
def test_a_figure_has_a_plain_name_within_the_project(tmp_path, name):
    (tmp_path / "config/figures").mkdir(parents=True)
    task = ExportTask(shown(View()), name=name or " ", project=tmp_path)
    with pytest.raises(InvalidParametersError, match="name"):
        export(task, lambda said: None)
    assert not list((tmp_path / "config/figures").iterdir())
