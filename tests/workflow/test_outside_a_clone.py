"""Strangers have a wheel, an environment of their own, and a folder without the sources."""

import json

import installed
import pytest
import tiny

from giantstep.workflow.config import load_config
from giantstep.workflow.new_project import create_project, foreign_drawings
from giantstep.workflow.plan import make_plan

QUESTION = "-m giantstep {} --activation tanh --target sin --learning-rate 3 --alpha0 20 --beta 1"
SMALL = "{dimension: 64, networks: 4, trainings: 1, test_samples: 500}"
AS_A_MODULE = """\
module giants:
    snakefile: "workflow/Snakefile"
    config: {config}

use rule * from giants as giants_*

rule own:
    default_target: True
    input: rules.giants_figures.input
"""


def test_a_new_project_can_be_planned_and_nothing_is_written_over(tmp_path):
    files = create_project(tmp_path / "study")
    assert {str(path) for path in files} > {"Snakefile", "README.md", "config/config.yaml"}
    plan = make_plan(tmp_path / "study", load_config(tmp_path / "study"))
    assert len(plan.figure("example").curves) == 3
    with pytest.raises(FileExistsError):
        create_project(tmp_path / "study")


@pytest.mark.parametrize(
    ("name", "needs"), [("figs3", "figs2.py"), ("figs17", "figs17-overlaps.csv")]
)
def test_a_new_project_has_all_that_the_drawing_of_its_figure_needs(tmp_path, name, needs):
    create_project(tmp_path / "study", name)
    make_plan(tmp_path / "study", load_config(tmp_path / "study"))
    figures = tmp_path / "study/config/figures"
    assert {path.name for path in figures.iterdir()} == {f"{name}.yaml", f"{name}.py", needs}
    assert foreign_drawings(tmp_path / "study") == []
    (figures / f"{name}.py").write_text("1/0")
    (figures / "own.py").write_text("1/0")
    assert [path.name for path in foreign_drawings(tmp_path / "study")] == [f"{name}.py", "own.py"]


@pytest.mark.slow
def test_theory_and_simulation_need_numpy_scipy_and_xarray_alone(wheel, tmp_path):
    python = installed.install(wheel, tmp_path / "empty")
    grid = ["--ridge", "0.1", "--alpha", "0.9"]
    theory = installed.run(python, *QUESTION.format("theory").split(), *grid)
    assert "0.041628" in theory
    sizes = ["--dimension", "60", "--replicates", "2"]
    assert "," in installed.run(python, *QUESTION.format("simulate").split(), *grid, *sizes)
    for command in (["explain"], ["init", tmp_path / "study"]):
        refused = installed.run(python, "-m", "giantstep", *command, code=2)
        assert 'pip install ".[workflow]"' in refused
    code = "import giantstep; giantstep.open_figure('fig2')"
    refused = installed.run(python, "-c", code, code=1)
    assert 'pip install ".[figures]"' in refused


@pytest.mark.slow
@pytest.mark.parametrize("extra", ["figures", "explore", "docs"])
def test_each_extra_alone_imports_and_draws_what_it_is_for(wheel, tmp_path, extra):
    python = installed.install(wheel, tmp_path / "environment", extra)
    theory = [*QUESTION.format("theory").split(), "--alpha", "1", "2"]
    installed.run(python, *theory, "--plot", "curve.png", "-o", "curve.nc", cwd=tmp_path)
    plot = ["-m", "giantstep", "plot", "curve.nc", "--plot", "again.png"]
    installed.run(python, *plot, cwd=tmp_path)
    assert (tmp_path / "again.png").read_bytes() == (tmp_path / "curve.png").read_bytes()
    wings = {"figures": ["figures"], "explore": ["figures", "explore"]}
    everything = ["figures", "workflow", "cli", "explore"]
    code = (
        "import importlib, pkgutil, giantstep\n"
        f"for name in {wings.get(extra, everything)}:\n"
        "    wing = importlib.import_module(f'giantstep.{name}')\n"
        "    for one in pkgutil.walk_packages(wing.__path__, f'giantstep.{name}.'):\n"
        "        importlib.import_module(one.name)\n"
    )
    installed.run(python, "-c", code)


@pytest.mark.slow
def test_a_project_of_the_wheel_runs_the_installed_workflow(wheel, tmp_path):
    python = installed.install(wheel, tmp_path / "environment", "workflow")
    study = tmp_path / "study"
    installed.run(python, "-m", "giantstep", "init", study)
    (study / "small.yaml").write_text(f"simulation: {SMALL}")
    command = ["-m", "snakemake", "--cores", "2"]
    installed.run(python, *command, "--configfile", "small.yaml", cwd=study)
    assert (study / "figures/example.pdf").stat().st_size > 10_000
    small = ["--configfile", "small.yaml"]
    assert "Nothing to be done" in installed.run(python, *command, "-n", *small, cwd=study)
    verify = ["-m", "giantstep", "verify", "example", "--sample", "1", *small]
    assert "all are identical" in installed.run(python, *verify, cwd=study)


@pytest.mark.slow
def test_another_workflow_uses_it_as_a_module(tmp_path):
    project = tiny.copied(tmp_path / "project")
    config = load_config(project) | {"figures": ["fig4"]}
    config["simulation"] = dict(zip(config["simulation"], (64, 2, 1, 500), strict=True))
    (project / "config/figures/fig4.yaml").write_text(tiny.FIGURE)
    (project / "Snakefile").write_text(AS_A_MODULE.format(config=json.dumps(config)))
    (project / "config/none.yaml").write_text("{}")
    said = tiny.snakemake(project, overlay="config/none.yaml")
    assert "giants_theory" in said
    assert (project / "figures/fig4.png").exists()
