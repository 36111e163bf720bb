"""Stage 3, of a panel with a teacher, as a job: overlaps of trained rows with its directions."""

from threadpoolctl import threadpool_limits

from giantstep import dataset, stages
from giantstep.joblog import logged
from giantstep.plan import RecoveryTask

if "snakemake" in globals():
    job = globals()["snakemake"]
    with logged(job.log[0]), threadpool_limits(job.threads):
        task: RecoveryTask = job.params.task
        found = stages.recovery(task.problem, task.dimension, task.networks, task.root_seed)
        dataset.write(found, job.output[0])
