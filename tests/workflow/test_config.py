"""A configuration is checked whole, and becomes the curves and tasks that it describes."""

import copy
import json
import math
import runpy

import pytest
import tiny
import yaml

from giantstep.workflow.config import InvalidConfigError, load_config, load_yaml, with_numbers
from giantstep.workflow.figure_config import read_figure, read_figures
from giantstep.workflow.plan import make_plan

CONFIG = load_config(tiny.ROOT) | {"figures": ["fig2"]}
FIGURE = load_yaml(tiny.ROOT / "config/figures/fig2.yaml", "fig2.yaml")
AXIS = {"start": 0.5, "stop": 8, "points": 5, "spacing": "log"}
# Panels of several steps, and of an sRF.
SEVERAL = {
    **{"activation": "tanh", "target": "sin", "learning_rate": 1, "alpha0": 1, "beta": 1},
    **{"ridge": 0.1, "steps": 2},
}
PANEL = {name: value for name, value in SEVERAL.items() if name != "steps"}
# Without a theory.
LETTERS = SEVERAL | {"readout": {1: 0.5, 2: 0.5}, "reuse_batch": True}
SRF = {
    **{"activation": "tanh", "target": "sin", "bulk_variance": 1, "spike_strength": 1},
    **{"alignment": 1, "beta": 1, "ridge": 0.1},
}
MAP = {
    **{"activation": "tanh", "target": "sin", "alpha": 1, "ridge": 0.1, "beta": 1},
    **{"x": {"alpha0": AXIS}, "y": {"learning_rate": AXIS}},
}


@pytest.fixture
def write(tmp_path):
    """A project whose figure 2 is written by a test."""
    (tmp_path / "config/figures").mkdir(parents=True)

    def write(figure):
        text = figure if isinstance(figure, str) else yaml.safe_dump(figure, sort_keys=False)
        (tmp_path / "config/figures/fig2.yaml").write_text(text)
        return tmp_path

    return write


def with_panel(panel, **rest):
    return FIGURE | {"panels": {"left": panel}} | rest


def changed(path, value):
    """Change one place of figure 2; a value of None removes it."""
    figure = copy.deepcopy(FIGURE)
    *way, last = path.split(".")
    place = figure
    for step in way:
        place = place[step]
    place[last] = value
    if value is None:
        del place[last]
    return figure


def curves(root, config=CONFIG):
    return {curve.name: curve for curve in read_figure(root, "fig2", config).curves}


def faults(root, config=CONFIG):
    with pytest.raises(InvalidConfigError) as raised:
        read_figures(root, config)
    return list(raised.value.faults)


def test_the_schemas_that_editors_read_are_those_of_the_models():
    folder = tiny.ROOT / "workflow/schemas"
    schemas = runpy.run_path(tiny.ROOT / "packaging/schemas.py")["schemas"]()
    assert {path.name: path.read_text() for path in folder.iterdir()} == schemas, "make schemas"


@pytest.mark.parametrize(
    "path", sorted((tiny.ROOT / "config").rglob("*.yaml")), ids=lambda x: x.stem
)
def test_every_config_names_its_schema_and_fits_it(path):
    jsonschema = pytest.importorskip("jsonschema")  # Snakemake brings it
    first = path.read_text().partition("\n")[0]
    schema = (path.parent / first.removeprefix("# yaml-language-server: $schema=")).resolve()
    jsonschema.validate(load_yaml(path, path.name), json.loads(schema.read_text()))


@pytest.mark.parametrize("overlay", ["quick", "paper", "scale", "supplement"])
def test_all_figures_of_an_overlay_are_sound(overlay):
    config = load_config(tiny.ROOT, [tiny.ROOT / f"config/{overlay}.yaml"])
    assert [figure.name for figure in read_figures(tiny.ROOT, config)] == config["figures"]


