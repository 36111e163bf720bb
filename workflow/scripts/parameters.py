"""Stage 1 as a job: a curve's problem to the file of its equivalent sRF."""

from giantstep.pipeline.runtime.job import logged
from giantstep.pipeline.stages import stages
from giantstep.pipeline.storage import netcdf

if "snakemake" in globals():
    job = globals()["snakemake"]
    with logged(job.log[0]):
        netcdf.write(stages.parameters(job.params.problem), job.output[0])
