"""A run says what its stages took, and what the cores did besides."""

import json

from giantstep.pipeline.runtime import run_times


def test_a_job_notes_its_numerics_and_the_run_adds_them_up(tmp_path, monkeypatch):
    monkeypatch.setattr(run_times._Clock, "computed", 0.0)
    with run_times.timed("theory", tmp_path), run_times.computing():
        sum(range(10**6))
    ((stage, computed, job),) = map(json.loads, (tmp_path / run_times._FILE).open())
    assert stage == "theory"
    assert 0 < computed <= job * 1.5


def test_the_overhead_is_what_the_cores_did_not_compute(tmp_path):
    lines = [["montecarlo", 60.0, 62.0], ["montecarlo", 30.0, 31.0], ["merge", 0.0, 2.0], "torn"]
    (tmp_path / run_times._FILE).write_text("".join(json.dumps(line) + "\n" for line in lines))
    said = list(run_times.summary(tmp_path, 60.0, cores=2))
    assert said[2].split() == ["montecarlo", "2", "90.0", "3.0"]
    assert said[3].split() == ["merge", "1", "0.0", "2.0"]
    assert said[-1].startswith("Overhead: 25.0% of 120 core-seconds")
    assert not any("Overhead" in line for line in run_times.summary(tmp_path, 60.0, None))
    run_times.forget_times(tmp_path)
    assert not list(run_times.summary(tmp_path, 60.0, 2))
