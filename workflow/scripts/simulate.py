"""A job of one shard: the simulation of a block of network replicates, to a file."""

from functools import partial
from importlib import import_module
from pathlib import Path

from threadpoolctl import threadpool_limits

from giantstep.pipeline.runtime.job import logged, progress_log
from giantstep.pipeline.runtime.job_check import check_job
from giantstep.pipeline.stages.shards import complete_shard

if "snakemake" in globals():
    job = globals()["snakemake"]
    with logged(job.log[0]), threadpool_limits(1):
        path = Path(job.output[0])
        stage = import_module(f"giantstep.pipeline.stages.{path.parents[1].name}")
        check_job(job, __file__)
        report, check = progress_log("/".join(job.wildcards)), partial(check_job, job, __file__)
        complete_shard(stage, job.params.task, path, report, check, threads=job.threads)
