"""Whatever stops, disturbs or edits a run, the same command completes it, in the same bytes.

KILLS kills a run so often, at random moments; KILLS_SEED repeats a series.
"""

import os
import random
import shutil
import signal
import time

import faults
import pytest
import tiny

KILLS = int(os.environ.get("KILLS", "1"))
SEED = os.environ.get("KILLS_SEED", str(random.SystemRandom().randrange(10**6)))
# Longer than any run of the tiny project takes.
HANGS = 600
# What a run says when it starts a job of each rule.
STARTS = ("Networks", "Merging", "Theory of", "Drawing", "Key of", "Equivalent", "Building")


@pytest.mark.slow
@pytest.mark.parametrize("number", range(KILLS))
def test_a_killed_run_is_completed_by_the_same_command(undisturbed, tmp_path, number):
    dice = random.Random(f"{SEED}/{number}")
    project, start = tiny.alone(tmp_path / "project"), STARTS[number % len(STARTS)]
    running = faults.start(project)
    faults.wait_for(running, project, start)
    time.sleep(delay := dice.uniform(0, 4))
    whom = dice.choice(["the run", "a job", "all"])
    done = faults.signal_to(running, whom, signal.SIGKILL, dice)
    running.wait(HANGS)
    print(f"KILLS_SEED={SEED} kill {number}: {done}, {delay:.2f} s after {start}")
    tiny.snakemake(project, cores=1 + number % 2)  # the undisturbed run had two
    assert tiny.made(project) == undisturbed


@pytest.mark.slow
def test_a_run_is_stopped_suspended_and_beside_others_and_the_last_completes_it(
    undisturbed, tmp_path
):
    project, dice = tiny.alone(tmp_path / "project"), random.Random(1)
    beside = {signal.SIGSTOP: faults.run_beside, signal.SIGINT: faults.prune_beside}
    for number in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM):
        running = faults.start(project)
        faults.wait_for(running, project, "Execute")
        if number in beside:
            beside[number](running, project)
        for whom in ("a job", "the run"):
            faults.signal_to(running, whom, number, dice)
            time.sleep(1)
        if number == signal.SIGSTOP:
            faults.signal_to(running, "all", signal.SIGCONT, dice)
            time.sleep(3)
            faults.signal_to(running, "the run", signal.SIGKILL, dice)
        faults.end(running)
    tiny.snakemake(project)
    assert tiny.made(project) == undisturbed


OWN = "config/figures/fig2.py"
EDITED = {"Execute": "src/giantstep/simulation/gradient_steps.py", "Drawing": OWN}


@pytest.mark.slow
@pytest.mark.parametrize("start", EDITED)
def test_a_job_whose_code_is_edited_and_restored_writes_nothing(undisturbed, tmp_path, start):
    project = tiny.alone(tmp_path / "project")
    shutil.copy(tiny.ROOT / "src/giantstep/figures/default.py", project / OWN)
    path = project / EDITED[start]
    text = path.read_text()
    running = faults.start(project, cores=1)
    faults.wait_for(running, project, start)
    path.write_text(text + "X = 1\n")
    time.sleep(1)
    path.write_text(text)
    assert running.wait(HANGS) == 1
    assert "edited since the run was planned" in (project / "said").read_text()
    tiny.snakemake(project)
    data = {name: hashed for name, hashed in undisturbed.items() if name.endswith(".nc")}
    assert data.items() <= tiny.made(project).items()


@pytest.mark.slow
def test_files_that_were_exchanged_or_cut_are_told_by_the_job_that_reads_them_and_made_again(
    undisturbed, tiny_run, tmp_path
):
    project = shutil.copytree(tiny_run, tmp_path / "project")
    one, other = sorted(project.glob("results/montecarlo/tanh*/*.nc"))[:2]
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first[:-100])
    for path in ("figures/fig2.png", "results/figures/fig2.nc"):
        (project / path).unlink()
    for words in ("is another file", "is damaged"):
        said = tiny.snakemake(project, "figures/fig2.png", code=1)
        assert words in said
        assert "run the same command again to make it" in said
        assert "Traceback" not in said.split("CalledProcessError")[0]
    tiny.snakemake(project, "figures/fig2.png")
    assert undisturbed.items() <= tiny.made(project).items()


ODD = 'it\'s an "odd" `folder`, $(touch odd) {x} %s α'
SETTINGS = "axes.facecolor: red\nfont.size: 20\nbackend: module://nothing\n"


@pytest.mark.slow
def test_locale_hash_seed_threads_settings_and_folder_change_no_byte(undisturbed, tmp_path):
    project = tiny.alone(tmp_path / ODD)
    (project / "matplotlibrc").write_text(SETTINGS)
    environment = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    environment |= {"PYTHONHASHSEED": "1", "OMP_NUM_THREADS": "4", "TZ": "Asia/Tokyo"}
    running = faults.start(project, environment)
    assert running.wait(HANGS) == 0, (project / "said").read_text(errors="replace")
    assert tiny.made(project) == undisturbed
    assert not list(tmp_path.rglob("odd"))
