"""What surrounds a run, or stops it, changes no byte of what it makes in the end."""

import random
import shutil
import signal
import subprocess
import time

import faults
import pytest
import tiny

HANGS = 300
ODD = 'it\'s an "odd" `folder`, $(touch odd) {x} %s\nα'
SETTINGS = "axes.facecolor: red\nfont.size: 20\nbackend: module://nothing\n"


@pytest.fixture(scope="session")
def german(tmp_path_factory):
    """A folder with a locale in which texts are no UTF-8 and numbers have commas."""
    folder = tmp_path_factory.mktemp("locales")
    command = ["localedef", "-i", "de_DE", "-f", "ISO-8859-1", str(folder / "de_DE.ISO-8859-1")]
    if shutil.which(command[0]) is None or subprocess.run(command, capture_output=True).returncode:
        return {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    return {"LC_ALL": "de_DE.ISO-8859-1", "LOCPATH": str(folder)}


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["project", ODD])
def test_locale_hash_seed_threads_settings_and_folder_change_no_byte(
    tiny_run, tmp_path, german, folder
):
    project = tiny.make(tmp_path / folder)
    environment = {
        "project": german | {"PYTHONHASHSEED": "1", "OMP_NUM_THREADS": "4", "TZ": "Asia/Tokyo"},
        ODD: {"LC_ALL": "tr_TR.UTF-8", "PYTHONHASHSEED": "2", "OPENBLAS_NUM_THREADS": "3"},
    }[folder]
    if folder == "project":
        (project / "matplotlibrc").write_text(SETTINGS)
        environment["MPLCONFIGDIR"] = str(tmp_path)
        (tmp_path / "matplotlibrc").write_text(SETTINGS)
    else:
        (tmp_path / "settings").write_text(SETTINGS)
        environment["MATPLOTLIBRC"] = str(tmp_path / "settings")
    running = faults.start(project, environment)
    assert running.wait(HANGS) == 0, (project / "said").read_text(errors="replace")
    assert tiny.made(project) == tiny.made(tiny_run)
    assert not list(tmp_path.rglob("odd"))


@pytest.mark.slow
def test_a_run_is_stopped_suspended_and_beside_others_and_the_last_completes_it(tiny_run, tmp_path):
    project, dice = tiny.make(tmp_path / "project"), random.Random(1)
    for number in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM):
        running = faults.start(project)
        faults.wait_for(running, project, "Execute")
        faults.run_beside(running, project, dice)
        faults.prune_beside(running, project, dice)
        for whom in ("a job", "the run"):
            faults.signal_to(running, whom, number, dice)
            time.sleep(1)
        if number == signal.SIGSTOP:
            faults.signal_to(running, "all", signal.SIGCONT, dice)
            time.sleep(3)
            faults.signal_to(running, "the run", signal.SIGKILL, dice)
        running.wait(HANGS)
    tiny.snakemake(project)
    assert tiny.made(project) == tiny.made(tiny_run)


# Runs a command with a small disk for results, and copies them to a real one at its end.
SMALL_DISK = """
mount -t tmpfs -o size=$1k tmpfs results && shift && cp -a kept/. results && "$@"
code=$?; rm -rf kept && cp -a results kept; exit $code
"""


@pytest.mark.slow
@pytest.mark.skipif(
    subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).returncode != 0,
    reason="no disk can be mounted here",
)
def test_a_full_disk_fails_a_run_and_the_same_command_completes_it(tiny_run, tmp_path):
    project = tiny.make(tmp_path / "project")
    for name in ("results", "kept"):
        (project / name).mkdir()
    for kilobytes in (150, 350):
        command = ["unshare", "-rm", "sh", "-c", SMALL_DISK, "sh", str(kilobytes)]
        done = subprocess.run(
            [*command, *tiny.COMMAND, "2", "--configfile", tiny.TINY],
            cwd=project,
            env=tiny.environment(),
            capture_output=True,
            text=True,
        )
        said = done.stdout + done.stderr
        assert done.returncode == 1
        assert "No space left on device" in said
        assert "run the same command again" in said
    shutil.rmtree(project / "results")
    (project / "kept").rename(project / "results")
    tiny.snakemake(project)
    assert tiny.made(project) == tiny.made(tiny_run)
