"""A job of one task: the result of its stage, to a file."""

from threadpoolctl import threadpool_limits

from giantstep.pipeline.planning.layout import STAGES
from giantstep.pipeline.runtime.job import logged
from giantstep.pipeline.stages.result import compute_result
from giantstep.pipeline.storage import netcdf

if "snakemake" in globals():
    job = globals()["snakemake"]
    with logged(job.log[0]), threadpool_limits(job.threads):
        netcdf.write(compute_result(STAGES[job.rule], job.params.task), job.output[0])
