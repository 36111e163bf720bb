"""A panel over two parameters becomes a map, from its YAML to its drawing."""

import numpy as np
import pytest
import yaml
from tiny import configured

from giantstep.figures import default
from giantstep.pipeline.planning.config import InvalidConfigError, load_config
from giantstep.pipeline.planning.plan import make_plan
from giantstep.pipeline.stages import maps
from giantstep.pipeline.stages.join_lines import join_lines
from giantstep.pipeline.stages.merge_map import merge_map
from giantstep.pipeline.stages.result import compute_result
from giantstep.theory.bounds import best_linear_error

PANEL = {
    "activation": "tanh",
    "target": "sin",
    "alpha": 3,
    "ridge": 0.1,
    "beta": 1,
    "x": {"alpha0": {"start": 0.1, "stop": 30, "points": 3, "spacing": "log"}},
    "y": {"learning_rate": {"start": 0.5, "stop": 3, "points": 2}},
}


def planned(folder, *panels):
    """Plan a figure of maps, in a copy of the configs."""
    project = configured(folder)
    figure = {
        "title": "Maps",
        "caption": "",
        "panels": {f"map{k}": p for k, p in enumerate(panels)},
    }
    (project / "config/figures/figs13.yaml").write_text(yaml.safe_dump(figure))
    return figure, make_plan(project, load_config(project) | {"figures": ["figs13"]})


def test_a_map_holds_its_gains_and_is_drawn(tmp_path):
    wider = PANEL | {"x": {"alpha": {"start": 1, "stop": 2, "points": 2}}, "alpha0": 2}
    del wider["alpha"]
    figure, plan = planned(tmp_path, PANEL, wider)
    found = [compute_result(maps, task) for task in plan.tasks["maps"].values()]
    lines = [
        merge_map(curve, data)
        for curve, data in zip(plan.figures["figs13"].curves, found, strict=True)
    ]
    one = lines[0]
    assert one["map_test_error"].dims == ("row", "column")
    linear = 1 - one["map_test_error"] / best_linear_error("sin")
    np.testing.assert_allclose(one["gain_over_linear"], linear)
    assert (one["gain_over_no_step"].values[1] > 0).tolist() == [False, True, True]
    merged = join_lines(lines)
    drawing = default.draw(merged, figure)
    assert [axes.get_xlabel() for axes in drawing.axes] == [
        r"first batch $\alpha_0$",
        r"sample complexity $\alpha$",
    ]
    figure["panels"]["curves"] = {}
    with pytest.raises(ValueError, match="only the panels map0, map1 are maps"):
        default.draw(merged, figure)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"x": {"target": PANEL["x"]["alpha0"]}}, "panels.map0.x: target must be one of alpha, "),
        ({"learning_rate": 3}, "learning_rate: must be left out: it is an axis of the map"),
        ({"x": PANEL["y"]}, "must be another parameter than x"),
        ({"x": {"noise": PANEL["x"]["alpha0"]}}, "missing key 'alpha0'"),
        ({"activation": "sign"}, "must be continuous"),
    ],
)
def test_faults_of_a_map_are_found_before_anything_runs(tmp_path, change, words):
    with pytest.raises(InvalidConfigError, match=words):
        planned(tmp_path, PANEL | change)
