"""Stage 2, of a spectrum, as a job: the file of an sRF to that of its density of eigenvalues."""

from threadpoolctl import threadpool_limits

from giantstep.pipeline.runtime.job import logged
from giantstep.pipeline.stages import stages
from giantstep.pipeline.storage import netcdf

if "snakemake" in globals():
    job = globals()["snakemake"]
    with logged(job.log[0]), threadpool_limits(job.threads):
        task = job.params.task
        srf = stages.srf_of(netcdf.read(job.input[0]))
        netcdf.write(stages.spectral_density(srf, task.alpha, [task.parameters]), job.output[0])
