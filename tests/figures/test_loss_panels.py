"""A figure of losses shows theory and networks."""

from contextlib import chdir

import yaml
from in_process import make_figure
from tiny import ROOT, configured

from giantstep.workflow import store
from giantstep.workflow.config import load_config
from giantstep.workflow.drawing import load_drawing
from giantstep.workflow.plan import make_plan
from giantstep.workflow.scores import score_table

PANEL = {"activation": "tanh", "target": "sign", "learning_rate": 2, "alpha0": 0, "beta": 1}
PANEL |= {"ridge": [0.01, 0.1], "loss": ["square", "logistic"]}
NETWORKS = PANEL | {"dimension": 40, "networks": 2, "test_samples": 200}
FIGURE = {
    "title": "Losses",
    "caption": "Losses.",
    "theory": {"alpha": {"start": 0.5, "stop": 1, "points": 2}},
    "simulation": {"alpha": [0.5, 1]},
    "panels": {
        "before": PANEL | {"title": "before", "simulated": False},
        "after": PANEL | {"title": "after", "simulated": False},
        "before_networks": NETWORKS,
        "after_networks": NETWORKS,
    },
    "style": {"colours": ["#000000", "#ff0000"]},
}


def test_a_figure_of_losses_holds_and_draws_both_sides(tmp_path):
    root = configured(tmp_path)
    (root / "config/figures/losses.yaml").write_text(yaml.safe_dump(FIGURE))
    plan = make_plan(root, load_config(root) | {"figures": ["losses"]}).figure("losses")
    with chdir(root):
        make_figure(plan)
        data = store.read(plan.merged)
    table = score_table(data)
    scored = table[table["largest_z_score_classification_error"] != ""]
    assert set(scored["loss"]) == {"square", "logistic"}
    picture = load_drawing(ROOT, "figs2")(data, FIGURE)
    entries = [text.get_text() for text in picture.axes[0].get_legend().get_texts()]
    assert entries == ["square", "logistic", "before", "after"]
    markers = [line for line in picture.axes[1].lines if line.get_linestyle() == "None"]
    assert all(len(line.get_xdata()) == 2 for line in markers)
