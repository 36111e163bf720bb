"""Whatever kills a run, the same command completes it, to the same bytes.

`make test-all` and `make test-kill` kill more often: KILLS of them, of which the first ones hit
each stage once.
"""

import os
import random
import signal
import subprocess
import time

import pytest
import tiny

from giantstep.pipeline.planning.layout import THEORY_STAGES

KILLS = int(os.environ.get("KILLS", "1"))


SEED = int(os.environ.get("KILLS_SEED", random.SystemRandom().randrange(10**6)))


# What a run says when it starts with each stage.
STARTS = {
    "montecarlo": "Networks of",
    "merge": "Merging",
    **{stage.name: f"\nresults/{stage.name}/" for stage in THEORY_STAGES if stage.name != "maps"},
    "eigenvalues": "Eigenvalues of",
    "recovery": "Overlaps of",
    "figures": "Drawing",
    "scores": "Scores of",
    "identity": "has changed",
}


def kill(project, start, delay, orphans):
    """Start a run, and kill it `delay` seconds after it said `start`; its jobs too, or not."""
    with (project / "said").open("w+") as said:
        running = subprocess.Popen(
            [*tiny.COMMAND, "2", "--configfile", tiny.TINY],
            cwd=project,
            env=tiny.environment(),
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        while running.poll() is None and start not in (project / "said").read_text():
            time.sleep(0.01)
        time.sleep(delay)
        hit = running.poll() is None
        if orphans:
            running.kill()
        elif hit:
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    return hit


NUMBERS = [0, *(pytest.param(number, marks=pytest.mark.slow) for number in range(1, KILLS))]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_killed_run_is_completed_by_the_same_command(tiny_run, tmp_path, number):
    dice = random.Random(f"{SEED}/{number}")
    project = tiny.make(tmp_path / "project")
    stage = list(STARTS)[number] if number < len(STARTS) else "any moment"
    delay = dice.uniform(0, 1 if number < len(STARTS) else 12)
    orphans = number % 2 == 0
    hit = kill(project, STARTS.get(stage, "Building DAG"), delay, orphans)
    left = sum(path.suffix == ".part" for path in project.rglob("*"))
    print(
        f"\nKILLS_SEED={SEED} kill {number}: {delay:.2f} s after the start of {stage},"
        f" {'only Snakemake' if orphans else 'with its jobs'}, {'hit' if hit else 'too late'},"
        f" {len(tiny.made(project))} files left, {left} half-written"
    )
    tiny.snakemake(project, cores=1 + number % 2)  # the undisturbed run had two
    assert tiny.made(project) == tiny.made(tiny_run)
