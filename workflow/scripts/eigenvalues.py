"""Stage 3, of a spectrum, as a job: eigenvalues of simulated features."""

from giantstep.pipeline.planning.plan import EigenvaluesTask
from giantstep.pipeline.runtime.job import logged
from giantstep.pipeline.stages import stages
from giantstep.pipeline.storage import netcdf

if "snakemake" in globals():
    job = globals()["snakemake"]
    with logged(job.log[0]):
        task: EigenvaluesTask = job.params.task
        found = stages.eigenvalues(
            task.problem, task.alpha, task.sizes, task.networks, task.root_seed
        )
        netcdf.write(found, job.output[0])
