"""A job of one figure: its drawings and scores, from its merged file alone."""

from giantstep.workflow import store
from giantstep.workflow.drawing import draw_figure
from giantstep.workflow.job_log import job_log
from giantstep.workflow.scores import write_scores

if "snakemake" in globals():
    job = globals()["snakemake"]
    with job_log(job.log[0]):
        figure = job.params.figure
        data = store.read(job.input.data, figure.merged_name)
        draw_figure(figure, data, lambda: figure.check_current(job.input.key))
        write_scores(figure, data)
