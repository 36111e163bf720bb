"""Stage 4 as a job: all results of a figure to its one merged file."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import xarray as xr

from giantstep.pipeline.planning.plan import Curve
from giantstep.pipeline.runtime.job import logged
from giantstep.pipeline.stages import merge, stages
from giantstep.pipeline.storage import netcdf
from giantstep.problems.canonical import plain
from giantstep.problems.recovery import Recovery


def lines(curves: Iterable[Curve], results: Path) -> Iterator[xr.Dataset]:
    """Read the results of a figure's curves, and put each curve's together."""
    for curve in curves:
        found = {
            folder: [netcdf.read(results / folder / f"{key}.nc") for key in keys]
            for folder, keys in curve.files.items()
        }
        if isinstance(curve.problem, Recovery):
            named = curve.name, curve.panel, curve.problem, curve.dimension
            yield merge.recovered(*named, found["recovery"][0])
            continue
        yield from merge.curve(
            curve.name,
            curve.panel,
            next(iter(found.get("srf", ())), stages.own_parameters(curve.problem)),
            {"bulk": curve.bulk, "loss": curve.loss, "dimension": curve.dimension},
            next(iter(found.get("theory", ())), None),
            found["montecarlo"],
            [*found.get("spectrum", ()), *found.get("eigenvalues", ())],
        )


if "snakemake" in globals():
    job = globals()["snakemake"]
    with logged(job.log[0]):
        given = job.params
        merged = merge.merged(
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
        netcdf.write(merged, job.output[0])
