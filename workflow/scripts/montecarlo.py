"""A job of one shard: the simulation of a block of network replicates, to a file."""

from functools import partial
from pathlib import Path

from giantstep.pipeline.runtime.job import logged, progress_log
from giantstep.pipeline.runtime.job_check import check_job
from giantstep.pipeline.stages.shards import complete_shard

if "snakemake" in globals():
    job = globals()["snakemake"]
    with logged(job.log[0]):
        check_job(job, __file__)
        report, check = progress_log("/".join(job.wildcards)), partial(check_job, job, __file__)
        complete_shard(job.params.task, Path(job.output[0]), report, job.threads, check)
