"""A result damaged after it was made is noticed by the next run, set aside, and made again."""

import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from itertools import cycle, product

import faults
import pytest
import tiny

from giantstep.cli.main import main
from giantstep.pipeline.planning.config import load_config
from giantstep.pipeline.planning.plan import make_plan
from giantstep.pipeline.runtime.checksums import DamagedFileError
from giantstep.pipeline.storage.open_figure import open_figure
from giantstep.pipeline.upkeep import integrity
from giantstep.pipeline.upkeep.explain import DAMAGED, UPSTREAM, explain

KINDS = (
    *(f"results/{stage}/**/*.nc" for stage in tiny.STAGES),
    "results/figures/fig2.nc",
)
SOME = ("results/montecarlo/**/*.nc", "results/figures/fig2.nc")
DRAWN = ("figures/fig2.pdf", "figures/fig4.svg", "results/scores/fig4.csv")


def flipped(whole, dice):
    place = dice.randrange(len(whole))
    return whole[:place] + bytes([whole[place] ^ 1 << dice.randrange(8)]) + whole[place + 1 :]


def truncated(whole, dice):
    return whole[: dice.randrange(len(whole))]


def spoil(project, kinds):
    """Damage a file of each kind; give their names."""
    dice, names = random.Random(1), []
    for kind, damage in zip(kinds, cycle([flipped, truncated])):
        path = next(project.glob(kind))
        path.write_bytes(damage(path.read_bytes(), dice))
        names.append(str(path.relative_to(project)))
    return names


def test_what_jobs_have_left_that_were_stopped_just_before_their_end_is_removed(project):
    plan = make_plan(project, load_config(project, [project / tiny.TINY]))
    made = tiny.made(project)
    shard = next(path for path in project.glob("results/montecarlo/**/networks0-?.nc"))
    shutil.copy(shard, shard.with_name("networks0-0.nc"))
    next(project.glob("results/identity/fig2/figures-*")).write_text("")
    said = []
    integrity.set_damaged_aside(project, plan, said.append)
    assert said == []
    gone = {f"figures/fig2.{suffix}" for suffix in ("pdf", "png", "svg")}
    assert tiny.made(project).keys() == made.keys() - gone


def test_damage_of_every_kind_of_file_is_set_aside(project):
    plan = make_plan(project, load_config(project, [project / tiny.TINY]))
    said = []
    integrity.set_damaged_aside(project, plan, said.append)
    assert said == []
    names = spoil(project, KINDS)
    integrity.set_damaged_aside(project, plan, said.append)
    assert len(said) == len(names)
    assert set(integrity.lost_files(project, plan)) == set(names)
    assert all((project / f"{name}.damaged").exists() for name in names)


@pytest.mark.parametrize("kind", faults.NO_FILES)
def test_what_is_no_file_is_set_aside(project, kind):
    plan = make_plan(project, load_config(project, [project / tiny.TINY]))
    path = next(project.glob("results/theory/*.nc"))
    path.unlink()
    faults.NO_FILES[kind](path)
    said = []
    integrity.set_damaged_aside(project, plan, said.append)
    assert len(said) == 1
    assert f"{path} is " in said[0]
    assert not path.is_symlink()
    assert not path.exists()


def test_a_folder_or_a_link_in_place_of_a_drawing_a_table_or_a_mark_is_set_aside(project):
    plan = make_plan(project, load_config(project, [project / tiny.TINY]))
    places = [*map(project.joinpath, DRAWN), *project.glob("results/identity/fig2/*")]
    for place, path in enumerate(places):
        path.unlink()
        if place % 2:
            path.mkdir()
        else:
            path.symlink_to("nothing")
    said = []
    integrity.set_damaged_aside(project, plan, said.append)
    assert len(said) == len(places)
    assert not any(path.is_symlink() or path.exists() for path in places)


