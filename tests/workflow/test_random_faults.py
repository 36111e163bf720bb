"""Whatever happens to files and runs, the next run ends in the same bytes.

Rounds of random faults, for FAULTS_SECONDS in all. FAULTS_SEED=N chooses a series.
"""

import os
import random
import resource
import shutil
import time
from itertools import count
from pathlib import Path

import faults
import pytest
import tiny

from giantstep.pipeline.planning.config import load_config
from giantstep.pipeline.planning.plan import make_plan
from giantstep.pipeline.upkeep import integrity

SECONDS = float(os.environ.get("FAULTS_SECONDS", "60"))
SEED = int(os.environ.get("FAULTS_SEED", "0"))
# Longer than any run of the tiny project takes.
HANGS = 300


def disturb(project, dice):
    """Remove some files, do something to others, and disturb a run; say what was done."""
    names = list(tiny.made(project))
    for name in dice.sample(names, dice.randrange(len(names) // 2)):
        (project / name).unlink()
    done = [dice.choice(faults.OF_FILES)(project, dice) for _ in range(dice.randrange(4))]
    environment = dice.choice([{}, *faults.ENVIRONMENTS])
    largest = dice.choice([resource.RLIM_INFINITY] * 4 + [dice.randrange(100_000)])
    running = faults.start(project, environment, largest, cores=dice.choice([1, 2]))
    done += [f"run with {environment}, files up to {largest} bytes"]
    for _ in range(dice.randrange(3)):
        time.sleep(dice.uniform(0, 5))
        done.append(dice.choice(faults.OF_RUNS)(running, project, dice))
    running.wait(HANGS)
    return "; ".join(done)


@pytest.mark.parametrize("rounds", [20, pytest.param(100, marks=pytest.mark.slow)])
def test_no_file_that_a_fault_has_changed_passes_as_made(tiny_run, tmp_path, rounds):
    plan = make_plan(tiny_run, load_config(tiny_run, [tiny_run / tiny.TINY]))
    undisturbed = tiny.made(tiny_run)
    for number in range(rounds):
        dice = random.Random(number)
        project = shutil.copytree(tiny_run, tmp_path / "project")
        done = [dice.choice(faults.OF_FILES)(project, dice) for _ in range(3)]
        integrity.set_damaged_aside(project, plan, done.append)
        places = [project / name for name in undisturbed]
        assert all(place.is_file() for place in places if os.path.lexists(place)), (number, done)
        found = tiny.made(project)
        marks = [name for name in undisturbed.keys() - found.keys() if "identity" in name]
        for name in found.keys() & undisturbed.keys():
            # Without the mark of its figure, a file is made again.
            if "identity" not in name and not any(Path(name).stem in mark for mark in marks):
                assert found[name] == undisturbed[name], (number, done)
        shutil.rmtree(project)


@pytest.mark.slow
def test_after_random_faults_a_run_ends_in_the_same_bytes(tiny_run, tmp_path):
    end, undisturbed = time.monotonic() + SECONDS, tiny.made(tiny_run)
    for number in count():
        dice = random.Random(f"{SEED}/{number}")
        project = shutil.copytree(tiny_run, tmp_path / "project")
        done = disturb(project, dice)
        print(f"FAULTS_SEED={SEED} round {number}: {done}", flush=True)
        # By name, what nothing else needs is made again, too.
        said = tiny.snakemake(project, "all", *undisturbed, code=None)
        after = {k: v for k, v in tiny.made(project).items() if ".damaged" not in k}
        assert after == undisturbed, said
        assert tiny.planned(project) == {}
        shutil.rmtree(project)
        if time.monotonic() > end:
            break
