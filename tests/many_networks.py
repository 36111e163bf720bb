"""A figure of one curve with many networks, to see how much memory its merging takes."""

from pathlib import Path

import numpy as np

from giantstep.pipeline.planning.layout import STAGES
from giantstep.pipeline.planning.shard_task import ShardTask, block_name
from giantstep.pipeline.planning.tasks import Curve
from giantstep.pipeline.stages import montecarlo
from giantstep.pipeline.stages.merge import merge_figure
from giantstep.pipeline.stages.result import compute_result
from giantstep.pipeline.storage import large_netcdf, netcdf
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.problems.sizes import Sizes

SHARDS = 10


def merge(project, networks):
    """Merge networks that are copies of one, and return the peak memory of this process so far."""
    protocol, sizes = Protocol("tanh", "sin", 1, alpha0=1, beta=1), Sizes(16, 2, 100)
    task = ShardTask(protocol, Grid(tuple(np.arange(1, 11) / 4), (0.1,)), sizes, (0,), 0)
    one, keys = compute_result(montecarlo, task), []
    for block in np.split(np.arange(networks), SHARDS):
        keys.append(f"some-{networks}/{block_name(block.tolist())}")
        copies = one.isel(network=np.zeros_like(block)).assign_coords(network=block)
        copies["simulated_m"] *= 1 + copies["network"]
        path = project / STAGES["montecarlo"].paths(keys[-1])[0]
        netcdf.write(copies, path, f"montecarlo/{keys[-1]}")
    curve = Curve("a", "a", protocol, "isotropic", "square", 16, {"montecarlo": tuple(keys)})
    merged = merge_figure([curve], {"title": "Many networks"}, {}, 0, project)
    large_netcdf.write(merged, project / f"{networks}.nc", "merge/some")
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) * 1024
