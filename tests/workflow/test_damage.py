"""A file damaged after it was made is noticed by the next run, set aside, and made again."""

import random
import shutil
from itertools import cycle

import tiny

KINDS = (
    *(f"results/{stage}/**/*.nc" for stage in tiny.STAGES),
    "results/figures/fig2.nc",
    "figures/fig2.pdf",
    "figures/fig4.svg",
    "results/scores/fig4.csv",
    "results/checksums/scores/fig2.sha256",  # last: what it lists counts as damaged
)


def flipped(whole, dice):
    place = dice.randrange(len(whole))
    return whole[:place] + bytes([whole[place] ^ 1 << dice.randrange(8)]) + whole[place + 1 :]


def truncated(whole, dice):
    return whole[: dice.randrange(len(whole))]


def test_damage_of_every_kind_of_file_is_undone_by_one_run(tiny_run, tmp_path):
    project = shutil.copytree(tiny_run, tmp_path / "project")
    dice = random.Random(1)
    for kind, damage in zip(KINDS, cycle([flipped, truncated]), strict=False):
        path = next(project.glob(kind))
        path.write_bytes(damage(path.read_bytes(), dice))
    said = tiny.snakemake(project)
    for kind in KINDS[:-1]:
        name = next(project.glob(kind)).relative_to(project)
        assert f"{name} is damaged: set aside as {name}.damaged" in said
    after = tiny.made(project)
    assert {name: after[name] for name in after if ".damaged" not in name} == tiny.made(tiny_run)
    assert "Nothing to be done" in tiny.snakemake(project)
