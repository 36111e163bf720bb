"""A job of one task: the result of its stage, to a file."""

from importlib import import_module

from threadpoolctl import threadpool_limits

from giantstep.pipeline.runtime.job import logged
from giantstep.pipeline.stages.result import compute_result
from giantstep.pipeline.storage import netcdf

if "snakemake" in globals():
    job = globals()["snakemake"]
    with logged(job.log[0]), threadpool_limits(job.threads):
        (module,) = map(import_module, job.params.code.loads)
        job.params.code.check()
        result = compute_result(module, job.params.task)
        job.params.code.check()
        netcdf.write(result, job.output[0], f"{job.rule}/{job.wildcards.key}")
