"""A job of parameters, theory or networks: its tasks, to one file."""

from pathlib import Path
from typing import Any

from giantstep.workflow.code import Watch

snakemake: Any
watch = Watch(snakemake.params.stage)

from threadpoolctl import threadpool_limits

from giantstep.workflow.job_log import job_log
from giantstep.workflow.jobs import compute
from giantstep.workflow.plan import Plan

# Another number of threads of BLAS may round differently.
with job_log(snakemake.log[0]) as progress, threadpool_limits(1):
    stage, name, *networks = snakemake.params
    figure = Plan(Path(), snakemake.config).figure(name)
    tasks = figure.tasks(stage, *networks, **snakemake.wildcards)
    options = {"threads": snakemake.threads, "progress": progress}
    compute(stage, tasks, snakemake.output[0], watch.check, **options)
