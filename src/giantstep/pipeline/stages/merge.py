"""One figure's file: all of its curves, in one self-contained dataset."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from giantstep.pipeline.planning.layout import STAGES
from giantstep.pipeline.planning.tasks import Curve
from giantstep.pipeline.planning.versions import split_versions
from giantstep.pipeline.stages.comparison import STATISTICS
from giantstep.pipeline.stages.dataset_layout import GROUP_PARAMETERS, join_networks
from giantstep.pipeline.stages.finite_size import finite_size_name, is_finite_size
from giantstep.pipeline.stages.merge_curve import merge_curve
from giantstep.pipeline.stages.merge_map import merge_map
from giantstep.pipeline.stages.merge_recovery import merge_recovery
from giantstep.pipeline.stages.problem_parameters import problem_parameters
from giantstep.pipeline.storage import netcdf
from giantstep.pipeline.storage.description import describe
from giantstep.problems.canonical import plain
from giantstep.problems.overlaps import OVERLAP_DIMENSIONS
from giantstep.problems.protocol import Protocol
from giantstep.problems.recovery import Recovery
from giantstep.theory.equivalent_features import equivalent_features

log = logging.getLogger("giantstep")
# Everything that each group of neurons, or pair of groups, has of its own.
_OF_GROUPS = (
    GROUP_PARAMETERS
    | dict.fromkeys(("mu0", "kappa_mu1"), ("group",))
    | {
        name: dims
        for overlap, dims in OVERLAP_DIMENSIONS.items()
        for name in (
            *(overlap, finite_size_name(overlap)),
            f"simulated_{overlap}",
            *(f"simulated_{overlap}_{statistic}" for statistic in STATISTICS),
            *(f"z_score_{overlap}", finite_size_name(f"z_score_{overlap}")),
        )
    }
)


def merge_figure(
    curves: Sequence[Curve],
    config: dict[str, Any],
    simulation: dict[str, Any],
    root_seed: int,
    project: Path = Path(),
) -> xr.Dataset:
    """Put all results of a figure into one self-contained dataset along `curve`.

    Parameters
    ----------
    curves : sequence of Curve
    config : dict
        The figure's config, without what only drawings use; stored, and its title is the dataset's.
    simulation : dict
        Sizes of the simulations, as configured; stored.
    root_seed : int
    project : Path
        The folder of the project, whose results are read.
    """
    results = [_results(curve, project) for curve in curves]
    pairs = zip(curves, results, strict=True)
    lines = [line for curve, found in pairs for line in _lines(curve, found)]
    merged = describe(
        join_lines(lines),
        title=config["title"],
        parameters={
            "figure": plain(config),
            "simulation": simulation,
            "curves": {curve.name: plain(curve.problem) for curve in curves},
        },
        made_from=[key for curve in curves for key in curve.made_from],
        root_seed=root_seed,
        libraries=[
            one.attrs["libraries"] for found in results for many in found.values() for one in many
        ],
    )
    if len(versions := split_versions(merged.attrs["libraries"])) > 1:
        log.warning(
            "its results come from several versions of libraries (%s): with `strict_versions: true`"
            " in the config, all are computed with those that are installed",
            "; ".join(versions),
        )
    return merged


def _results(curve: Curve, project: Path) -> dict[str, list[xr.Dataset]]:
    """Read the results of a curve, by stage."""
    return {
        stage: [
            netcdf.read(project / path, f"{stage}/{key}")
            for key in keys
            for path in STAGES[stage].paths(key)
        ]
        for stage, keys in curve.keys.items()
    }


def _lines(curve: Curve, found: dict[str, list[xr.Dataset]]) -> list[xr.Dataset]:
    """Put the results of a curve together."""
    if isinstance(curve.problem, Recovery):
        named = curve.name, curve.panel, curve.problem, curve.dimension
        return [merge_recovery(*named, join_networks(found["recovery"]))]
    if "maps" in found:
        assert isinstance(curve.problem, Protocol)
        return [merge_map(curve.name, curve.panel, curve.problem, found["maps"][0])]
    theories = found.get("theory", ())
    finite = any(is_finite_size(theory) for theory in theories)
    return merge_curve(
        curve.name,
        curve.panel,
        next(iter(found.get("parameters", ())), problem_parameters(curve.problem)),
        {"bulk": curve.bulk, "loss": curve.loss, "dimension": curve.dimension},
        theories,
        found.get("montecarlo", ()),
        [*found["spectrum"], join_networks(found["eigenvalues"])] if "spectrum" in found else (),
        [*found.get("dimensions", ()), *found.get("learning_rates", ())],
        equivalent_features(curve.problem, curve.dimension) if finite else None,
    )


def join_lines(lines: Sequence[xr.Dataset]) -> xr.Dataset:
    """Put the lines of a figure, from `merge_curve` and `merge_recovery`, into one dataset."""
    if any("group" in line.dims for line in lines):
        lines = [_by_group(line) for line in lines]
    # What only some lines have (alpha0 of a step, say) is NaN, or an empty text, for the others.
    missing = {
        str(name): "" if coordinate.dtype.kind in "OU" else np.nan
        for line in lines
        for name, coordinate in line.coords.items()
        if name not in line.dims
    }
    names = set(missing)
    filled = [
        line.assign_coords({name: missing[name] for name in names - set(map(str, line.coords))})
        for line in lines
    ]
    whole = xr.concat(
        filled,
        "curve",
        data_vars="all",
        coords=sorted(names - {"curve"}),
        compat="equals",
        join="outer",  # of the groups: curves may have different numbers of them
        combine_attrs="drop",
    )
    return _in_order(whole, filled)


def _by_group(line: xr.Dataset) -> xr.Dataset:
    """Count a line's groups of neurons from 1, so that lines with fewer or more of them align."""
    for name, dims in _OF_GROUPS.items():
        if name in line and dims[0] not in line[name].dims:
            line = line.assign({name: line[name].expand_dims(dict.fromkeys(dims, 1))})
    counts = {
        d: np.arange(1, line.sizes[d] + 1) for d in ("group", "other_group") if d in line.dims
    }
    # `assign` has turned a single group's parameters, which are coordinates, into variables.
    return line.assign_coords(counts).set_coords(list(GROUP_PARAMETERS))


def _in_order(whole: xr.Dataset, lines: Sequence[xr.Dataset]) -> xr.Dataset:
    """Order variables by their first line; xarray's order varies for those that some lines lack."""
    names = dict.fromkeys(name for line in lines for name in sorted(line.coords, key=str))
    variables = dict.fromkeys(name for line in lines for name in line.data_vars)
    return xr.Dataset(
        {name: whole[name].variable for name in variables},
        coords={name: whole[name].variable for name in names},
    )
