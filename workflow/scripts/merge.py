"""A job of one figure: all results of its curves, to its merged file."""

from giantstep.workflow import store
from giantstep.workflow.job_log import job_log
from giantstep.workflow.merge import merge_figure
from giantstep.workflow.results import read_results

if "snakemake" in globals():
    job = globals()["snakemake"]
    with job_log(job.log[0]):
        figure = job.params.figure
        merged = merge_figure(figure, read_results(figure))
        figure.check_current(job.input.key)
        store.write(merged, job.output[0], figure.merged_name)
