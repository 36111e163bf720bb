"""Summaries of figures, from which they are drawn without a simulation."""

import shutil
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

import giantstep
from giantstep.cli.main import main

ROOT = Path(__file__).parents[2]
SUMMARIES = sorted((ROOT / "figures/data").glob("*.nc.gz"))
PAPER = [f"fig{number}" for number in range(1, 9)]
SLOW = [name for name in PAPER if name != "fig7"]


@pytest.fixture
def clone(tmp_path):
    """Copy what a fresh clone has: configurations and summaries, and no results."""
    for folder in "config/figures", "figures/data":
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


def test_the_repository_ships_small_summaries_of_the_paper_s_figures():
    assert [path.name.removesuffix(".nc.gz") for path in SUMMARIES] == PAPER
    assert sum(path.stat().st_size for path in SUMMARIES) < 1.5e6


@pytest.mark.parametrize("name", ["fig7", *(pytest.param(x, marks=pytest.mark.slow) for x in SLOW)])
def test_summaries_draw_the_pictures_of_the_gallery(clone, capsys, name):
    assert main(["redraw", name, "--project", str(clone)]) == 0
    assert f"from the summary of figures/{name}-" in capsys.readouterr().out
    drawn, shown = (
        matplotlib.image.imread(folder / f"{name}.png")
        for folder in (clone / "figures", ROOT / "docs/gallery")
    )
    assert drawn.shape == shown.shape
    assert np.abs(drawn - shown).mean() < 1e-3
    assert (clone / f"figures/{name}.pdf").stat().st_size > 1000


def test_a_figure_that_has_not_been_made_is_opened_from_its_summary(clone):
    with pytest.warns(UserWarning, match=r"fig2.nc.gz, which giantstep ships"):
        data = giantstep.open_figure("fig2", clone)
    assert {"test_error", "simulated_test_error_mean"} <= set(data)
    assert data.attrs["summary_of"].startswith("figures/fig2-")


def test_a_figure_without_a_summary_is_refused(clone, capsys):
    (clone / "figures/data/fig2.nc.gz").unlink()
    assert main(["redraw", "fig2", "--project", str(clone)]) != 0
    assert "figures/data/fig2.nc.gz" in capsys.readouterr().err
