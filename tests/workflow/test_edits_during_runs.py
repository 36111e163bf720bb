"""Code that is edited while a run is on: the jobs that it concerns stop, and write nothing."""

import subprocess
import time

import pytest
import tiny

SLOW = """
def compute(problem, dimension):
    from giantstep.pipeline.runtime.processes import wait_for_edit
    wait_for_edit()
    return _compute(problem, dimension)
"""
# In a module that runs jobs, since a stage may look for no file.
WAITING = """
def wait_for_edit():
    import time
    from pathlib import Path
    Path("started").touch()
    while not Path("edited").exists():
        time.sleep(0.05)
"""


def test_an_edit_during_a_job_is_noticed_before_its_result_is_written(project):
    stage = project / "src/giantstep/pipeline/stages/parameters.py"
    stage.write_text(stage.read_text().replace("def compute(", "def _compute(") + SLOW)
    with (project / "src/giantstep/pipeline/runtime/processes.py").open("a") as code:
        code.write(WAITING)
    before = set((project / "results/parameters").iterdir())
    running = subprocess.Popen(
        [*tiny.COMMAND, "1", "--until", "theory_fig2_1", "--configfile", tiny.TINY],
        cwd=project,
        env=tiny.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    while not (project / "started").exists():
        assert running.poll() is None, running.communicate()
        time.sleep(0.05)
    with (project / "src/giantstep/theory/features/equivalent_features.py").open("a") as code:
        code.write("edited = True\n")
    (project / "edited").touch()
    said, _ = running.communicate()
    assert running.returncode == 1
    assert "edited after the run was planned, run the same command" in said
    assert "Traceback" not in said
    assert set((project / "results/parameters").iterdir()) == before
    assert tiny.planned(project)["parameters"] == 1


def test_a_rule_that_runs_something_else_stops_a_run_before_its_first_job(project):
    script = 'script:\n            "../scripts/compute.py"'
    tiny.edit(project / "workflow/rules/theory.smk", script, 'shell:\n            "touch {output}"')
    assert "rule theory in workflow/rules runs no script" in tiny.snakemake(project, code=1)


@pytest.mark.slow
def test_a_job_on_a_cluster_that_finds_other_code_writes_nothing_under_a_planned_name(project):
    theory = next((project / "results/theory").glob("*.nc"))
    merged = project / "results/figures/fig2.nc"
    jobs = {theory: ("theory_fig2_1", ""), merged: ("merge", "figure=fig2")}

    def run(rule, wildcards, code=0):
        target = ("--target-jobs", f"{rule}:{wildcards}", "--allowed-rules", rule)
        return tiny.snakemake(project, "--mode", "remote", "--force", *target, code=code)

    before = {path: path.read_bytes() for path in jobs}
    for path, job in jobs.items():
        path.unlink()
        run(*job)
        assert path.read_bytes() == before[path]
    with (project / "src/giantstep/theory/features/equivalent_features.py").open("a") as code:
        code.write("edited = True\n")
    for path in jobs:
        path.unlink()
    run(*jobs[theory])  # computes what is planned now: the run misses its file
    assert "the run was planned, run the same command" in run(*jobs[merged], code=1)
    assert not any(path.exists() for path in jobs)
