"""A job of parameters, theory or networks: its tasks, to one file."""

from pathlib import Path
from typing import Any

from giantstep.workflow.code import Watch

snakemake: Any
path = snakemake.output[0]
watch = Watch(Path(path).parts[1])

from threadpoolctl import threadpool_limits

from giantstep.workflow import store
from giantstep.workflow.job_log import job_log
from giantstep.workflow.jobs import compute
from giantstep.workflow.plan import Plan

# Another number of threads of BLAS may round differently.
with job_log(snakemake.log[0]), threadpool_limits(1):
    figure = Plan(Path(), snakemake.config).figure(snakemake.params.figure)
    figure.check(path)
    results = compute(figure.jobs[path], threads=snakemake.threads)
    watch.check()
    store.write(results, path)
