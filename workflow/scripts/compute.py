"""A job of one task: the result of its stage, to a file."""

from importlib import import_module
from pathlib import Path

from threadpoolctl import threadpool_limits

from giantstep.pipeline.runtime.job import logged
from giantstep.pipeline.runtime.job_check import check_job
from giantstep.pipeline.stages.result import compute_result
from giantstep.pipeline.storage import netcdf

if "snakemake" in globals():
    job = globals()["snakemake"]
    # Another number of threads may round differently.
    with logged(job.log[0]), threadpool_limits(1):
        path = Path(job.output[0])
        stage = path.parent.name
        module = import_module(f"giantstep.pipeline.stages.{stage}")
        check_job(job, __file__)
        result = compute_result(module, job.params.task)
        check_job(job, __file__)
        netcdf.write(result, path, f"{stage}/{path.stem}")
