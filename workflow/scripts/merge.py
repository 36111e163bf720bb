"""Stage 4 as a job: all results of a figure to its one merged file."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import xarray as xr

from giantstep import dataset, stages
from giantstep.canonical import plain
from giantstep.joblog import logged
from giantstep.plan import Curve


def lines(curves: Iterable[Curve], folder: Path) -> Iterator[xr.Dataset]:
    """Read the results of a figure's curves, and put each curve's together."""
    for curve in curves:
        yield from stages.curve(
            curve.name,
            curve.panel,
            dataset.read(folder / "srf" / f"{curve.parameters}.nc"),
            dataset.read(folder / "theory" / f"{curve.theory}.nc"),
            [dataset.read(folder / "montecarlo" / f"{key}.nc") for key in curve.shards],
        )


if "snakemake" in globals():
    job = globals()["snakemake"]
    with logged(job.log[0]):
        given = job.params
        merged = stages.merged(
            given.science["title"],
            list(lines(given.curves, Path(job.output[0]).parents[1])),
            parameters={
                "figure": plain(given.science),
                "simulation": given.simulation,
                "curves": {curve.name: plain(curve.problem) for curve in given.curves},
            },
            made_from=[key for curve in given.curves for key in curve.made_from],
            root_seed=given.root_seed,
        )
        dataset.write(merged, job.output[0])