def test_covariances_are_files_of_the_project(write):
    for name in "spectrum.csv", "../outside.csv":
        root = write(with_panel(PANEL | {"covariance": [name, "power:0.3"], "dimension": 3}))
        (root / name).write_text("3\n2\n1\n")
        if name.startswith(".."):
            assert "panels: '../outside.csv' must be a file of the project" in faults(root)[0]
        else:
            plan = make_plan(root, CONFIG).figure("fig2")
            assert not plan.drawing  # nothing but its numbers counts
            assert "left:covariance=spectrum.csv" in curves(root)


def test_all_faults_of_all_files_are_told_at_once(write):
    figure = changed("panels.left.beta", -1)
    figure["panels"]["right"] |= {"activation": "sign", "ridge": [0.1, float("nan")]}
    figure |= {"style": {"colours": ["#0072b2", 1]}, "simulation": {"alpha": [1, "one"]}}
    told = "\n".join(faults(write(figure), CONFIG | {"seed": -1, "figures": ["fig2", "fig99"]}))
    for words in (
        "config/config.yaml (with its overlays): seed: -1 must be a whole number from 0 to 9",
        "fig2.yaml: panels.right.ridge.1: nan must be a number from 0 to 1e+15",
        "fig2.yaml: style.colours.1: 1 must be a valid string",
        "fig2.yaml: simulation.alpha.1: 'one' must be a valid number",
        "fig2.yaml: panels.left.beta: -1 must be a number from 1e-09 to 1e+09",
        "fig2.yaml: panels.right.activation: 'sign' must be continuous, for gradient steps",
        "config/figures/fig99.yaml: top level: there is no such figure; those of the project are",
    ):
        assert words in told, told


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("title", None, "title: this key is missing"),
        ("colour", "red", "colour: unknown key"),
        ("reads", ["data.csv"], "reads: 'data.csv' must be a file of the project"),
        ("style", {"colours": ["bleu"]}, "style.colours.0: 'bleu' must match pattern '^#"),
        ("panels", {}, "panels: must be maps, or learning"),
        ("panels.left.title", True, "left.title: True must be a valid string"),
        ("panels.left.ridges", 1, "panels.left.ridges: unknown key; did you mean ridge?"),
        ("panels.left.ridge", [], "panels.left.ridge: [] must have at least 1 item"),
        ("panels.left.ridge", [0.1, 0.1], "left.ridge: [0.1, 0.1] must list each entry once"),
        ("panels.left.activation", "swish", "must be one of tanh, erf, sin"),
        ("panels.left.networks", 10**400, "must be less than or equal to 1000000"),
        ("panels.left.lower_bound", True, "lower_bound: needs a spike along the target"),
        ("panels.left.alpha0", None, "must have all of (learning_rate, alpha0) or"),
        ("panels.left.alignment", 0.5, "left.alignment: this key belongs elsewhere"),
        ("panels.left.loss", "hinge", "left.loss: 'hinge' must be a loss for any labels"),
        ("panels.left.learning_rates", AXIS | {"stop": 1e13}, "must be a number from 0 to 1e+12"),
        ("panels.left.step_exponent", 0.3, ""),
        ("simulation.alpha", [1e-9], "simulation.alpha or spectrum.alpha: 1e-09 must be such that"),
        ("spectrum", {"alpha": 1e-9}, "spectrum.alpha: 1e-09 must be such that alpha * dim"),
        ("theory.alpha.stop", 0.1, "stop, 0.1, must be greater than start"),
        ("theory.alpha.points", 141.5, "theory.alpha.points: 141.5 must be a valid integer"),
    ],
)
def test_a_broken_figure_is_refused_with_its_place_and_remedy(write, path, value, words):
    if not words:  # a sound one
        assert curves(write(changed(path, value)))
        return
    told = faults(write(changed(path, value)))
    assert all(fault.startswith("config/figures/fig2.yaml: ") for fault in told)
    assert words in told[0], told


