"""A job of one figure: all results of its curves, to its merged file."""

from giantstep.pipeline.runtime.job import logged
from giantstep.pipeline.stages.merge import merge_figure
from giantstep.pipeline.storage import netcdf

if "snakemake" in globals():
    job = globals()["snakemake"]
    with logged(job.log[0]):
        given = job.params
        given.code.check()
        merged = merge_figure(given.curves, given.config, given.simulation, given.root_seed)
        given.code.check()
        netcdf.write(merged, job.output[0], given.name)
