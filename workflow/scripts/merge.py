"""A job of one figure: all results of its curves, to its merged file."""

from pathlib import Path
from typing import Any

from giantstep.workflow.code import Watch

snakemake: Any
watch = Watch("merge")

from giantstep.workflow import store
from giantstep.workflow.job_log import job_log
from giantstep.workflow.merge import merge_figure
from giantstep.workflow.plan import Plan
from giantstep.workflow.results import read_results

with job_log(snakemake.log[0]):
    made = snakemake.input
    figure = Plan(Path(), snakemake.config).figure(snakemake.wildcards.figure)
    figure.check(made.key)
    results = read_results(figure, made.parameters + made.theory, made.networks)
    merged = merge_figure(figure, results)
    watch.check()
    store.write(merged, snakemake.output[0])
