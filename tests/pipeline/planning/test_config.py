"""A config is checked whole: every fault at once, with its file, place, value and remedy."""

import copy
import json
import math
import shutil
from inspect import signature

import pytest
import yaml
from tiny import ROOT, configured

from giantstep.pipeline.planning import costs
from giantstep.pipeline.planning.config import InvalidConfigError, load_yaml
from giantstep.pipeline.planning.config_models import (
    RecoveryPanel,
    SpikedFeaturesPanel,
    StepsPanel,
)
from giantstep.pipeline.planning.config_schema import schema_files
from giantstep.pipeline.planning.identities import identity
from giantstep.pipeline.planning.job_code import read_code_anew
from giantstep.pipeline.planning.plan import make_plan
from giantstep.pipeline.runtime.drawing_code import load_drawing
from giantstep.problems.protocol import Protocol
from giantstep.problems.recovery import Recovery
from giantstep.problems.spiked_features import one_spike

DEFAULTS = yaml.safe_load((ROOT / "config/config.yaml").read_text())


CONFIG = DEFAULTS | {"figures": ["fig2"]}


# Panels of several steps, of an sRF, and of what first layers see.
SEVERAL = {
    **{"activation": "tanh", "target": "sin", "learning_rate": 1, "alpha0": 1, "beta": 1},
    **{"ridge": 0.1, "steps": 2, "reuse_batch": True},
}
RATES = {"start": 0.5, "stop": 8, "points": 5, "spacing": "log"}


SRF = {
    **{"activation": "tanh", "target": "sin", "bulk_variance": 1, "spike_strength": 1},
    **{"alignment": 1, "beta": 1, "ridge": 0.1},
}


SEEN = {"activation": "elu", "teacher": "z1*z2", "learning_rate": 1, "alpha0": 1}


@pytest.fixture
def project(tmp_path):
    """A copy of the project's configs, whose figure 2 may be edited."""
    configured(tmp_path)
    path = tmp_path / "config/figures/fig2.yaml"

    def edit(change):
        figure = yaml.safe_load(path.read_text())
        change(figure)
        path.write_text(yaml.safe_dump(figure, allow_unicode=True))
        return tmp_path

    return edit


def faults(root, config=CONFIG):
    with pytest.raises(InvalidConfigError) as raised:
        make_plan(root, config)
    return [str(fault) for fault in raised.value.faults]


CONFIGS = sorted((ROOT / "config").rglob("*.yaml"))


def test_the_schemas_that_editors_read_are_those_of_the_models():
    folder = ROOT / "workflow/schemas"
    written = {path.name: path.read_text() for path in folder.iterdir()}
    assert written == schema_files(), "run make schemas"


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_every_config_names_its_schema_and_fits_it(path):
    jsonschema = pytest.importorskip("jsonschema")  # Snakemake brings it
    first = path.read_text().partition("\n")[0]
    schema = (path.parent / first.removeprefix("# yaml-language-server: $schema=")).resolve()
    jsonschema.validate(load_yaml(path, path.name), json.loads(schema.read_text()))


def test_panels_may_set_every_parameter_of_their_problems():
    for panel, make in (
        (StepsPanel, Protocol),
        (SpikedFeaturesPanel, one_spike),
        (RecoveryPanel, Recovery),
    ):
        assert set(signature(make).parameters) <= set(panel.model_fields)


@pytest.mark.parametrize("overlay", ["quick", "paper"])
def test_overlays_change_known_keys_only(overlay):
    config = copy.deepcopy(DEFAULTS)
    changes = load_yaml(ROOT / f"config/{overlay}.yaml", overlay)
    config["simulation"] |= changes.pop("simulation")
    plan = make_plan(ROOT, config | changes)
    assert list(plan.figures) == DEFAULTS["figures"]
    assert len(plan.figures["fig2"].curves) == 8


def test_the_best_ridge_of_any_loss_may_be_asked_for(project):
    losses = {"loss": ["square", "huber"], "optimal": True}
    root = project(lambda figure: figure["panels"]["left"].update(losses))
    tasks = make_plan(root, CONFIG).tasks["theory"].values()
    seconds = {task.grid.loss: costs.theory(task).seconds for task in tasks if task.optimal}
    assert seconds["huber"] > 10 * seconds["square"]