def test_a_drawing_or_a_table_that_is_not_as_it_was_made_is_set_aside(project):
    plan = make_plan(project, load_config(project, [project / tiny.TINY]))
    for name in DRAWN:
        (project / name).write_bytes((project / name).read_bytes() + b"\n")
    said = []
    integrity.set_damaged_aside(project, plan, said.append)
    assert sorted(said) == [
        f"{project / name} is not as it was made: set aside as {project / name}.damaged,"
        " and made again"
        for name in sorted(DRAWN)
    ]


def test_what_cannot_be_set_aside_is_named_with_what_to_do(project):
    plan = make_plan(project, load_config(project, [project / tiny.TINY]))
    (name,) = spoil(project, KINDS[:1])
    (project / f"{name}.damaged").mkdir()
    with pytest.raises(OSError, match=r"cannot be set aside as .* remove both") as caught:
        integrity.set_damaged_aside(project, plan, print)
    assert name in str(caught.value)


def test_explain_lists_what_a_run_would_set_aside_and_what_follows(project):
    spoil(project, [KINDS[0], "results/figures/fig4.nc"])
    shutil.copy(
        next(project.glob("results/montecarlo/*/networks0-1.nc")),
        next(project.glob("results/montecarlo/*/networks2-3.nc")),
    )
    overlay = [project / tiny.TINY]
    before = state(project)
    jobs = explain(project, [], overlay)
    assert {(job.stage, job.why) for job in jobs} == {
        ("parameters", DAMAGED),
        ("montecarlo", DAMAGED),
        ("merge", DAMAGED),
        ("merge", UPSTREAM),
        ("figures", UPSTREAM),
        ("scores", UPSTREAM),
    }
    assert state(project) == before
    integrity.set_damaged_aside(project, make_plan(project, load_config(project, overlay)), print)
    assert Counter(job.stage for job in jobs) == tiny.planned(project)


def test_verify_and_prune_name_what_the_next_run_would_set_aside(project, capsys):
    names = spoil(project, ("results/theory/*.nc", "figures/fig2.svg"))
    before = state(project)
    overlay = ["--project", str(project), "--configfile", str(project / tiny.TINY)]
    assert main(["verify", "fig2", "--sample", "1", *overlay]) == 1
    verified = capsys.readouterr().err
    assert main(["prune", *overlay]) == 0
    pruned = capsys.readouterr().err
    for name in names:
        line = f"{name} is .*: the next run sets it aside, and makes it again\n"
        assert len(re.findall(line, verified)) == len(re.findall(line, pruned)) == 1
    assert state(project) == before


# What root would be allowed all the same.
UNPRIVILEGED = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
LOCKED = (
    "results/theory/*.nc",
    "results/theory",
    "results/identity/fig2",
    "results/figures/fig2.nc",
)
COMMANDS = ("explain", "prune", "verify fig2", "open fig2")
SLOW = [pytest.param(*case, marks=pytest.mark.slow) for case in product(LOCKED[:3], COMMANDS[:3])]


@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="root, no setpriv")
@pytest.mark.parametrize(("kind", "command"), [*zip(LOCKED, COMMANDS, strict=True), *SLOW])
def test_what_may_not_be_read_is_named_with_what_to_do(project, kind, command):
    path = next(project.glob(kind))
    path.chmod(0)
    overlay = [] if "open" in command else ["--configfile", tiny.TINY]
    done = subprocess.run(
        [
            *(UNPRIVILEGED if os.geteuid() == 0 else ()),
            *(sys.executable, "-m", "giantstep", *command.split(), *overlay),
        ],
        cwd=project,
        env=tiny.environment() | {"PYTHONPATH": str(project / "src")},
        capture_output=True,
        text=True,
    )
    path.chmod(0o755)
    assert done.returncode == 2
    assert re.fullmatch(
        rf"giantstep {command.split()[0]}: error: .* make it readable and writable, or remove it:"
        rf" '{path.relative_to(project)}.*'\n",
        done.stderr,
    ), done.stderr


