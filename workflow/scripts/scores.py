"""A table for the report: how far theory and simulation of each curve are apart."""

import csv
from pathlib import Path

from giantstep import dataset, merging
from giantstep.joblog import logged
from giantstep.seals import write_list

if "snakemake" in globals():
    job = globals()["snakemake"]
    with logged(job.log[0]):
        rows = merging.scores(dataset.read(job.input.data))
        with Path(job.output[0]).open("w", encoding="utf-8", newline="") as table:
            writer = csv.DictWriter(table, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        write_list([job.output[0]], job.output.checksums)
