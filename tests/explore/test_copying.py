"""Copies of a question ask the same question, and exports are what the workflow makes."""

import math
import shlex
from dataclasses import replace
from io import StringIO

import numpy as np
import pandas as pd
import pytest
import yaml

pytest.importorskip("bokeh")

from tiny import configured, copied, snakemake

from giantstep.cli.main import main
from giantstep.explore.answers import answer
from giantstep.explore.copying import as_command, as_python
from giantstep.explore.export import export
from giantstep.explore.networks import simulate_networks
from giantstep.explore.project import make_figure_files, project_config
from giantstep.explore.question import Question
from giantstep.explore.tasks import ExportTask, NetworksTask
from giantstep.explore.view import Pin, View
from giantstep.validation import InvalidParametersError
from giantstep.workflow.config import load_yaml

QUICK = ("isotropic",)
VIEWS = (
    View(Question(target="sin", alpha0=math.inf, noise=0.5), stop=3.0, x_scale="log"),
    View(Question(target="sin", dimension=400.0, bulk=QUICK), x="learning_rate", start=1.0),
    View(Question(model="spiked", target="sin", ridge="optimal"), start=1.0, stop=2.0),
    View(Question(target="sin", bulk=("isotropic", "trained")), x="ridge"),
)


OF_TABS = (
    View(Question(target="sin", ridge="optimal", bulk=("isotropic", "trained")), tab="function"),
    View(Question(dimension=300.0, bulk=("isotropic",)), tab="spectrum"),
    View(
        Question(target="sin", bulk=QUICK),
        tab="map",
        across="steps",
        up="ridge",
        colour="gain_over_linear",
    ),
)
# The variable of a tab, and what its answer calls it.
DRAWN = {
    "curve": ("test_error", "test_error"),
    "function": ("learned_function", "y"),
    "spectrum": ("density", "density"),
    "map": ("gain_over_linear", "values"),
}


@pytest.mark.parametrize("view", [*VIEWS, *OF_TABS])
def test_copied_commands_and_python_give_the_numbers_that_are_shown(view, capsys):
    answer = shown(view).answer
    curve = answer["curves"][-1] if "curves" in answer else answer
    assert main([*shlex.split(as_command(view))[1:], "--format", "csv"]) == 0
    printed = pd.read_csv(StringIO(capsys.readouterr().out), comment="#")
    code, _, last = as_python(view).rstrip().rpartition("\n")
    namespace = {}
    exec(code, namespace)
    assert namespace["problem"] == view.question.problem
    found = eval(last, namespace)
    name, column = DRAWN[view.tab]
    if "bulk" in printed and printed.bulk.nunique() > 1:
        printed = printed[printed.bulk == curve["bulk"]]
        found = found.sel(bulk=curve["bulk"]) if "bulk" in found.dims else found
    if view.tab == "map":
        found = found.transpose(view.up, view.across)
    elif view.tab == "spectrum":  # copies have the points of the library
        at = np.interp(curve["x"][80], found["eigenvalue"], found)
        np.testing.assert_allclose(at, curve["density"][80], rtol=0.01)
        np.testing.assert_allclose(printed[name], found, rtol=1e-9)
        return
    ends = np.ravel(found)[[0, -1]]
    np.testing.assert_allclose(ends, np.ravel(curve[column])[[0, -1]], rtol=1e-12)
    np.testing.assert_allclose(sorted(printed[name].to_numpy()[[0, -1]]), sorted(ends), rtol=1e-9)


def shown(view, networks=None, simulated=True):
    said, found = [], [{}]
    answer(view, lambda one: said.append(one) if one else None)
    if networks and simulated:
        simulate_networks(networks, found.append)
    return ExportTask(view, said[-1], networks=networks, simulated=found[-1])


def exported(shown, name, project, form=""):
    said = []
    export(replace(shown, name=name, project=project, form=form), said.append)
    return said[0].get("exported")


def test_a_figure_goes_into_the_project_once(tmp_path):
    project = configured(tmp_path)
    asked = shown(VIEWS[0], NetworksTask(VIEWS[0], 64, 2, project), simulated=False)
    assert "mine.yaml" in exported(asked, "mine", project)
    panel = load_yaml(project / "config/figures/mine.yaml", "mine")["panels"]["tanh_sin"]
    assert (panel["dimension"], panel["networks"], panel["noise"]) == (64, 2, 0.5)
    for name in ("mine", " ", "../mine", "Mine", "mine.yaml"):
        with pytest.raises(InvalidParametersError, match="name = .*(not taken|a letter first)"):
            exported(asked, name, project)


EXPORTED = {
    "alone": View(Question(target="sin", beta=0.5), start=0.5, stop=2.0),
    "pinned": View(
        Question(target="sin"), x="steps", stop=3, pins=(Pin("noisy", Question(noise=0.5)),)
    ),
    "ridges": View(Question(target="sin", bulk=("trained",)), x="ridge"),
}


@pytest.mark.slow
def test_exports_have_the_bytes_of_the_workflows_own_figures(tmp_path):
    project = copied(tmp_path / "project")
    seen = {
        name: shown(view, NetworksTask(view, 40, 2, project)) for name, view in EXPORTED.items()
    }
    for name, one in seen.items():
        exported(one, name, project)
    (project / "config/mine.yaml").write_text(yaml.safe_dump({"figures": list(seen)}))
    snakemake(project, overlay="config/mine.yaml")
    for name, one in seen.items():
        for path in make_figure_files(
            tmp_path / name, replace(one, name=name), project_config(project)
        ).values():
            expected = project / path.relative_to(tmp_path / name)
            assert path.read_bytes() == expected.read_bytes(), path
