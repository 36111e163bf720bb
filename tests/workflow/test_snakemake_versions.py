"""The workflow runs with the lowest Snakemake that is declared."""

import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path

import pytest
import tiny

PROJECT = tomllib.loads((tiny.ROOT / "pyproject.toml").read_text())["project"]
(DECLARED,) = (
    requirement
    for requirement in PROJECT["optional-dependencies"]["workflow"]
    if requirement.startswith("snakemake>=")
)
LOWEST = DECLARED.removeprefix("snakemake>=")


def test_the_workflow_itself_asks_for_the_declared_version():
    asked = re.findall(r'min_version\("(.+)"\)', (tiny.ROOT / "workflow/Snakefile").read_text())
    assert asked == [LOWEST]


@pytest.mark.slow
def test_a_run_with_the_lowest_snakemake_makes_the_same_bytes(undisturbed, tmp_path):
    wanted = f"snakemake=={LOWEST}.*"
    python = tmp_path / "venv/bin/python"
    venv.create(python.parents[1])
    command = [sys.executable, "-m", "uv", "pip", "install", "--python", python, wanted]
    done = subprocess.run(command, capture_output=True)
    if done.returncode:
        pytest.skip(f"{wanted} cannot be installed here: {done.stderr[-300:]}")
    # All but Snakemake, and what came with it, is that of this environment.
    (folder,) = (tmp_path / "venv/lib").glob("python3*/site-packages")
    (folder / "others.pth").write_text(sysconfig.get_path("purelib"))
    project = tiny.alone(tmp_path / "project")
    for arguments in ([], ["--dry-run"], ["--report", "report.html"]):
        command = [python, *tiny.COMMAND[1:], "2", *arguments, "--configfile", tiny.TINY]
        done = subprocess.run(
            command, cwd=project, env=tiny.environment(project), capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert "Nothing to be done" in tiny.snakemake(project, "--dry-run")
    assert Path(project / "report.html").exists()
    assert tiny.made(project) == undisturbed
