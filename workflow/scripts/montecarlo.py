"""A job of one shard: the simulation of a block of network replicates, to a file."""

from pathlib import Path

from giantstep.pipeline.runtime.job import logged, progress_log
from giantstep.pipeline.stages.shards import complete_shard

if "snakemake" in globals():
    job = globals()["snakemake"]
    with logged(job.log[0]):
        given = job.params
        given.code.check()
        report = progress_log("/".join(job.wildcards))
        complete_shard(given.task, Path(job.output[0]), report, job.threads, given.code.check)
