"""A plan holds each computation once, and is refused where it could not be carried out."""

import math

import pytest
import yaml
from tiny import ROOT, configured

from giantstep.pipeline.planning.config import InvalidConfigError
from giantstep.pipeline.planning.plan import make_plan


def test_the_theory_of_what_is_simulated_comes_besides_and_changes_no_other_result(tmp_path):
    def planned(figure, **changes):
        path = configured_path / f"config/figures/{figure}.yaml"
        config = yaml.safe_load(path.read_text())
        for panel in config["panels"].values():
            panel |= changes
        path.write_text(yaml.safe_dump(config))
        plan = make_plan(configured_path, main | {"figures": [figure]})
        return plan.tasks["theory"], plan.figures[figure].curves

    main = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    configured_path = configured(tmp_path)
    for figure, bulk in (("fig2", "trained"), ("fig4", "isotropic")):
        _, without = planned(figure, finite_size_theory=False)
        tasks, curves = planned(figure, finite_size_theory=True)
        for before, after in zip(without, curves, strict=True):
            limit, finite = after.keys["theory"]
            assert dict(before.keys) == dict(after.keys) | {"theory": (limit,)}
            assert (tasks[limit].bulk, tasks[limit].dimension) == ("isotropic", math.inf)
            assert (tasks[finite].bulk, tasks[finite].dimension) == (bulk, 1000)
        tasks, _ = planned(figure, dimension=300)
        assert {task.dimension for task in tasks.values()} == {math.inf, 300}


def test_a_panel_may_ask_for_both_bulks_over_the_same_simulations(tmp_path):
    configured(tmp_path)
    path = tmp_path / "config/figures/fig2.yaml"
    figure = yaml.safe_load(path.read_text())
    figure["panels"] = {"left": figure["panels"]["left"] | {"bulk": ["isotropic", "trained"]}}
    path.write_text(yaml.safe_dump(figure))
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    curves = make_plan(tmp_path, config | {"figures": ["fig2"]}).figures["fig2"].curves
    assert len({curve.keys["theory"] for curve in curves}) == 8
    assert len({curve.keys["montecarlo"] for curve in curves}) == 4
    figure["panels"]["left"] |= {"bulk": "trained", "dimension": 300}
    path.write_text(yaml.safe_dump(figure))
    plan = make_plan(tmp_path, config | {"figures": ["fig2"]})
    assert {task.sizes.dimension for task in plan.tasks["montecarlo"].values()} == {300}
    figure["panels"]["left"] |= {"bulk": "square", "dimension": 1}
    path.write_text(yaml.safe_dump(figure))
    with pytest.raises(InvalidConfigError, match="left.dimension"):
        make_plan(tmp_path, config | {"figures": ["fig2"]})


@pytest.mark.parametrize("name", ["a:b", "a\\b"])
def test_a_folder_whose_name_no_job_could_use_is_refused(tmp_path, name):
    project = tmp_path / name
    project.mkdir()
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    with pytest.raises(InvalidConfigError, match="choose another name") as caught:
        make_plan(configured(project), config)
    assert str(project) in str(caught.value)
