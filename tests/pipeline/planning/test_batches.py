"""Jobs of theory make all results of a plan once; shards take about a minute."""

from types import SimpleNamespace

import pytest
import tiny

from giantstep.pipeline.planning import batches, blocks, costs
from giantstep.pipeline.planning.batches import theory_batches
from giantstep.pipeline.planning.config import load_config
from giantstep.pipeline.planning.layout import STAGES, THEORY_STAGES
from giantstep.pipeline.planning.plan import make_plan
from giantstep.pipeline.runtime.job import make_missing


@pytest.fixture(scope="module")
def plan():
    return make_plan(tiny.ROOT, load_config(tiny.ROOT, []))


def needed(figure):
    """The files of a figure's theory."""
    return {
        path
        for curve in figure.curves
        for stage in THEORY_STAGES
        for key in curve.keys.get(stage.name, ())
        for path in stage.paths(key)
    }


def test_every_result_of_the_theory_is_of_one_job_and_no_job_makes_more_than_a_figure_needs(plan):
    made = [path for batch in theory_batches(plan) for path in batch.paths]
    assert sorted(made) == sorted(set().union(*map(needed, plan.figures.values())))
    for batch in theory_batches(plan):
        for figure in plan.figures.values():
            assert needed(figure) >= set(batch.paths) or needed(figure).isdisjoint(batch.paths)


def test_results_that_take_long_are_split_over_jobs(plan, monkeypatch):
    whole = theory_batches(plan)
    monkeypatch.setattr(batches, "LONGEST", 2.0)
    split = theory_batches(plan)
    assert len(split) > len(whole)
    for batch in split:
        assert len(batch.tasks) == 1 or batch.cost.seconds <= 2 + costs.START_SECONDS
    assert len({batch.name for batch in split}) == len(split)


def test_shards_hold_each_replicate_once_and_take_a_minute_at_most_unless_one_does(plan):
    shards = {
        (stage.name, key): task
        for stage in STAGES.values()
        if stage.sharded
        for key, task in plan.tasks[stage.name].items()
    }
    for (stage, key), task in shards.items():
        one = blocks.replicate_seconds(task)
        assert len(task.networks) == 1 or len(task.networks) * one <= blocks.LONGEST_SHARD
        folder = key.partition("/")[0]
        others = [
            x.networks
            for (s, k), x in shards.items()
            if (s, k.partition("/")[0]) == (stage, folder)
        ]
        assert sorted(sum(others, ())) == list(range(16))


@pytest.mark.parametrize("networks", [1, 16, 17, 10_000])
@pytest.mark.parametrize("seconds", [1e-4, 0.7, 7.0, 61.0, 1e5])
def test_a_simulation_has_as_few_shards_as_a_minute_allows(networks, seconds):
    size = blocks.networks_per_shard(networks, seconds)
    shards = -(-networks // size)
    assert size == 1 or size * seconds <= blocks.LONGEST_SHARD
    assert (shards - 1) * int(blocks.LONGEST_SHARD / seconds) < networks


def test_a_result_that_exists_or_fails_does_not_stop_the_others_of_its_job(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").touch()
    made = []

    def make(path, task):
        if task.fails:
            raise OSError("no room")
        made.append(path.name)

    tasks = [SimpleNamespace(fails=name == "fails") for name in ("first", "there", "fails", "last")]
    with pytest.raises(SystemExit):
        make_missing(["first", "there", "fails", "last"], make, tasks)
    assert made == ["first", "last"]
