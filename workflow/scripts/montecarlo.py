"""Stage 3 as a job: one curve and one block of network replicates to a shard's file."""

import sys
import time
from collections.abc import Callable

from threadpoolctl import threadpool_limits

from giantstep import dataset, stages
from giantstep.joblog import logged
from giantstep.plan import ShardTask


def reporter(name: str, total: int) -> Callable[[int], None]:
    """Give a callback that tells how many networks of a shard are done, and the time it took."""
    start, done = time.monotonic(), []

    def report(network: int) -> None:
        done.append(network)
        elapsed = time.monotonic() - start
        print(f"{name}: network {len(done)} of {total}, {elapsed:.0f} s", file=sys.stderr)

    return report


if "snakemake" in globals():
    job = globals()["snakemake"]
    with logged(job.log[0]):
        task: ShardTask = job.params.task
        progress = reporter(job.wildcards.key, len(task.networks))
        with threadpool_limits(job.threads):
            shard = stages.simulation(
                task.problem, task.grid, task.sizes, task.networks, task.root_seed, progress
            )
        dataset.write(shard, job.output[0])
