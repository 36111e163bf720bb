"""A file damaged after it was made is noticed by the next run, set aside, and made again."""

import random
import shutil
from itertools import cycle

import tiny

KINDS = (
    *(f"results/{stage}/**/*.nc" for stage in tiny.STAGES),
    "results/figures/fig2.nc",
)


def flipped(whole, dice):
    place = dice.randrange(len(whole))
    return whole[:place] + bytes([whole[place] ^ 1 << dice.randrange(8)]) + whole[place + 1 :]


def truncated(whole, dice):
    return whole[: dice.randrange(len(whole))]


def test_damage_of_every_kind_of_file_is_undone_by_one_run(tiny_run, tmp_path):
    project = shutil.copytree(tiny_run, tmp_path / "project")
    dice = random.Random(1)
    for kind, damage in zip(KINDS, cycle([flipped, truncated])):
        path = next(project.glob(kind))
        path.write_bytes(damage(path.read_bytes(), dice))
    said = tiny.snakemake(project)
    for kind in KINDS:
        name = next(project.glob(kind)).relative_to(project)
        assert f"{name} is damaged: set aside as {name}.damaged" in said
    after = tiny.made(project)
    assert {name: after[name] for name in after if ".damaged" not in name} == tiny.made(tiny_run)
    assert "Nothing to be done" in tiny.snakemake(project)


def test_missing_drawings_and_tables_are_made_again(tiny_run, tmp_path):
    project = shutil.copytree(tiny_run, tmp_path / "project")
    for name in ("figures/fig2.pdf", "figures/fig4.svg", "results/scores/fig4.csv"):
        (project / name).unlink()
    tiny.snakemake(project)
    assert tiny.made(project) == tiny.made(tiny_run)


def state(project):
    """Give each file's content and time of change, without Snakemake's own records."""
    return {
        str(path.relative_to(project)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in project.rglob("*")
        if path.is_file() and not {".snakemake", "__pycache__"} & set(path.parts)
    }


def test_what_starts_no_job_changes_no_file_and_takes_no_lock(tiny_run, tmp_path):
    project = shutil.copytree(tiny_run, tmp_path / "project")
    lock = project / ".snakemake/run.lock"
    lock.unlink()
    next(project.glob("results/theory/*.nc")).write_bytes(b"damaged")
    before = state(project)
    for query in ("--dry-run", "--summary", "--dag", "--unlock", "--report=../report.html"):
        tiny.snakemake(project, query)
        assert state(project) == before, query
    tiny.snakemake(project, "--lint", code=None)
    assert state(project) == before
    tiny.snakemake(project, "--touch")  # which is meant to change times
    after = state(project)
    assert {k: x for k, (x, _) in after.items()} == {k: x for k, (x, _) in before.items()}
    assert not lock.exists()
