"""A job of one figure: a table of how far theory and simulation of each curve are apart."""

from pathlib import Path

from giantstep.pipeline.runtime.checksums import checksum_line
from giantstep.pipeline.runtime.job import logged
from giantstep.pipeline.runtime.job_check import check_job
from giantstep.pipeline.stages.scores import score_page, score_table
from giantstep.pipeline.storage import large_netcdf
from giantstep.pipeline.storage.whole_file import whole_file

if "snakemake" in globals():
    job = globals()["snakemake"]
    with logged(job.log[0]):
        check_job(job, __file__)
        data = large_netcdf.read(Path(job.input.data), job.params.name)
        table, page = map(Path, job.output)
        with whole_file(table) as path:
            score_table(data).to_csv(path, index=False, lineterminator="\n")
            check_job(job, __file__)
        with whole_file(page) as path:
            path.write_text(score_page(data), encoding="utf-8")
            check_job(job, __file__)
        with whole_file(Path(job.input.mark)) as mark:
            mark.write_text("".join(checksum_line(Path(made), made) for made in job.output))
