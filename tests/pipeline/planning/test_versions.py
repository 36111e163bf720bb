"""Which versions of libraries results come from: recorded, compared, and counted if asked to."""

import logging

import tiny

from giantstep.cli.main import main
from giantstep.pipeline.planning import identities, versions
from giantstep.pipeline.planning.config import load_config
from giantstep.pipeline.planning.plan import make_plan
from giantstep.pipeline.planning.versions import library_versions
from giantstep.pipeline.runtime.checksums import sealed_name
from giantstep.pipeline.stages.merge import merge_figure
from giantstep.pipeline.storage import netcdf

OLD = "numpy 1.26.0 scipy 1.11.0 xarray 2024.7.0 netcdf4 1.7.0"


def planned(project, **more):
    return make_plan(project, load_config(project, [project / tiny.TINY]) | more)


def rewrite(path):
    """Make a file one that other libraries have made."""
    name = sealed_name(path)
    netcdf.write(netcdf.read(path, name).assign_attrs(libraries=OLD), path, name)


def test_a_mixture_is_told_at_merging_in_one_line_and_recorded(project, caplog):
    figure = planned(project).figures["fig2"]
    given = figure.curves, figure.science, {}, 1, project
    with caplog.at_level(logging.WARNING, "giantstep"):
        assert merge_figure(*given).attrs["libraries"] == library_versions()
        assert caplog.messages == []
        rewrite(next(project.glob("results/theory/*.nc")))
        mixed = merge_figure(*given).attrs["libraries"]
    (line,) = caplog.messages
    assert sorted(mixed.split("; ")) == sorted([OLD, library_versions()])
    assert f"({mixed})" in line
    assert "strict_versions: true" in line


def test_explain_says_what_came_from_other_versions(project, capsys):
    rewrite(project / "results/figures/fig4.nc")
    overlay = ("--configfile", str(project / tiny.TINY))
    assert main(["explain", "--project", str(project), *overlay]) == 0
    said = capsys.readouterr().out.splitlines()
    (line,) = [line for line in said if "other versions of libraries" in line]
    assert line.startswith("fig4 comes from")
    assert OLD in line


def test_with_strict_versions_other_libraries_compute_and_draw_again(project, monkeypatch):
    def names(**more):
        found = planned(project, **more)
        figure = found.figures["fig2"]
        keys = {stage: set(tasks) for stage, tasks in found.tasks.items() if tasks}
        made = {s: identities.identity(project, figure, s) for s in ("merge", "figures", "scores")}
        return keys | made

    def outdated(before, after):
        return {stage for stage in before if before[stage] != after[stage]}

    loose, strict = names(), names(strict_versions=True)
    assert outdated(loose, strict) == set(loose)
    real = versions.version
    for library, fed in (("numpy", set(loose)), ("matplotlib", {"figures"})):
        with monkeypatch.context() as patch:
            patch.setattr(versions, "version", lambda x, y=library: "0" if x == y else real(x))
            assert names() == loose
            assert outdated(strict, names(strict_versions=True)) == fed
