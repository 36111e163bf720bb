"""A job of one figure: all results of its curves, to its merged file."""

from pathlib import Path

from giantstep.pipeline.runtime.job import logged
from giantstep.pipeline.runtime.job_check import check_job
from giantstep.pipeline.stages.merge import merge_figure
from giantstep.pipeline.storage import large_netcdf

if "snakemake" in globals():
    job = globals()["snakemake"]
    with logged(job.log[0]):
        check_job(job, __file__)
        figure = job.params.figure
        merged = merge_figure(figure.curves, figure.science, figure.sizes, figure.root_seed)
        check_job(job, __file__)
        large_netcdf.write(merged, Path(job.output[0]), job.params.name)
