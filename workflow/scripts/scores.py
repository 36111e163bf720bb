"""A table for the report: how far theory and simulation of each curve are apart."""

import csv
from pathlib import Path

from giantstep.pipeline.runtime.checksums import write_list
from giantstep.pipeline.runtime.job import logged
from giantstep.pipeline.stages import merge
from giantstep.pipeline.storage import netcdf

if "snakemake" in globals():
    job = globals()["snakemake"]
    with logged(job.log[0]):
        rows = merge.scores(netcdf.read(job.input.data))
        with Path(job.output[0]).open("w", encoding="utf-8", newline="") as table:
            writer = csv.DictWriter(table, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        write_list([job.output[0]], job.output.checksums)
