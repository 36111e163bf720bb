"""Stage 4 as a job: all results of a figure to its one merged file."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import xarray as xr

from giantstep import dataset, merging, stages
from giantstep.canonical import plain
from giantstep.joblog import logged
from giantstep.plan import Curve
from giantstep.recovery import Recovery


def lines(curves: Iterable[Curve], results: Path) -> Iterator[xr.Dataset]:
    """Read the results of a figure's curves, and put each curve's together."""
    for curve in curves:
        found = {
            folder: [dataset.read(results / folder / f"{key}.nc") for key in keys]
            for folder, keys in curve.files.items()
        }
        if isinstance(curve.problem, Recovery):
            named = curve.name, curve.panel, curve.problem, curve.dimension
            yield merging.recovered(*named, found["recovery"][0])
            continue
        yield from merging.curve(
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
        merged = merging.merged(
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
