"""A result file is whole, explains itself, has the same bytes every time, and cannot lie."""

import json
import os
import resource
import signal
import time

import numpy as np
import pytest
import xarray as xr

from giantstep.pipeline.planning.tasks import TheoryTask
from giantstep.pipeline.runtime.checksums import DamagedFileError, check_seal
from giantstep.pipeline.runtime.signals import handle_stop_signals
from giantstep.pipeline.stages import theory
from giantstep.pipeline.stages.result import compute_result
from giantstep.pipeline.storage import large_netcdf, netcdf
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol

STOPS = (signal.SIGINT, signal.SIGTERM)


NAME = "theory/some-key"
PROTOCOL = Protocol("tanh", "sign", 1, alpha0=1, beta=1)
WRITERS = pytest.mark.parametrize("write", [netcdf.write, large_netcdf.write])


@pytest.fixture
def solved():
    task = TheoryTask(PROTOCOL, Grid((0.5, 1.0), (0.1, 1.0)), False, "isotropic")
    return compute_result(theory, task)


def test_a_file_reads_back_and_has_the_same_bytes_every_time(solved, tmp_path):
    netcdf.write(solved, tmp_path / "one.nc", NAME)
    large_netcdf.write(solved, tmp_path / "two.nc", NAME)
    assert (tmp_path / "one.nc").read_bytes() == (tmp_path / "two.nc").read_bytes()
    assert netcdf.read(tmp_path / "one.nc", NAME).drop_attrs().equals(solved.drop_attrs())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["one.nc", "two.nc"]


def test_every_variable_says_what_it_is(solved):
    for variable in solved.variables.values():
        assert variable.attrs["long_name"]
        assert variable.attrs["units"] == "1"
    assert solved["test_error"].attrs["equation"] == "(25)"
    assert json.loads(solved.attrs["parameters"])["problem"]["alpha0"] == 1


@WRITERS
def test_a_failed_write_leaves_the_old_file_and_nothing_else(write, solved, tmp_path, monkeypatch):
    path = tmp_path / "result.nc"
    write(solved, path, NAME)
    before = path.read_bytes()

    def torn(self, target, **options):
        target.write_bytes(b"half a file")

    monkeypatch.setattr(xr.Dataset, "to_netcdf", torn)
    with pytest.raises(DamagedFileError):
        write(solved.assign_attrs(title="another"), path, NAME)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.fixture
def stoppable():
    """Signals stop this process as they would a job."""
    before = {number: signal.getsignal(number) for number in STOPS}
    handle_stop_signals()
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("stoppable")
def test_telling_to_stop_waits_for_the_file(solved, tmp_path, monkeypatch):
    real = xr.Dataset.to_netcdf

    def told_meanwhile(self, target, **options):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.01)  # the handler runs here
        real(self, target, **options)

    monkeypatch.setattr(xr.Dataset, "to_netcdf", told_meanwhile)
    with pytest.raises(KeyboardInterrupt):
        netcdf.write(solved, tmp_path / "result.nc", NAME)
    assert netcdf.read(tmp_path / "result.nc", NAME).drop_attrs().equals(solved.drop_attrs())


@pytest.mark.usefixtures("stoppable")
@pytest.mark.parametrize("read", [netcdf.read, large_netcdf.read])
def test_telling_to_stop_waits_until_libraries_have_read(read, solved, tmp_path, monkeypatch):
    netcdf.write(solved, tmp_path / "result.nc", NAME)
    real, found = xr.open_dataset, []

    def told_meanwhile(path, **options):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.01)  # the handler runs here
        found.append(real(path, **options))
        return found[0]

    monkeypatch.setattr("xarray.open_dataset", told_meanwhile)
    monkeypatch.setattr("xarray.backends.api.open_dataset", told_meanwhile)
    with pytest.raises(KeyboardInterrupt):
        read(tmp_path / "result.nc", NAME)
    assert found[0]["test_error"].variable._in_memory


def test_large_variables_are_read_when_they_are_used(solved, tmp_path, monkeypatch):
    netcdf.write(solved, tmp_path / "result.nc", NAME)
    monkeypatch.setattr(large_netcdf, "LARGE", 0)
    whole, found = (read(tmp_path / "result.nc", NAME) for read in (netcdf.read, large_netcdf.read))
    assert not found["test_error"].variable._in_memory
    part = {"alpha": slice(None, None, -1), "ridge": 1}
    xr.testing.assert_identical(found["test_error"].isel(part), whole["test_error"].isel(part))
    xr.testing.assert_identical(found, whole)


def test_half_files_of_the_dead_are_removed_and_those_of_the_living_left(solved, tmp_path):
    living, dead = (tmp_path / f".result.nc.{pid}.part" for pid in (os.getppid(), 2**30))
    for half in (living, dead):
        half.touch()
    netcdf.write(solved, tmp_path / "result.nc", NAME)
    assert living.exists()
    assert not dead.exists()


@pytest.mark.parametrize("damage", ["truncated", "one number changed"])
def test_a_damaged_file_is_set_aside(solved, tmp_path, damage):
    path = tmp_path / "result.nc"
    netcdf.write(solved, path, NAME)
    if damage == "truncated":
        path.write_bytes(path.read_bytes()[:-100])
    else:
        changed = xr.load_dataset(path)
        changed["test_error"][0, 0] += 1e-15
        changed.to_netcdf(path)
    with pytest.raises(DamagedFileError, match="run the same command again"):
        netcdf.read(path, NAME)
    assert not path.exists()
    assert path.with_name("result.nc.damaged").exists()


def test_any_flipped_bit_is_seen(solved, tmp_path):
    path = tmp_path / "result.nc"
    netcdf.write(solved, path, NAME)
    whole = path.read_bytes()
    for place in range(0, len(whole), 97):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(DamagedFileError):
            check_seal(path, NAME)


def test_a_file_under_another_name_is_seen_and_set_aside(solved, tmp_path):
    path = tmp_path / "result.nc"
    netcdf.write(solved, path, "theory/other-key")
    assert netcdf.read(path, None).identical(netcdf.read(path, "theory/other-key"))
    whole = path.read_bytes()
    with pytest.raises(DamagedFileError, match="is another file, theory/other-key; it was set"):
        netcdf.read(path, NAME)
    assert not path.exists()
    path.write_bytes(whole.replace(b"theory/other-key", b"theory/some1-key"))  # under the seal
    with pytest.raises(DamagedFileError, match="is damaged"):
        netcdf.read(path, None)


@WRITERS
def test_where_there_is_no_room_the_system_says_so_and_old_files_stay(write, solved, tmp_path):
    path = tmp_path / "result.nc"
    write(solved, path, NAME)
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        with pytest.raises(OSError, match=r"cannot be written \(File too large\): .*result.nc"):
            write(solved.assign_attrs(title="another"), path, NAME)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_large_variables_have_the_same_bytes_too(solved, tmp_path):
    large = solved.assign(test_error=(("a", "b"), np.arange(2**18).reshape(2, -1) / 7))
    for name, write in (("one.nc", netcdf.write), ("two.nc", large_netcdf.write)):
        write(large, tmp_path / name, NAME)
    assert (tmp_path / "one.nc").read_bytes() == (tmp_path / "two.nc").read_bytes()
    assert large_netcdf.read(tmp_path / "two.nc", NAME).identical(large)
