"""On a Slurm cluster the workflow makes the same files, whatever happens to its jobs.

`make test-slurm` starts the cluster that these tests run on.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[3]
CLUSTER = Path(__file__).with_name("cluster.sh")
# Two figures, cut down to what has every stage, each in seconds.
SMALL = """
figures: [fig1, fig8]
simulation: {dimension: 100, networks: 4, test_samples: 2000}
"""
# What this cluster is, and that tests need not wait for a network's file system.
SETTINGS = [
    "--slurm-init-seconds-before-status-checks", "1", "--latency-wait", "10", "--cores", "4",
]  # fmt: skip
ON_SLURM = ["--profile", "profiles/slurm", *SETTINGS]
SIMULATED = "results/figures/fig1.nc"
# Seconds after which something hangs; all that is waited for takes one or two minutes.
PATIENCE = 900


class Run:
    """A run of the workflow, in its folder, that goes on while the test does."""

    def __init__(self, project, *arguments, **mishap):
        self.said = project / "said.txt"
        command = [sys.executable, "-m", "snakemake", *arguments, "--configfile", "small.yaml"]
        clean = {k: v for k, v in os.environ.items() if not k.startswith("SNAKEMAKE")}
        if mishap:  # of simulating jobs, see sitecustomize.py
            path = os.pathsep.join([str(CLUSTER.parent), clean.get("PYTHONPATH", "")])
            named = {f"GIANTSTEP_{name.upper()}": str(value) for name, value in mishap.items()}
            clean |= named | {"PYTHONPATH": path}
        with self.said.open("w") as out:
            self.process = subprocess.Popen(
                command, cwd=project, env=clean, stdout=out, stderr=subprocess.STDOUT
            )

    def finish(self, code=0):
        """Wait for the end; give what was printed."""
        try:
            assert self.process.wait(PATIENCE) == code, self.said.read_text()
        finally:
            self.process.kill()
        return self.said.read_text()


def new_project(folder):
    folder.mkdir()
    for name in ("Snakefile", "config", "workflow", "profiles"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    (folder / "small.yaml").write_text(SMALL)
    learned, spectra = (folder / f"config/figures/{name}.yaml" for name in ("fig1", "fig8"))
    learned.write_text(learned.read_text().replace("[0, 0.5, 2, 8]", "[0, 8]"))
    config = yaml.safe_load(spectra.read_text())
    config["panels"] = dict(list(config["panels"].items())[:1])
    spectra.write_text(yaml.safe_dump(config))
    return folder


@pytest.fixture
def project(tmp_path):
    return new_project(tmp_path / "project")


@pytest.fixture(scope="module")
def on_one_machine(tmp_path_factory):
    """What a run without a cluster makes."""
    project = new_project(tmp_path_factory.mktemp("local") / "project")
    Run(project, "--cores", "2").finish()
    return made(project)


@pytest.fixture(scope="module", autouse=True)
def out_of_time(tmp_path_factory):
    """A run in which a job is stopped until its time is over; it waits beside the other tests."""
    folder = tmp_path_factory.mktemp("time")
    project = new_project(folder / "project")
    paused = folder / "paused"
    limits = ["--set-resources", "montecarlo:runtime=attempt"]
    run = Run(project, SIMULATED, *ON_SLURM, *limits, paused=paused)
    yield project, run
    run.process.kill()


def made(project):
    """The bytes of all results and figures, by their paths."""
    files = [path for folder in ("results", "figures") for path in (project / folder).rglob("*.*")]
    return {str(path.relative_to(project)): path.read_bytes() for path in files if path.is_file()}


def wait_until(happened):
    end = time.monotonic() + PATIENCE
    while not (found := happened()):
        assert time.monotonic() < end
        time.sleep(0.2)
    return found


def queue(form, project):
    """What squeue says, in its own form, of the jobs of a project."""
    command = ["squeue", "--noheader", "--states", "all", "--format", f"%Z {form}"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [line.split(maxsplit=1)[1] for line in lines if line.split()[0] == str(project)]


def ends(project):
    """How the submissions of a project's simulations ended, by Slurm."""
    return {line.split()[0] for line in queue("%T %k", project) if "networks" in line}


def stopped_job(project, paused):
    """The ID and the node of the job that was stopped in the middle of a shard."""
    wait_until(paused.exists)
    running = [line.split() for line in queue("%T %i %N %k", project) if "networks" in line]
    return next((job, node) for state, job, node, _ in running if state == "RUNNING")


def test_the_whole_workflow_makes_the_same_bytes_in_few_submissions(project, on_one_machine):
    said = Run(project, *ON_SLURM).finish()
    assert made(project) == on_one_machine
    assert len(re.findall("has been submitted with SLURM jobid", said)) <= 3


def test_a_job_that_fails_is_named_with_its_log_and_what_to_do(project, on_one_machine):
    said = Run(project, SIMULATED, *ON_SLURM, "--retries", "0", full=1).finish(code=1)
    logs = set(re.findall(r"logs/montecarlo/\S*?\.log", said))
    assert "Error in group networks" in said
    assert ends(project) == {"FAILED"}
    assert "run the same command again" in said
    # Jobs that share a submission with the one that failed may be stopped before they fail, too.
    assert any("No space left on device" in (project / log).read_text() for log in logs)
    Run(project, SIMULATED, *ON_SLURM).finish()
    assert made(project)[SIMULATED] == on_one_machine[SIMULATED]


def test_a_node_that_loses_power_costs_the_run_only_time(project, tmp_path, on_one_machine):
    run = Run(project, SIMULATED, *ON_SLURM, paused=tmp_path / "paused")
    _, node = stopped_job(project, tmp_path / "paused")
    subprocess.run([CLUSTER, "cut", node], check=True)
    try:
        run.finish()
        assert ends(project) == {"NODE_FAIL", "COMPLETED"}
    finally:
        subprocess.run([CLUSTER, "restore", node], check=True)
    assert made(project)[SIMULATED] == on_one_machine[SIMULATED]


def test_a_controller_that_is_away_for_half_a_minute_costs_the_run_only_time(
    project, tmp_path, on_one_machine
):
    run = Run(project, SIMULATED, *ON_SLURM, paused=tmp_path / "paused")
    job, _ = stopped_job(project, tmp_path / "paused")
    subprocess.run([CLUSTER, "cut", "controller"], check=True)
    time.sleep(30)
    assert run.process.poll() is None
    subprocess.run([CLUSTER, "restore", "controller"], check=True)
    subprocess.run(["scancel", job], check=True)  # which it learns by asking again
    run.finish()
    assert ends(project) == {"CANCELLED", "COMPLETED"}
    assert made(project)[SIMULATED] == on_one_machine[SIMULATED]


def test_a_job_out_of_time_is_tried_again_with_more(out_of_time, on_one_machine):
    project, run = out_of_time
    run.finish()
    assert ends(project) == {"TIMEOUT", "COMPLETED"}
    limits = [line.split()[0] for line in queue("%l %k", project) if "networks" in line]
    # A busy machine may need the second retry as well.
    assert sorted(limits) in (["1:00", "2:00"], ["1:00", "2:00", "3:00"])
    assert made(project)[SIMULATED] == on_one_machine[SIMULATED]
