"""Stage 3, of a panel with a teacher, as a job: overlaps of trained rows with its directions."""

from threadpoolctl import threadpool_limits

from giantstep.pipeline.planning.plan import RecoveryTask
from giantstep.pipeline.runtime.job import logged
from giantstep.pipeline.stages import stages
from giantstep.pipeline.storage import netcdf

if "snakemake" in globals():
    job = globals()["snakemake"]
    with logged(job.log[0]), threadpool_limits(job.threads):
        task: RecoveryTask = job.params.task
        found = stages.recovery(task.problem, task.dimension, task.networks, task.root_seed)
        netcdf.write(found, job.output[0])
