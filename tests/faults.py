"""Random faults: of files while nothing runs, and of runs while they work.

Each fault is a function that draws from dice what it does, does it, and says so.
"""

import os
import resource
import shutil
import signal
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


def damage(project, dice):
    """Change bytes of a file."""
    path = _one(project, dice)
    whole, kind = path.read_bytes(), dice.choice(list(DAMAGE))
    if not whole:
        return "nothing"
    path.write_bytes(DAMAGE[kind](whole, dice.randrange(len(whole))))
    return f"{kind} {path.name}"


def exchange(project, dice):
    """Give a file the name of another."""
    one, other = _one(project, dice), _one(project, dice)
    if one == other:
        return "nothing"
    how = dice.choice(["copied over", "linked as"])
    if how == "copied over":
        shutil.copy(one, other)
    else:
        other.unlink()
        other.symlink_to(one)
    return f"{how}: {one.name}, {other.name}"


def make_folder(path):
    """Make a folder with something in it."""
    path.mkdir()
    (path / "something").write_bytes(bytes(1000))


# What may be found in the place of a file.
NO_FILES = {
    "folder": make_folder,
    "pipe": os.mkfifo,
    "circle": lambda path: path.symlink_to(path.name),
    "link to nothing": lambda path: path.symlink_to("nothing"),
}


def replace(project, dice):
    """Put something else in the place of a file."""
    path = _one(project, dice)
    path.unlink()
    what = dice.choice(["nothing", *NO_FILES])
    NO_FILES.get(what, lambda path: None)(path)
    return f"{what} in place of {path.name}"


def lose_records(project, dice):
    """Remove or damage what Snakemake notes for itself."""
    records = [path for path in sorted((project / ".snakemake").rglob("*")) if path.is_file()]
    if not records or dice.random() < 0.3:
        shutil.rmtree(project / ".snakemake", ignore_errors=True)
        return "removed .snakemake"
    path = dice.choice(records)
    path.write_bytes(path.read_bytes()[: dice.randrange(10)])
    return f"truncated {path.relative_to(project)}"


def change_times(project, dice):
    """Make files older; Snakemake refuses to go on from files of the future."""
    for path in (project / name for name in tiny.made(project)):
        when = time.time() - dice.uniform(0, 1e8)
        os.utime(path, (when, when))
    return "other times of files"


OF_FILES = (damage, damage, exchange, exchange, replace, replace, lose_records, change_times)


def _one(project, dice):
    return project / dice.choice(list(tiny.made(project)))


def start(project, environment=None, largest=resource.RLIM_INFINITY, cores=2):
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
            preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_FSIZE, (largest, resource.RLIM_INFINITY)
            ),
        )


def wait_for(running, project, words):
    """Wait until a run has said something, or has ended."""
    while running.poll() is None and words not in (project / "said").read_text(errors="replace"):
        time.sleep(0.05)


def signal_to(running, whom, number, dice):
    """Send a signal to the run, to a job, or to all; say whether it was in time."""
    try:
        run = psutil.Process(running.pid)
        jobs = run.children(recursive=True)
        some = {
            "the run": [run],
            "all": [run, *jobs],
            "a job": dice.sample(jobs, min(1, len(jobs))),
        }
        for process in some[whom]:
            process.send_signal(number)
    except psutil.NoSuchProcess:
        return "too late"
    return f"{number.name} to {whom}"


def hit(running, project, dice):
    """Send a signal to a run, to one of its jobs, or to all; what is suspended goes on later."""
    number = dice.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSTOP])
    said = signal_to(running, dice.choice(["the run", "a job", "all"]), number, dice)
    if number == signal.SIGSTOP:
        time.sleep(dice.uniform(0, 3))
        signal_to(running, "all", signal.SIGCONT, dice)
    return said


def run_beside(running, project, dice):
    """Start another run in the same folder."""
    said = tiny.snakemake(project, code=None)
    told = "another run is at work" in said or "Nothing to be done" in said
    assert running.poll() is not None or told, said
    return "another run"


def prune_beside(running, project, dice):
    """Remove what no config refers to."""
    command = [sys.executable, "-m", "giantstep", "prune", "--yes"]
    done = subprocess.run(
        command, cwd=project, env=tiny.environment(project), capture_output=True, text=True
    )
    assert "Traceback" not in done.stderr, done.stderr
    return "prune"


def damage_beside(running, project, dice):
    """Change, exchange or replace a file that a job may be about to read."""
    if running.poll() is not None:
        return "too late"
    try:
        return "meanwhile " + dice.choice([damage, exchange, replace])(project, dice)
    except FileNotFoundError:  # a job has just removed or renamed it
        return "nothing"


OF_RUNS = (hit, hit, hit, hit, run_beside, prune_beside, damage_beside)
# What no number may depend on.
ENVIRONMENTS = (
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"PYTHONHASHSEED": "4242"},
    {"OMP_NUM_THREADS": "4", "OPENBLAS_NUM_THREADS": "3"},
    {"TZ": "Pacific/Kiritimati", "SOURCE_DATE_EPOCH": "1"},
    {"PYTHONOPTIMIZE": "1"},
    {"PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "svg"},
)
