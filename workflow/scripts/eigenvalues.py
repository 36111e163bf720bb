"""Stage 3, of a spectrum, as a job: eigenvalues of simulated features."""

from giantstep import dataset, stages
from giantstep.joblog import logged
from giantstep.plan import EigenvaluesTask

if "snakemake" in globals():
    job = globals()["snakemake"]
    with logged(job.log[0]):
        task: EigenvaluesTask = job.params.task
        found = stages.eigenvalues(
            task.problem, task.alpha, task.sizes, task.networks, task.root_seed
        )
        dataset.write(found, job.output[0])
