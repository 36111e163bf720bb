"""A file is whole or missing, is the same bytes for the same data, and is checked when read."""

import os
import random
import shutil
import subprocess
import sys

import faults
import numpy as np
import pytest
import xarray as xr

import giantstep
from giantstep.workflow import store
from giantstep.workflow.job_log import job_log

DATA = xr.Dataset(
    {
        "error": (("alpha", "ridge"), np.arange(6.0).reshape(2, 3), {"units": "1"}),
        "failed": ("alpha", [True, False]),
        "status": ("alpha", np.array([0, 3], "int8")),
    },
    coords={"alpha": [1.0, np.nan], "ridge": list(range(3)), "loss": ("alpha", ["ζ", "hinge"])},
    attrs={"title": "σ̂ and others", "seed": np.int64(2**62)},
)
GROUPS = {"left:alpha0=0.5/limit": DATA, "left:alpha0=0.5/finite": DATA[["error"]], "right": DATA}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results" / "theory" / "fig2-0123.nc"


def test_what_is_written_is_read_and_by_xarray_alone(path):
    store.write(DATA, path)
    assert store.read(path).identical(DATA)
    assert xr.load_dataset(path).identical(DATA)
    store.write(GROUPS, path)
    found = store.read_groups(path)
    assert found.keys() == GROUPS.keys()
    assert all(found[name].identical(GROUPS[name]) for name in GROUPS)


def test_the_same_data_make_the_same_bytes_in_every_process_and_folder(path):
    store.write(DATA, path)
    code = "import sys; from giantstep.workflow import store; store.write(store.read(sys.argv[1]),"
    code += "sys.argv[2] + '/results/theory/fig2-0123.nc')"
    other = path.parents[2] / "other"
    subprocess.run([sys.executable, "-c", code, path, other], check=True, env=os.environ)
    assert (other / "results/theory/fig2-0123.nc").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("kind", faults.DAMAGE)
def test_damage_is_told_and_what_is_read_stays_where_it_is(path, kind):
    store.write(DATA, path)
    whole, dice = path.read_bytes(), random.Random(kind)
    for _ in range(20):
        damaged = faults.DAMAGE[kind](whole, dice.randrange(len(whole)))
        if damaged == whole:
            continue
        path.write_bytes(damaged)
        with pytest.raises(store.DamagedFileError, match="is (damaged|another file)"):
            store.read(path)
        assert [one.read_bytes() for one in path.parent.iterdir()] == [damaged]


def test_a_job_sets_aside_what_is_damaged(path, tmp_path):
    for _ in range(2):  # the second time, there is something in that place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("damaged")
        with pytest.raises(SystemExit), job_log(tmp_path / "log"):
            store.read(path)
        assert "run the same command again" in (tmp_path / "log").read_text()
        assert [one.name for one in path.parent.iterdir()] == [f"{path.name}.damaged"]


def test_a_file_under_the_name_of_another_is_told(path):
    store.write(DATA, path)
    other = path.with_name("fig3-0123.nc")
    shutil.copy(path, other)
    with pytest.raises(store.DamagedFileError, match="another file, theory/fig2-0123.nc"):
        store.read(other)
    assert store.read(other, moved=True).identical(DATA)


def test_a_figures_file_of_release_0_2_0_is_opened(tmp_path):
    path = tmp_path / "results/figures/fig2.nc"
    store.write(DATA, path.with_name("fig2-0123456789ab"))
    shutil.move(path.with_name("fig2-0123456789ab"), path)
    mark = tmp_path / "results/keys/fig2/data-0123456789ab"
    mark.parent.mkdir(parents=True)
    mark.touch()
    with pytest.warns(UserWarning, match="made from an earlier configuration"):
        assert giantstep.open_figure("fig2", tmp_path).identical(DATA)
    other = shutil.copy(path, path.with_name("fig22.nc"))
    with pytest.raises(store.DamagedFileError, match="another file, figures/fig2-0123456789ab"):
        store.read(other)


def test_what_cannot_be_written_leaves_what_was_there_and_nothing_else(path, monkeypatch):
    store.write(DATA, path)
    before = path.read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device"):
        store.write(GROUPS, path)
    assert [one.read_bytes() for one in path.parent.iterdir()] == [before]
