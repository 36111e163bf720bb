"""A figure of losses shows theory and networks."""

from dataclasses import replace

from giantstep.figures import figs2
from giantstep.pipeline.planning.tasks import Curve
from giantstep.pipeline.stages import montecarlo, parameters, theory
from giantstep.pipeline.stages.join_lines import join_lines
from giantstep.pipeline.stages.merge_curve import merge_curve
from giantstep.pipeline.stages.scores import score_table
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.problems.sizes import Sizes

PROTOCOL = Protocol("tanh", "sign", 2, alpha0=1, beta=1)


def test_a_figure_of_losses_holds_and_draws_both_sides():
    protocol, lines = replace(PROTOCOL, alpha0=0), []
    for panel in ("before", "after", "before_networks", "after_networks"):
        for loss in ("square", "logistic"):
            grid = Grid((0.5, 1.0), (0.01, 0.1), loss)
            curve = Curve(f"{panel}:loss={loss}", panel, protocol, "isotropic", loss, 40, {})
            found = {
                "parameters": [parameters.compute(protocol)],
                "theory": [theory.compute(protocol, grid)],
            }
            if panel.endswith("networks"):
                simulated = montecarlo.compute(protocol, grid, Sizes(40, 1, 200), range(2), 1)
                found["montecarlo"] = [simulated]
            lines += merge_curve(curve, found)
    data = join_lines(lines)
    table = score_table(data)
    scored = table[table["largest_z_score_classification_error"] != ""]
    assert set(scored["loss"]) == {"square", "logistic"}
    panels = {panel: {"title": panel} for panel in ("before", "after")}
    picture = figs2.draw(data, {"panels": panels, "style": {"colours": ["black", "red"]}})
    entries = [text.get_text() for text in picture.axes[0].get_legend().get_texts()]
    assert len(entries) == 2
    markers = [line for line in picture.axes[2].lines if line.get_linestyle() == "None"]
    assert all(len(line.get_xdata()) == 2 for line in markers)
