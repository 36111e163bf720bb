"""A job of one figure: its drawings and scores, from its merged file."""

from pathlib import Path
from typing import Any

from giantstep.workflow.code import Watch

snakemake: Any
watch = Watch("figure", *snakemake.input.reads)

from giantstep.workflow import store
from giantstep.workflow.drawing import draw_figure
from giantstep.workflow.job_log import job_log
from giantstep.workflow.plan import Plan
from giantstep.workflow.results import check_made_from
from giantstep.workflow.scores import write_scores

with job_log(snakemake.log[0]):
    drawn = snakemake.output
    figure = Plan(Path(), snakemake.config).figure(snakemake.wildcards.figure)
    figure.check(snakemake.input.key)
    data, pictures = store.read(figure.merged), [drawn.png, drawn.svg, drawn.pdf]
    check_made_from(figure, data)
    draw_figure(figure.name, figure.config, data, pictures, Path())
    write_scores(data, drawn.table, drawn.scores)
    watch.check()  # or Snakemake removes what is drawn