def test_all_faults_of_all_kinds_are_told_at_once(project):
    def spoil(figure):
        figure["panels"]["left"] |= {"beta": -1, "alpha0": [1, -2]}
        figure["panels"]["right"] |= {"activation": "sign", "ridge": [0.1, float("nan")]}
        figure["style"] = {"colours": ["red", "notacolour"]}
        figure["simulation"]["alpha"] = [1.0, float("nan")]

    told = faults(project(spoil), CONFIG | {"seed": -1})
    for words in (
        "config/config.yaml (with its overlays): seed: -1 must be a whole number from 0 to 2^63",
        "panels.right.ridge: nan must be a number from 0 to 1e+15",
        "style.colours.1: 'notacolour' must be a colour",
        "simulation.alpha.1: nan must be a finite number > 0",
        "config/figures/fig2.yaml: panels.left.beta: -1.0 must be a number from 1e-09 to 1e+09",
        "config/figures/fig2.yaml: panels.left.alpha0: -2.0 must be a number from 0 to 1e+15, or ",
        "panels.right.activation: 'sign' must be continuous, for gradient steps",
    ):
        assert any(words in fault for fault in told), (words, told)
    assert len(told) == len(set(told))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f.pop("title"), "missing key 'title'"),
        (lambda f: f.update(colour="red"), "unknown key 'colour'"),
        (lambda f: f["panels"]["left"].update(ridges=1), "panels.left: unknown key 'ridges'"),
        (lambda f: f["panels"]["left"].update(ridge=[]), "panels.left.ridge"),
        (lambda f: f["panels"]["left"].update(ridge="0.1"), "panels.left.ridge: '0.1' must be"),
        (lambda f: f["panels"]["left"].update(ridge=[-1]), "panels.left.ridge: -1.0 must be"),
        (lambda f: f["panels"]["left"].update(activation="swish"), "one of tanh, erf, sin"),
        (lambda f: f["panels"]["left"].update(inputs=["student_t:2"]), "one of gaussian, rad"),
        (lambda f: f["panels"]["left"].update(model="network"), "model: is for an sRF"),
        (lambda f: f["panels"]["left"].update(bias={1: 1}), "left.bias: is for an sRF"),
        (
            lambda f: f["panels"]["left"].update(networks=10**400),
            "a whole number from 1 to 1000000",
        ),
        (lambda f: f["panels"]["left"].update(dimension=20), "left.dimension: 20 must be 64 or"),
        (lambda f: f["panels"]["left"].update(lower_bound=True), "needs a spike along the target"),
        (lambda f: f["panels"]["left"].update(readout=[{1: 1}, {1.0: 1}]), "appears twice"),
        (lambda f: f["panels"]["left"].update(readout=[{"a": 1}, {1: 1}]), "pairs of a number"),
        (lambda f: f.update(spectrum={"alpha": float("inf")}), "spectrum.alpha: inf must be"),
        (lambda f: f.update(spectrum={"alpha": 1e-9}), "spectrum.alpha: 1e-09 must be such"),
        (lambda f: f["panels"]["left"].pop("ridge"), "panels.left: missing key 'ridge'"),
        (lambda f: f["panels"]["left"].update(alignment=0.5), "must have all of"),
        (lambda f: f["panels"]["left"].pop("alpha0"), "must have all of (learning_rate, alpha0)"),
        (lambda f: f["simulation"].update(alpha=[0.5, 0]), "simulation.alpha.1: 0 must be"),
        (lambda f: f["simulation"].update(alpha=[float("nan")]), "simulation.alpha.0: nan must be"),
        (lambda f: f["simulation"].update(alpha=[1e-9]), "such that alpha * dimension"),
        (lambda f: f["simulation"].update(alpha=[]), "simulation.alpha: [] must be"),
        (lambda f: f["theory"]["alpha"].update(stop=0.1), "theory.alpha.stop: 0.1 must be finite"),
        (lambda f: f["panels"]["left"].update(readout={1: 0.5}), "the fractions adding up to 1"),
        (lambda f: f["panels"]["left"].update(beta=10**400), "panels.left.beta: inf must be"),
        (lambda f: f["theory"]["alpha"].update(points=141.0), "theory.alpha.points: 141.0 must be"),
        (lambda f: f["panels"]["left"].update(steps=0), "panels.left.steps: 0 must be a whole"),
        (lambda f: f["panels"]["left"].update(reuse_batch=1), "reuse_batch: 1 must be true or"),
        (
            lambda f: f["panels"].update(left=SEVERAL | {"bulk": "trained"}),
            "left.bulk: needs a th",
        ),
        (lambda f: f["panels"].update(left=SEVERAL | {"optimal": True}), "optimal: needs a theory"),
        (
            lambda f: f["panels"].update(left=SEVERAL | {"finite_size_theory": True}),
            "left.finite_size_theory: needs a theory, which needs fresh batches",
        ),
        (lambda f: f["panels"].update(left=SEVERAL | {"lower_bound": True}), "needs a spike along"),
        (lambda f: f["panels"].update(left=SEVERAL | {"simulated": False}), "left: needs simulati"),
        (
            lambda f: f.update(spectrum={"alpha": 2}, panels={"left": SEVERAL}),
            "spectrum: needs a theory of left, which needs fresh batches",
        ),
        (lambda f: f["panels"].update(left=SRF | {"steps": 2}), "steps: is for gradient steps"),
        (lambda f: f["panels"].update(left=SEEN | {"teacher": "z1*z9"}), "left.teacher: 'z1*z9' m"),
        (
            lambda f: f["panels"].update(left=SEEN | {"target": "sin"}),
            "left.target: is for gradient steps or an sRF",
        ),
        (lambda f: f["panels"].update(left=SEEN | {"exponent": 3}), "alpha0: 1.0 must be such tha"),
        (lambda f: f["panels"].update(left=SEEN | {"width": 7}), "left.width: 7 must be even"),
        (
            lambda f: f["panels"]["left"].update(loss="absolute"),
            "left.loss: 'absolute' must be one",
        ),
        (lambda f: f["panels"]["left"].update(loss="hinge", target="sin"), "left.loss: 'hinge' m"),
        (lambda f: f["panels"]["left"].update(loss=["huber", "huber:1"]), "appears twice"),
        (lambda f: f["panels"]["left"].update(loss="huber", ridge=0), "left.ridge: 0.0 must be"),
        (lambda f: f["panels"]["left"].update(outlier_fraction=2), "outlier_fraction: 2.0 must be"),
        (lambda f: f["panels"].update(left=SEEN | {"steps": 10**9}), "steps: 1000000000 must be"),
        (lambda f: f.update(panels={}), "panels: {} must be one or more panels"),
    ],
)
def test_a_broken_figure_is_refused_with_its_place_and_remedy(project, change, words):
    (fault,) = faults(project(change))
    assert fault.startswith("config/figures/fig2.yaml: ")
    assert words in fault


