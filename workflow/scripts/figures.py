"""Stage 5 as a job: a figure's merged file to its drawings."""

from importlib import import_module
from pathlib import Path
from warnings import filterwarnings

from matplotlib import rc_context

from giantstep.figures import style
from giantstep.pipeline.runtime.checksums import write_list
from giantstep.pipeline.runtime.job import logged
from giantstep.pipeline.storage import netcdf

if "snakemake" in globals():
    job = globals()["snakemake"]
    with logged(job.log[0]):
        drawing = import_module(f"giantstep.figures.{job.wildcards.figure}")
        # What does not fit on its page is no drawing.
        filterwarnings("error", message=".*layout not applied")
        with rc_context(style.rc()):  # type: ignore[arg-type]
            picture = drawing.draw(netcdf.read(job.input.data), job.params.config)
            *drawings, checksums = job.output
            for output in drawings:
                style.save(picture, Path(output))
            write_list(drawings, checksums)
