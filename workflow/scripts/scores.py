"""A table for the report: how far theory and simulation of each curve are apart."""

import csv
from pathlib import Path

from giantstep import dataset, merging
from giantstep.joblog import logged

if "snakemake" in globals():
    job = globals()["snakemake"]
    with logged(job.log[0]):
        rows = merging.scores(dataset.read(job.input[0]))
        with Path(job.output[0]).open("w", encoding="utf-8", newline="") as table:
            writer = csv.DictWriter(table, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
