"""Faults: of files while nothing runs, and of runs while they work."""

import contextlib
import subprocess
import sys
import time

import psutil
import tiny

# Damage of bytes.
DAMAGE = {
    "flipped": lambda whole, at: whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :],
    "truncated": lambda whole, at: whole[:at],
    "emptied": lambda whole, at: b"",
    "lengthened": lambda whole, at: whole + whole[:at],
    "zeroed": lambda whole, at: whole[:at] + bytes(512) + whole[at + 512 :],
    "doubled": lambda whole, at: whole[:at] + whole[at : at + 512] + whole[at:],
}


def start(project, environment=None, cores=2):
    """Start a run in a group of processes of its own; what it says goes to the file `said`."""
    with (project / "said").open("w") as said:
        return subprocess.Popen(
            # With Snakemake's own words, which name a job when it starts.
            [*tiny.COMMAND, str(cores), "--configfile", tiny.TINY, "--printshellcmds"],
            cwd=project,
            env=tiny.environment(project) | (environment or {}),
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def wait_for(running, project, words):
    """Wait until a run has said something, or has ended."""
    while running.poll() is None and words not in (project / "said").read_text(errors="replace"):
        time.sleep(0.05)


def signal_to(running, whom, number, dice):
    """Send a signal to the run, to a job, or to all; say whether it was in time."""
    if running.poll() is not None:
        return "too late"
    run = psutil.Process(running.pid)
    jobs = run.children(recursive=True)
    some = {"the run": [run], "all": [run, *jobs], "a job": dice.sample(jobs, min(1, len(jobs)))}
    for process in some[whom]:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(number)
    return f"{number.name} to {whom}"


def end(running):
    """Wait for a run, and kill it if SIGTERM came while Snakemake holds the lock it waits for."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        running.wait(120)
    running.kill()
    running.wait()


def run_beside(running, project):
    """Start another run in the same folder."""
    said = tiny.snakemake(project, code=None)
    told = "another run is at work" in said or "Nothing to be done" in said
    assert running.poll() is not None or told, said


def prune_beside(running, project):
    """Remove what no config refers to."""
    command = [sys.executable, "-m", "giantstep", "prune", "--yes"]
    done = subprocess.run(
        command, cwd=project, env=tiny.environment(project), capture_output=True, text=True
    )
    assert "Traceback" not in done.stderr, done.stderr
