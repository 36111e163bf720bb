"""Stage 2 as a job: the file of an sRF to the file of its theory over a grid."""

from threadpoolctl import threadpool_limits

from giantstep import dataset, stages
from giantstep.joblog import logged

if "snakemake" in globals():
    job = globals()["snakemake"]
    with logged(job.log[0]):
        srf = stages.srf_of(dataset.read(job.input[0]))
        with threadpool_limits(job.threads):
            task = job.params.task
            solved = stages.theory(srf, task.grid, [task.parameters], task.optimal)
        dataset.write(solved, job.output[0])
