"""A shard keeps every finished replicate, whatever stops it, and simulates none twice."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace

import pytest

from giantstep.pipeline.planning.shard_task import ShardTask, block_name
from giantstep.pipeline.planning.versions import library_versions
from giantstep.pipeline.runtime.checksums import sealed_name
from giantstep.pipeline.stages import montecarlo
from giantstep.pipeline.stages.shards import complete_shard
from giantstep.pipeline.storage import netcdf
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.problems.sizes import Sizes

TASK = ShardTask(
    Protocol("tanh", "sign", 1, alpha0=1, beta=1),
    Grid((0.5, 1.5), (0.1,)),
    Sizes(40, 2, 500),
    tuple(range(4)),
    root_seed=1,
)


def complete(folder, networks=TASK.networks, **options):
    path = folder / f"{block_name(networks)}.nc"
    complete_shard(montecarlo, replace(TASK, networks=tuple(networks)), path, **options)
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def simulated(monkeypatch):
    """The networks that are simulated from now on."""
    indices, real = [], montecarlo.simulate

    def counting(problem, grid, sizes, networks, *others):
        indices.extend(networks)
        return real(problem, grid, sizes, networks, *others)

    monkeypatch.setattr(montecarlo, "simulate", counting)
    return indices


def test_a_shard_is_its_replicates_simulated_at_once(tmp_path):
    path = complete(tmp_path)
    at_once = montecarlo.compute(**vars(TASK))
    assert netcdf.read(path, None).drop_attrs().identical(at_once.drop_attrs())
    assert names(tmp_path) == ["networks0-3.nc"]


def test_a_stopped_shard_goes_on_at_the_last_finished_replicate(tmp_path, monkeypatch, simulated):
    undisturbed = complete(tmp_path / "undisturbed" / tmp_path.name).read_bytes()
    simulated.clear()
    real = montecarlo.simulate

    def stopping(problem, grid, sizes, networks, *others):
        if list(networks) == [2] and 2 not in simulated:
            simulated.append(2)
            raise KeyboardInterrupt
        return real(problem, grid, sizes, networks, *others)

    monkeypatch.setattr(montecarlo, "simulate", stopping)
    with pytest.raises(KeyboardInterrupt):
        complete(tmp_path)
    assert names(tmp_path) == ["networks0-0.nc", "networks1-1.nc", "undisturbed"]
    path = complete(tmp_path)
    assert simulated == [0, 1, 2, 2, 3]
    assert path.read_bytes() == undisturbed


def test_more_replicates_in_shards_of_another_size_simulate_those_only(tmp_path, simulated):
    complete(tmp_path, range(3))
    simulated.clear()
    for networks in (range(2), range(2, 4), range(4, 6)):
        complete(tmp_path, networks)
    assert simulated == [3, 4, 5]
    other = complete(tmp_path / "other" / tmp_path.name, range(2, 4)).read_bytes()
    assert (tmp_path / "networks2-3.nc").read_bytes() == other


def test_a_damaged_replicate_is_set_aside_and_simulated_again(tmp_path, simulated):
    complete(tmp_path, [1])
    (tmp_path / "networks1-1.nc").write_bytes(b"half a file")
    said = []
    complete(tmp_path, range(2), report=said.append)
    assert simulated == [1, 0, 1]
    assert "networks1-1.nc.damaged" in "".join(said)


def test_a_shard_says_which_libraries_any_of_its_replicates_came_from(tmp_path):
    single = complete(tmp_path, [0])
    name = sealed_name(single)
    netcdf.write(netcdf.read(single, name).assign_attrs(libraries="numpy 1.0"), single, name)
    said = netcdf.read(complete(tmp_path, range(2)), None).attrs["libraries"]
    assert said == f"numpy 1.0; {library_versions()}"


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
def test_a_job_told_to_stop_leaves_whole_files_and_a_message(tmp_path, told):
    job = f"""
        from pathlib import Path
        from giantstep.pipeline.stages import montecarlo
        from giantstep.pipeline.stages.shards import complete_shard
        from giantstep.pipeline.runtime.job import logged
        from giantstep.pipeline.planning.shard_task import ShardTask
        from giantstep.problems.grid import Grid
        from giantstep.problems.protocol import Protocol
        from giantstep.problems.sizes import Sizes
        with logged("logs/montecarlo/log"):
            task = ShardTask({TASK.problem!r}, {TASK.grid!r}, Sizes(300, 1, 2000), range(999), 1)
            complete_shard(montecarlo, task, Path("networks0-998.nc"), threads=2)
    """
    (tmp_path / "logs/montecarlo").mkdir(parents=True)
    running = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(job)],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (tmp_path / "networks1-1.nc").exists():
        assert running.poll() is None
        time.sleep(0.02)
    os.kill(running.pid, told)
    _, said = running.communicate(timeout=20)
    assert running.returncode == 130
    assert said == "stopped: what is finished is kept; run again to go on\n"
    left = [name for name in names(tmp_path) if name.startswith("networks")]
    assert all(netcdf.read(tmp_path / name, None).sizes["network"] == 1 for name in left)
