"""A job of parameters, theory or networks: its tasks, to one file."""

from threadpoolctl import threadpool_limits

from giantstep.workflow.job_log import job_log
from giantstep.workflow.jobs import compute

if "snakemake" in globals():
    job = globals()["snakemake"]
    # Another number of threads of BLAS may round differently.
    with job_log(job.log[0]) as progress, threadpool_limits(1):
        options = {"threads": job.threads, "progress": progress}
        compute(job.params.stage, job.params.tasks, job.output[0], **options)
