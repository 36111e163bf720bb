"""A damaged or exchanged result is told by the job that reads it, set aside, and made again."""

import shutil

import pytest
import tiny


def exchanged(one, other):
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)


SHARDS = "results/montecarlo/tanh*/0-1.nc", "results/montecarlo/tanh*/2-3.nc"
PAIRS = {
    "shards": SHARDS,
    "merged files": ("results/figures/fig2.nc", "results/figures/fig4.nc"),
    "kinds": ("results/parameters/fig2-*.nc", "results/theory/fig2-*.nc"),
}


@pytest.mark.parametrize(
    "name", [*list(PAIRS)[:1], *(pytest.param(n, marks=pytest.mark.slow) for n in list(PAIRS)[1:])]
)
def test_a_file_under_the_name_of_another_is_told_and_made_again(project, tiny_run, name):
    one, other = (next(project.glob(pattern)) for pattern in PAIRS[name])
    exchanged(one, other)
    remove_what_follows(project, merged=name != "merged files")
    said = tiny.snakemake(project, code=1)
    assert "is another file" in said
    assert "run the same command again to make it" in said
    assert "Traceback" not in said.split("CalledProcessError")[0]
    tiny.snakemake(project, code=None)  # the other one, if they were not told together
    tiny.snakemake(project)
    after = {k: v for k, v in tiny.made(project).items() if ".damaged" not in k}
    assert after == tiny.made(tiny_run)


@pytest.mark.slow
def test_a_truncated_file_is_told_and_made_again(project, tiny_run):
    path = next(project.glob(SHARDS[0]))
    path.write_bytes(path.read_bytes()[:-100])
    remove_what_follows(project, merged=True)
    assert "is damaged" in tiny.snakemake(project, code=1)
    assert tiny.planned(project)["montecarlo"] == 1
    tiny.snakemake(project)
    after = {k: v for k, v in tiny.made(project).items() if ".damaged" not in k}
    assert after == tiny.made(tiny_run)


def remove_what_follows(project, merged):
    """Remove files that are made from others, so that these are read again."""
    shutil.rmtree(project / "figures")
    if merged:
        shutil.rmtree(project / "results/figures")
