"""A damaged or exchanged result is told by the job that reads it, set aside, and made again."""

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
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
def test_a_file_under_the_name_of_another_is_told_and_made_again(project, tiny_run, name):
    one, other = (next(project.glob(pattern)) for pattern in PAIRS[name])
    exchanged(one, other)
    if name == "merged files":
        drawings = undrawn(project, "fig2", "fig4", merged=False)
    else:
        drawings = undrawn(project, "fig2", merged=True)
    said = tiny.snakemake(project, *drawings, code=1)
    assert "is another file" in said
    assert "run the same command again to make it" in said
    assert "Traceback" not in said.split("CalledProcessError")[0]
    tiny.snakemake(project, *drawings, code=None)  # the other one, if not told together
    tiny.snakemake(project, *drawings)
    assert undamaged(project) == tiny.made(tiny_run)


@pytest.mark.slow
def test_a_truncated_file_is_told_and_made_again(project, tiny_run):
    path = next(project.glob(SHARDS[0]))
    path.write_bytes(path.read_bytes()[:-100])
    drawings = undrawn(project, "fig2", merged=True)
    assert "is damaged" in tiny.snakemake(project, *drawings, code=1)
    assert not path.exists()
    tiny.snakemake(project, *drawings)
    assert undamaged(project) == tiny.made(tiny_run)


def undrawn(project, *figures, merged):
    """Remove drawings and, if they are made again, merged files; return what is to be drawn."""
    for name in figures:
        for path in (project / "figures").glob(f"{name}.*"):
            path.unlink()
        if merged:
            (project / f"results/figures/{name}.nc").unlink()
    return [f"figures/{name}.png" for name in figures]


def undamaged(project):
    return {name: content for name, content in tiny.made(project).items() if ".damaged" not in name}
