"""Stage 3 as a job: one curve and one block of network replicates to a shard's file."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

from giantstep.pipeline.runtime.job import logged
from giantstep.pipeline.stages import shards


def teller(name: str) -> Callable[[str], None]:
    """Give what tells how far a shard is, and since when."""
    start = time.monotonic()
    return lambda text: print(f"{name}: {text}, {time.monotonic() - start:.0f} s", file=sys.stderr)


if "snakemake" in globals():
    job = globals()["snakemake"]
    with logged(job.log[0]):
        say = teller("/".join(job.wildcards))
        shards.complete(job.params.task, Path(job.output[0]), say, job.threads)