@pytest.mark.parametrize(
    ("panel", "rest", "words"),
    [
        (LETTERS | {"bulk": "trained"}, {}, "left: needs a theory: reuse_batch must be false"),
        (LETTERS | {"learning_rates": AXIS}, {}, "panels.left: needs a theory"),
        (LETTERS | {"simulated": False}, {}, "panels.left: needs a theory"),
        (LETTERS, {"spectrum": {"alpha": 2}}, "panels.left: needs a theory: reuse_batch must"),
        (PANEL | {"step_exponent": 0.3, "optimal": True}, {}, "left.optimal: needs the giant step"),
        (SRF | {"steps": 2}, {}, "steps: this key belongs elsewhere"),
        (MAP | {"y": {"steps": AXIS}, "learning_rate": 1}, {}, "'steps' must be 'learning_rate', "),
        (MAP | {"x": {"alpha0": AXIS | {"stop": 10**30}}}, {}, "left.alpha0: 1e+30 must be"),
        (MAP | {"stop_at": 1}, {}, "left.ridge: must be given once"),
        (SEVERAL | {"stop_at": [1, 2], "loss": "huber"}, {}, "left.loss: 'huber' must be left out"),
        (MAP | {"alpha0": 1}, {}, "left.alpha0: must be given once: as an axis or"),
        (MAP | {"y": {"alpha0": AXIS}}, {}, "left.alpha0: must be given once"),
        ({x: of for x, of in MAP.items() if x != "beta"}, {}, "left.beta: this key is missing"),
        ({x: of for x, of in MAP.items() if x != "alpha"}, {}, "left.alpha: this key is missing"),
        (SEVERAL | {"learning_rates": AXIS, "learning_rate": "3/2"}, {}, "differ: learning_rate"),
        (SEVERAL | {"learning_rates": AXIS, "alpha0": "2/3"}, {}, "where steps differ: alpha0"),
    ],
)
def test_what_does_not_go_together_is_refused(write, panel, rest, words):
    assert any(words in fault for fault in faults(write(with_panel(panel, **rest))))


def test_what_is_solved_at_sample_complexities_needs_some(write):
    figure = with_panel(PANEL | {"optimal": True, "bayes_optimal": True})
    del figure["theory"], figure["simulation"]
    needed = "left.optimal: needs", "left.bayes_optimal: needs", "learning curves with"
    for field, told in zip(needed, faults(write(figure)), strict=True):
        assert f"{field} theory.alpha or simulation.alpha" in told


def test_a_number_may_be_written_as_people_do(write):
    root = write(yaml.safe_dump(FIGURE, sort_keys=False).replace("alpha0: 2", "alpha0: 2e0"))
    assert any(curve.problem.alpha0 == 2 for curve in curves(root).values())
    assert with_numbers({"limits": {"core_hours": "2e6"}}) == {"limits": {"core_hours": 2e6}}


def test_a_repeated_key_is_told_where_it_is_repeated(tmp_path):
    path = tmp_path / "figure.yaml"
    path.write_text("title: one\nridge: 1\ntitle: two\n")
    with pytest.raises(InvalidConfigError, match="'title' appears twice.* line 3, column 1"):
        load_yaml(path, "figure.yaml")


def test_a_merged_key_is_not_a_repeated_one(tmp_path):
    path = tmp_path / "figure.yaml"
    path.write_text("one: &one {ridge: 1.0e+4}\ntwo:\n  <<: *one\n  beta: 1\n")
    assert load_yaml(path, "figure.yaml")["two"] == {"ridge": 1e4, "beta": 1}


def test_what_could_never_run_is_refused_with_what_it_would_take(write):
    for limit, simulation, words in (
        ({}, {"dimension": 10**6}, "GiB of memory in one job"),
        ({"core_hours": 1}, {"networks": 100_000}, "core-hours, and must take at most 1:"),
    ):
        sizes = CONFIG["simulation"] | simulation
        told = faults(write(FIGURE), CONFIG | {"limits": limit, "simulation": sizes})
        assert any(words in fault for fault in told), told
    tight = {"core_hours": 1e-9, "memory": 1e-9}
    told = faults(write(FIGURE), CONFIG | {"limits": tight})
    assert all(f"(with its overlays): limits.{x}" in y for x, y in zip(tight, told, strict=True))


