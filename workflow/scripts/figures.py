"""A job of one figure: its merged file, to its drawings."""

from pathlib import Path

from giantstep.figures import style
from giantstep.pipeline.runtime.checksums import checksum_line
from giantstep.pipeline.runtime.drawing_code import load_drawing
from giantstep.pipeline.runtime.job import logged
from giantstep.pipeline.runtime.job_check import check_job
from giantstep.pipeline.storage import large_netcdf
from giantstep.pipeline.storage.whole_file import whole_file

if "snakemake" in globals():
    job = globals()["snakemake"]
    with logged(job.log[0]):
        figure = job.params.figure
        draw = load_drawing(figure.drawing)
        check_job(job, __file__)
        data = large_netcdf.read(Path(job.input.data), job.params.name)
        style.draw_and_save(
            lambda: draw(data, figure.config),
            map(Path, job.output),
            figure.provenance(job.params.name),
            check=lambda: check_job(job, __file__),
        )
        with whole_file(Path(job.input.mark)) as mark:
            mark.write_text("".join(checksum_line(Path(made), made) for made in job.output))