def test_a_panel_may_have_sizes_of_its_own_or_no_simulation(project):
    def change(figure):
        figure["panels"]["left"] |= {"networks": 3, "dimension": 70, "test_samples": 7}
        figure["panels"]["right"]["simulated"] = False

    curves = (plan := make_plan(project(change), CONFIG)).figures["fig2"].curves
    tasks = [
        plan.tasks["montecarlo"][key]
        for curve in curves
        for key in curve.keys.get("montecarlo", ())
    ]
    assert {curve.panel for curve in curves if "montecarlo" in curve.keys} == {"left"}
    assert {task.networks for task in tasks} == {(0, 1, 2)}
    assert {(task.sizes.dimension, task.sizes.test_samples) for task in tasks} == {(70, 7)}
    assert all("theory" in curve.keys for curve in curves)


def test_all_steps_are_simulated_and_those_on_fresh_batches_have_a_theory_too(project):
    def change(figure):
        figure["panels"] = {"left": SEVERAL | {"steps": [1, 2], "reuse_batch": [False, True]}}

    curves = make_plan(project(change), CONFIG).figures["fig2"].curves
    assert all("montecarlo" in curve.keys for curve in curves)
    assert all(
        (curve.problem.steps == 1 or not curve.problem.reuse_batch)
        == ("theory" in curve.keys)
        == ("parameters" in curve.keys)
        for curve in curves
    )
    assert {"left:reuse_batch=true,steps=2"} < {curve.name for curve in curves}


def test_theory_along_the_dimension_is_solved_once_for_all_simulated_dimensions(project):
    def change(figure):
        figure["theory"]["dimension"] = {"start": 64, "stop": 1e6, "points": 5, "spacing": "log"}
        steps = {"step_exponent": [0.2, 0.5], "dimension": [64, 128]}
        figure["panels"] = {"left": SEVERAL | {"steps": 1} | steps}

    plan = make_plan(project(change), CONFIG)
    names = {curve.name: curve.keys for curve in plan.figures["fig2"].curves}
    assert set(names) == {
        f"left:dimension={d},step_exponent={s}" for s in (0.2, 0.5) for d in (64, 128)
    }
    assert len(plan.tasks["dimensions"]) == 2
    # Smaller steps have other features at each dimension, and no theory of the limit.
    assert len(plan.tasks["parameters"]) == 3
    theories = {(t.problem.step_exponent, t.dimension) for t in plan.tasks["theory"].values()}
    assert theories == {(0.5, math.inf), (0.2, 64), (0.2, 128)}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (
            lambda f: f["theory"].update(dimension={"start": 1, "stop": 1e13, "points": 5}),
            "theory.dimension.stop: 10000000000000.0 must be a number from 2 to 1e+12, or inf",
        ),
        (
            lambda f: f["panels"]["left"].update(step_exponent=0.3, optimal=True),
            "panels.left.optimal: needs the giant step (step_exponent 0.5)",
        ),
        (
            lambda f: f["panels"].update(left=SEVERAL | {"learning_rates": RATES}),
            "panels.left.learning_rates: needs a theory, which needs fresh batches",
        ),
        (
            lambda f: f["panels"]["left"].update(learning_rates=RATES | {"stop": 1e13}),
            "panels.left.learning_rates.stop: 10000000000000.0 must be a number from 0 to 1e+12",
        ),
    ],
)
def test_what_smaller_steps_dimensions_and_rates_have_no_theory_of_is_refused(
    project, change, fault
):
    assert any(fault in found for found in faults(project(change), CONFIG))