def test_a_panel_may_have_sizes_of_its_own_or_no_simulation(write):
    figure = changed("panels.right.simulated", False)
    figure["panels"]["left"] |= {"networks": 3, "dimension": 70, "test_samples": 7}
    for curve in curves(write(figure)).values():
        assert set(curve.networks) == ({"replicates"} if curve.panel == "left" else set())
        for task in curve.networks.values():
            given = task.arguments
            assert list(given["networks"]) == [0, 1, 2]
            assert (given["dimension"], given["test_samples"]) == (70, 7)


def test_the_theory_of_what_is_simulated_comes_besides_and_changes_no_other_task(write):
    alone = curves(write(changed("panels.left.finite_size_theory", False)))
    for name, curve in curves(write(FIGURE)).items():
        assert curve.networks == alone[name].networks
        assert curve.theory["limit"] == alone[name].theory["limit"]
        assert curve.theory["limit"].arguments["dimension"] == math.inf
        finite = curve.theory["finite"].arguments
        assert (finite["bulk"], finite["dimension"]) == ("trained", 1000)
        assert ("finite" in alone[name].theory) == (curve.panel == "right")


def test_all_steps_are_simulated_and_those_of_one_letter_or_fresh_batches_have_a_theory_too(write):
    panel = LETTERS | {"readout": [{1: 1}, {1: 0.5, 2: 0.5}], "reuse_batch": [False, True]}
    read = curves(write(with_panel(panel)))
    assert "left:readout=1:1,reuse_batch=true" in read
    for curve in read.values():
        assert set(curve.networks) == {"replicates"}
        known = len(curve.problem.readout) == 1 or not curve.problem.reuse_batch
        assert known == ("limit" in curve.theory) == ("parameters" in curve.theory)


def test_a_panel_takes_a_number_for_each_step_beside_one_for_all(write):
    panel = SEVERAL | {"alpha0": [4, "2/6"], "learning_rate": "3/1", "decay": "0.1/0"}
    read = curves(write(with_panel(panel)))
    assert {name: curve.problem.alpha0 for name, curve in read.items()} == {
        "left:alpha0=4": 4,
        "left:alpha0=2/6": (2, 6),
    }
    assert all(curve.problem.learning_rate == (3, 1) for curve in read.values())
    (told,) = faults(write(with_panel(panel | {"learning_rate": "3/2/1"})))
    assert "as many as steps, or one for all" in told
    (told,) = faults(write(with_panel(panel | {"learning_rate": "3/x"})))
    assert "a number from 0 to 1e+12, or one such for each step" in told


def test_smaller_steps_have_the_theory_of_a_dimension_alone(write):
    panel = SEVERAL | {"steps": 1, "step_exponent": [0.2, 0.5], "dimension": [64, 128]}
    theory = {"dimension": {"start": 64, "stop": 1e6, "points": 5, "spacing": "log"}}
    read = curves(write(with_panel(panel, theory=theory)))
    roles = {name: set(curve.theory) for name, curve in read.items()}
    always = {"parameters", "dimensions", "references"}
    assert roles == {
        f"left:step_exponent={s},dimension={d}": {role, f"{role}_learned", *always}
        for s, role in ((0.2, "finite"), (0.5, "limit"))
        for d in (64, 128)
    }


def test_a_map_is_one_sweep_over_its_axes(write):
    (curve,) = curves(write(with_panel(MAP))).values()
    arguments = curve.theory["map"].arguments
    assert len(arguments["alpha0"]) == len(arguments["learning_rate"]) == 5
    assert not curve.networks