@pytest.mark.parametrize("name", ["results", "results/theory", "results/identity/fig2", "figures"])
def test_what_is_no_folder_is_refused(project, name):
    plan = make_plan(project, load_config(project, [project / tiny.TINY]))
    path = project / name
    for place in (lambda: path.symlink_to("nothing"), path.touch, lambda: os.mkfifo(path)):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        place()
        with pytest.raises(NotADirectoryError, match=rf"remove it, or mend the link: '{path}'"):
            integrity.set_damaged_aside(project, plan, print)


def test_a_merged_file_of_an_edited_config_is_no_other_file(project):
    overlay = project / tiny.TINY
    overlay.write_text(overlay.read_text().replace("networks: 4, t", "networks: 8, t"))
    said = []
    integrity.set_damaged_aside(
        project, make_plan(project, load_config(project, [overlay])), said.append
    )
    assert said == []


def test_a_figure_is_opened_as_what_it_is_and_a_copy_elsewhere_by_any_name(project, tmp_path):
    merged = project / "results/figures/fig2.nc"
    elsewhere = tmp_path / "elsewhere/results/figures"
    elsewhere.mkdir(parents=True)
    shutil.copy(merged, elsewhere / "mine.nc")
    assert open_figure("mine", tmp_path / "elsewhere").identical(open_figure("fig2", project))
    shutil.copy(project / "results/figures/fig4.nc", merged)
    with pytest.raises(DamagedFileError, match="is another file, merge/fig4"):
        open_figure("fig2", project)
    assert not merged.exists()


@pytest.mark.parametrize("kinds", [SOME, pytest.param(KINDS, marks=pytest.mark.slow)])
def test_one_run_undoes_damage_and_makes_missing_drawings_and_tables_again(
    project, tiny_run, kinds
):
    names = spoil(project, kinds)
    for name in DRAWN:
        (project / name).unlink()
    next_year = time.time() + 3e7
    for name in tiny.made(project):  # as a copy from a machine with another clock has them
        os.utime(project / name, (next_year, next_year))
    said = tiny.snakemake(project)
    for name in names:
        assert f"{name} is damaged: set aside as {name}.damaged" in said
    after = tiny.made(project)
    assert {name: after[name] for name in after if ".damaged" not in name} == tiny.made(tiny_run)
    assert tiny.planned(project) == {}


@pytest.mark.slow
def test_missing_drawings_and_tables_are_made_again(project, tiny_run):
    for name in DRAWN:
        (project / name).unlink()
    (project / "matplotlibrc").write_text("axes.facecolor: red\nfont.size: 20\n")
    tiny.snakemake(project)
    assert tiny.made(project) == tiny.made(tiny_run)


def state(project):
    """Return each file's content and time of change, without Snakemake's own records."""
    return {
        str(path.relative_to(project)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in project.rglob("*")
        if path.is_file() and not {".snakemake", "__pycache__"} & set(path.parts)
    }


MORE = ("--summary", "--dag", "--unlock", "--report=../report.html", "--lint")


@pytest.mark.parametrize(
    "queries", [("--dry-run",), pytest.param(MORE, marks=pytest.mark.slow)], ids=["one", "more"]
)
def test_what_starts_no_job_changes_no_file_and_takes_no_lock(project, queries):
    lock = project / ".snakemake/run.lock"
    lock.unlink()
    next(project.glob("results/theory/*.nc")).write_bytes(b"damaged")
    before = state(project)
    for query in queries:
        tiny.snakemake(project, query, code=None if query == "--lint" else 0)
        assert state(project) == before, query
    assert not lock.exists()


@pytest.mark.slow
def test_touching_changes_times_only(project):
    lock = project / ".snakemake/run.lock"
    lock.unlink()
    next(project.glob("results/theory/*.nc")).write_bytes(b"damaged")
    before = state(project)
    tiny.snakemake(project, "--touch")
    after = state(project)
    assert {k: x for k, (x, _) in after.items()} == {k: x for k, (x, _) in before.items()}
    assert not lock.exists()