def test_what_first_layers_see_is_planned_by_teacher_and_dimension(project):
    seen = SEEN | {"teacher": ["z1", "z1*z2"], "dimension": [20, 30], "networks": 3}
    plan = make_plan(project(lambda figure: figure.update(panels={"left": seen})), CONFIG)
    curves = plan.figures["fig2"].curves
    assert curves[1].name == "left:teacher=z1,dimension=30"
    tasks = [plan.tasks["recovery"][key] for curve in curves for key in curve.keys["recovery"]]
    assert [task.dimension for task in tasks] == [20, 30, 20, 30]
    assert {task.networks for task in tasks} == {(0, 1, 2)}


def test_a_broken_main_config_is_refused():
    config = copy.deepcopy(CONFIG)
    config["simulation"]["networks"] = 0
    config["sed"] = 1
    del config["seed"]
    told = "\n".join(faults(ROOT, config))
    assert "simulation.networks: 0 must be a whole number from 1 to 1000000" in told
    assert "unknown key 'sed'" in told
    assert "missing key 'seed'" in told
    config = copy.deepcopy(CONFIG)
    config["simulation"]["dimension"] = 32
    assert "simulation.dimension: 32 must be 64 or more" in "\n".join(faults(ROOT, config))
    config = copy.deepcopy(CONFIG)
    config["simulation"]["test_samples"] = "exact"
    (fault,) = faults(ROOT, config)
    assert "simulation.test_samples: 'exact' must be a whole number >= 1, since the act" in fault


def test_a_figure_that_does_not_exist_is_named():
    (fault,) = faults(ROOT, CONFIG | {"figures": ["fig2", "fig99"]})
    assert "config/figures/fig99.yaml: top level: there is no such file" in fault


@pytest.mark.parametrize("text", ["", "- a list", "title: [", "\x00", "just words"])
def test_a_file_that_is_no_figure_is_refused(project, text):
    root = project(lambda figure: None)
    (root / "config/figures/fig2.yaml").write_text(text)
    told = faults(root)
    assert all(fault.startswith("config/figures/fig2.yaml: top level: ") for fault in told)


def test_a_figure_is_drawn_by_the_code_beside_its_yaml_its_module_or_as_learning_curves(project):
    root = project(lambda figure: None)
    for name in ("style", "mine"):  # the package has a module of that name, which draws nothing
        shutil.copy(root / "config/figures/fig2.yaml", root / f"config/figures/{name}.yaml")
    own = root / "config/figures/mine.py"
    own.write_text("def draw(data, config):\n    return data, config\n")
    plan = make_plan(root, CONFIG | {"figures": ["fig2", "style", "mine"]})
    drawings = {name: figure.drawing for name, figure in plan.figures.items()}
    modules = {"fig2": "giantstep.figures.fig2", "style": "giantstep.figures.default"}
    assert drawings == modules | {"mine": str(own)}
    assert load_drawing(str(own))(1, 2) == (1, 2)
    before = identity(plan.root, plan.figures["mine"], "figures")
    own.write_text("def draw(data, config):\n    return config, data\n")
    read_code_anew()
    assert identity(plan.root, plan.figures["mine"], "figures") != before


@pytest.mark.parametrize("text", ["x = 1\n", "def draw(:\n"])
def test_code_beside_a_yaml_that_draws_nothing_is_refused(project, text):
    root = project(lambda figure: None)
    (root / "config/figures/fig2.py").write_text(text)
    (fault,) = faults(root)
    assert "config/figures/fig2.py" in fault


def test_a_repeated_key_is_refused_and_a_bare_exponent_is_a_number(tmp_path):
    path = tmp_path / "figure.yaml"
    path.write_text("ridge: 1e-4\n")
    assert load_yaml(path, "figure.yaml") == {"ridge": 1e-4}
    path.write_text("one: &one {ridge: 1.0e4}\ntwo:\n  <<: *one\n  beta: 1\n")
    assert load_yaml(path, "figure.yaml")["two"] == {"ridge": 1e4, "beta": 1}
    path.write_text("ridge: 1\nridge: 2\n")
    with pytest.raises(InvalidConfigError, match="'ridge' appears twice"):
        load_yaml(path, "figure.yaml")
