"""A tiny project: every stage of the workflow, with networks so small that it takes seconds."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
CONFIG = """\
figures: [fig2, fig4]
simulation: {dimension: 64, networks: 4, trainings: 1, test_samples: 500, networks_per_job: 2}
"""
# The figures share their curve.
FIGURE = """\
title: Tiny
caption: Tiny.
theory: {alpha: {start: 0.5, stop: 2, points: 4}, dimension: {start: 64, stop: 500, points: 2}}
simulation: {alpha: [0.5, 2]}
spectrum: {alpha: 2}
panels:
  left:
    {activation: tanh, target: sign, learning_rate: 1, alpha0: 1, beta: 1, ridge: 0.1,
     learning_rates: {start: 1, stop: 2, points: 2}}
"""
COMMAND = (sys.executable, "-m", "snakemake", "--cores")
TINY = "config/tiny.yaml"
RULES = ("parameters", "theory", "montecarlo", "key", "merge", "figure")


def configured(project):
    """Copy what a plan reads, into a folder that exists: configs to be changed, and scripts."""
    for name in ("config", "workflow"):
        shutil.copytree(ROOT / name, project / name)
    return project


def copied(project):
    """Copy what a run reads, code included."""
    project.mkdir(parents=True)
    for name in ("Snakefile", "config", "workflow", "profiles", "src"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, project / name)
    return project


def make(project):
    """Copy what a run reads, with tiny configs."""
    copied(project)
    (project / TINY).write_text(CONFIG)
    for figure in ("fig2", "fig4"):
        (project / f"config/figures/{figure}.yaml").write_text(FIGURE)
    return project


def alone(folder):
    """Make the project with one of its figures."""
    project = make(folder)
    edit(project / TINY, "[fig2, fig4]", "[fig2]")
    return project


def environment(project):
    """Return an environment in which the project's own code runs."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SNAKEMAKE", "GIANTSTEP"))}
    return kept | {"PYTHONPATH": str(project / "src")}


def snakemake(project, *arguments, overlay=TINY, cores=2, code=0, variables=None):
    """Run the project's workflow to its end, with further variables; give what it said."""
    done = subprocess.run(
        [*COMMAND, str(cores), *arguments, "--configfile", overlay],
        cwd=project,
        env=environment(project) | (variables or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert code is None or done.returncode == code, done.stdout
    return done.stdout


def planned(project, *arguments, **options):
    """Count the jobs of each rule that a dry run plans."""
    said = snakemake(project, "--dry-run", *arguments, **options)
    counts = {job: int(n) for job, n in re.findall(r"^(\w+) +(\d+)$", said, flags=re.MULTILINE)}
    assert counts or "Nothing to be done" in said
    return {rule: counts[rule] for rule in RULES if rule in counts}


def edit(path, old, new):
    """Replace a text once, which must be there; None is the end of a file."""
    text = path.read_text()
    assert old is None or old in text
    path.write_text(text + new if old is None else text.replace(old, new, 1))


def made(project):
    """Hash everything that was made; of a key, only the name matters."""
    return {
        str(path.relative_to(project)): (
            "" if "keys" in path.parts else hashlib.sha256(path.read_bytes()).hexdigest()
        )
        for folder in ("results", "figures")
        for path in sorted((project / folder).rglob("*"))
        if path.is_file()
    }
