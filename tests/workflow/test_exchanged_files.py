"""A file under the name of another is noticed by the next run, set aside, and made again."""

import shutil
from itertools import cycle

import pytest
import tiny

from giantstep.pipeline.planning.config import load_config
from giantstep.pipeline.planning.layout import THEORY_STAGES
from giantstep.pipeline.planning.plan import make_plan
from giantstep.pipeline.upkeep import integrity

# Pairs of files, of one kind and of two.
PAIRS = (
    ("results/montecarlo/*/networks0-1.nc", "results/montecarlo/*/networks2-3.nc"),
    ("results/figures/fig2.nc", "results/figures/fig4.nc"),
    ("results/theory/*.nc", "results/spectrum/*.nc"),
    ("results/eigenvalues/*/networks0-1.nc", "results/recovery/*/networks0-1.nc"),
)


def exchange(project):
    """Exchange the files of each pair, and copy one file over another; give their names."""
    names = []
    for pair in PAIRS:
        one, other = (next(project.glob(kind)) for kind in pair)
        first, second = one.read_bytes(), other.read_bytes()
        one.write_bytes(second)
        other.write_bytes(first)
        names += [str(path.relative_to(project)) for path in (one, other)]
    copied = next(project.glob("results/parameters/*.nc"))
    shutil.copy(project / names[-1], copied)
    return [*names, str(copied.relative_to(project))]


def inside(name):
    """Return what a message says that a file is, but for the hash of a merged file."""
    return name.removeprefix("results/").removesuffix(".nc").replace("figures/", "merge/")


def test_exchanged_and_copied_files_are_set_aside(project):
    plan = make_plan(project, load_config(project, [project / tiny.TINY]))
    names, said = exchange(project), []
    integrity.set_damaged_aside(project, plan, said.append)
    assert set(integrity.lost_files(project, plan)) == set(names)
    found = {line.partition(" is another file, ")[0]: line for line in said}
    assert set(found) == {str(project / name) for name in names}
    for one, other in zip(names[:-1:2], names[1:-1:2], strict=True):
        assert f"is another file, {inside(other)}" in found[str(project / one)]
        assert f"is another file, {inside(one)}" in found[str(project / other)]


@pytest.fixture(scope="session")
def two_curves(once, tiny_run):
    """A finished project whose figures have a curve each, so that there are two files of a kind."""

    def make(folder):
        shutil.copytree(tiny_run, folder)
        tiny.edit(folder / "config/figures/fig4.yaml", "alpha0: 1,", "alpha0: 2,")
        tiny.edit(folder / "config/figures/fig4.yaml", "width: 8", "width: 4")
        tiny.snakemake(folder)

    return once("two_curves", make)


def swap(one, other):
    one.rename(aside := one.with_name("aside"))
    other.rename(one)
    aside.rename(other)


def move(one, other):
    one.replace(other)


def copy(one, other):
    shutil.copy(one, other)


WAYS = {swap: 2, move: 1, copy: 1}  # and how many files are then others
# Each kind of file, and the ways to name two of them.
TWINS = {
    **{
        stage.name: f"results/{stage.name}/*.nc"
        for stage in THEORY_STAGES
        if stage.name in tiny.STAGES
    },
    "eigenvalues": "results/eigenvalues/*/networks0-1.nc",
    "recovery": "results/recovery/*/networks0-1.nc",
    "shard of another curve": "results/montecarlo/*/networks0-1.nc",
    "shard of the same curve": "results/montecarlo/*alpha0_2-*/*.nc",
    "merged": "results/figures/fig?.nc",
    "pdf": "figures/fig?.pdf",
    "svg": "figures/fig?.svg",
    "png": "figures/fig?.png",
    "scores": "results/scores/fig?.csv",
}


def twins(project, kind):
    """Find the two files of a kind."""
    one, other = sorted(project.glob(TWINS[kind]))
    return one, other


@pytest.mark.slow  # in brief: the pairs above
def test_twins_of_every_kind_are_recognised_and_one_run_makes_them_again(two_curves, tmp_path):
    project = shutil.copytree(two_curves, tmp_path / "project")
    plan = make_plan(project, load_config(project, [project / tiny.TINY]))
    for kind in TWINS:
        one, other = twins(project, kind)
        before = one.read_bytes(), other.read_bytes()
        for way, count in WAYS.items():
            way(one, other)
            found = {path for path, _ in integrity.damaged_files(project, plan)}
            assert found == {other, one if count == 2 else other}, (kind, way)
            one.write_bytes(before[0])
            other.write_bytes(before[1])
    for kind, way in zip(TWINS, cycle(WAYS), strict=False):
        way(*twins(project, kind))
    undisturbed = tiny.made(two_curves)
    tiny.snakemake(project, "all", *undisturbed)
    assert {k: v for k, v in tiny.made(project).items() if ".damaged" not in k} == undisturbed
    assert tiny.planned(project) == {}
