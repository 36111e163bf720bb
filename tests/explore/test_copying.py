"""Copies of a question ask the same question, and so do exports."""

import math
import shlex
from dataclasses import replace
from io import StringIO

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("bokeh")

from tiny import configured

from giantstep.cli.main import main
from giantstep.explore.answers import answer
from giantstep.explore.copying import as_command, as_python
from giantstep.explore.export import answered, export
from giantstep.explore.networks import simulate_networks
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
    answer = shown_by(view)
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


def shown_by(view):
    said = []
    answer(view, lambda one: said.append(one) if one else None)
    return said[-1]


def simulated(view, networks):
    said = []
    simulate_networks(networks, said.append)
    return ExportTask(view, networks=networks, simulated=said[-1])


def exported(shown, name, project, form=""):
    said = []
    export(replace(shown, name=name, project=project, form=form), said.append)
    return said[0].get("exported")


def test_a_figure_goes_into_the_project_once(tmp_path):
    project = configured(tmp_path)
    asked = ExportTask(VIEWS[0], networks=NetworksTask(VIEWS[0], 64, 2, project))
    assert "mine.yaml" in exported(asked, "mine", project)
    panel = load_yaml(project / "config/figures/mine.yaml", "mine")["panels"]["curve1"]
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


@pytest.mark.parametrize("name", EXPORTED)
def test_exports_have_curves_of_pins_and_bulks_and_networks_beside_their_theory(name, tmp_path):
    view = EXPORTED[name]
    task = simulated(view, NetworksTask(view, 40, 2, configured(tmp_path)))
    found, said = answered(task), task.simulated
    own = found.sel(curve="this question")
    error = own.test_error.isel(bulk=0).sel(theory="finite")
    at = error.sel({view.x: said["x"]}).values
    np.testing.assert_allclose(at, said["theory"]["at"], rtol=1e-9)
    measured = own.simulated_test_error_mean.sel({view.x: said["x"]})
    np.testing.assert_array_equal(measured, said["mean"])
    assert found.sizes["curve"] == 1 + len(view.pins)
    for form in ("csv", "nc", "png"):
        said = []
        export(replace(task, name=name, form=form), said.append)
        assert said[0]["file"]["name"] == f"{name}.{form}"


@pytest.mark.parametrize("view", OF_TABS)
def test_exports_of_all_tabs_are_drawn(view):
    for form in ("csv", "svg"):
        said = []
        export(ExportTask(view, form=form), said.append)
        assert len(said[0]["file"]["content"]) > 1000
