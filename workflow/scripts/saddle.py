"""Stage 2 as a job: the file of an sRF to the file of its theory over a grid."""

from threadpoolctl import threadpool_limits

from giantstep.pipeline.runtime.job import logged
from giantstep.pipeline.stages import stages
from giantstep.pipeline.storage import netcdf
from giantstep.problems.bulk_kind import ISOTROPIC

if "snakemake" in globals():
    job = globals()["snakemake"]
    with logged(job.log[0]):
        task = job.params.task
        srf = stages.srf_of(netcdf.read(job.input[0]))
        problem = srf if task.bulk == ISOTROPIC else task.problem
        with threadpool_limits(job.threads):
            made_from = [task.parameters]
            solved = stages.theory(problem, task.grid, made_from, task.optimal, task.bulk)
        netcdf.write(solved, job.output[0])
