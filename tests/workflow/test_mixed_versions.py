"""After other libraries are installed: what is computed, and what runs and `explain` say of it."""

import shutil
import subprocess
import sys

import pytest
import tiny

from giantstep.pipeline.planning.layout import THEORY_STAGES
from giantstep.pipeline.planning.versions import library_versions

# An environment in which the installed numpy and matplotlib say that they are others.
OTHERS = """
import importlib.metadata

real = importlib.metadata.version
others = {"numpy": "9.9.9", "matplotlib": "8.8.8"}
importlib.metadata.version = lambda name: others.get(name) or real(name)
"""


@pytest.mark.slow
def test_new_results_of_other_versions_make_a_mixture_that_is_told_and_can_be_refused(
    tiny_run, tmp_path
):
    project = shutil.copytree(tiny_run, tmp_path / "project")
    (tmp_path / "others").mkdir()
    (tmp_path / "others/sitecustomize.py").write_text(OTHERS)
    others = {"PYTHONPATH": str(tmp_path / "others")}
    assert tiny.planned(project, variables=others) == {}
    tiny.edit(project / tiny.TINY, "networks: 4, t", "networks: 6, t")
    said = tiny.snakemake(project, variables=others)
    (line,) = {line for line in said.splitlines() if "several versions of libraries" in line}
    assert library_versions() in line
    assert "numpy 9.9.9" in line
    assert "strict_versions: true" in line
    explained = subprocess.run(
        [sys.executable, "-m", "giantstep", "explain", "--configfile", tiny.TINY],
        cwd=project,
        env=tiny.environment() | {"PYTHONPATH": str(project / "src")},
        capture_output=True,
        text=True,
    )
    assert "nothing would run" in explained.stdout, explained
    assert "fig2 comes from other versions" in explained.stdout
    assert "numpy 9.9.9" in explained.stdout
    with (project / tiny.TINY).open("a") as config:
        config.write("strict_versions: true\n")
    everything = {
        "parameters": 1, "theory": 1, "dimensions": 1, "learning_rates": 1, "montecarlo": 3,
        "spectrum": 1, "eigenvalues": 3, "recovery": 3, "merge": 2, "figures": 2, "scores": 2,
    }  # fmt: skip
    assert tiny.planned(project) == everything
    tiny.snakemake(project, "--until", "theory_fig2_1")
    theory = {stage.name: 1 for stage in THEORY_STAGES if everything.pop(stage.name, None)}
    assert tiny.planned(project) == everything
    assert tiny.planned(project, variables=others) == everything | theory
