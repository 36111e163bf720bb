"""Stage 2, of a spectrum, as a job: the file of an sRF to that of its density of eigenvalues."""

from threadpoolctl import threadpool_limits

from giantstep import dataset, stages
from giantstep.joblog import logged

if "snakemake" in globals():
    job = globals()["snakemake"]
    with logged(job.log[0]), threadpool_limits(job.threads):
        task = job.params.task
        srf = stages.srf_of(dataset.read(job.input[0]))
        dataset.write(stages.spectral_density(srf, task.alpha, [task.parameters]), job.output[0])
