"""One figure's file: all of its curves, in one self-contained dataset."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from giantstep import __version__
from giantstep.problems.canonical import plain
from giantstep.problems.formatting import format_number
from giantstep.problems.overlaps import OVERLAP_DIMENSIONS
from giantstep.questions.choices import THEORIES
from giantstep.questions.datasets import numbered
from giantstep.vocabulary import label
from giantstep.workflow.merge_curve import merge_curve

if TYPE_CHECKING:
    from giantstep.workflow.figure_plan import FigurePlan

REFERENCES = (
    "Cui, Pesce, Dandi, Krzakala, Lu, Zdeborova, Loureiro: Asymptotics of feature learning in"
    " two-layer networks after one gradient-step, ICML 2024, arXiv 2402.04980"
)
# Parameters that each group of neurons has of its own.
_PARAMETERS = ("bulk_variance", "spike_strength", "fraction", "bias")
_OF_GROUPS = OVERLAP_DIMENSIONS | dict.fromkeys((*_PARAMETERS, "mu0", "kappa_mu1"), ("group",))
# What surrounds the name of a quantity in the names of what is derived from it.
_DERIVED = re.compile("^(simulated|z_score)_|_(mean|stderr|(network|training)_variance)$")


def merge_figure(plan: FigurePlan, results: Mapping[str, Mapping[str, xr.Dataset]]) -> xr.Dataset:
    """Put all results of a figure into one self-contained dataset along `curve`.

    Parameters
    ----------
    plan : FigurePlan
    results : mapping of str to mapping of str to xarray.Dataset
        Of each curve by role, from `results.read_results`.
    """
    lines = [line for curve in plan.curves for line in merge_curve(curve, results[curve.name])]
    merged = label(join_lines(lines))
    problems = {curve.name: plain(curve.problem) for curve in plan.curves}
    parameters = {**plan.parameters_of_file, "curves": problems}
    libraries = {data.attrs["libraries"] for roles in results.values() for data in roles.values()}
    merged.attrs = {
        "title": plan.config["title"],
        "source": plan.source,
        "references": REFERENCES,
        "parameters": json.dumps(parameters, sort_keys=True),
        "made_from": json.dumps(plan.made_from),
        "giantstep_version": __version__,
        "libraries": "; ".join(sorted(libraries)),
        "root_seed": np.int64(plan.simulation["seed"]),
    }
    return merged


def join_lines(lines: Sequence[xr.Dataset]) -> xr.Dataset:
    """Put the lines of a figure into one dataset along `curve`.

    What only some of them have is NaN, or an empty text, for the others.
    """
    if not lines:
        none = ("curve", np.array([], str))
        return xr.Dataset(coords={"curve": none, "panel": none})
    if any("group" in line.dims for line in lines):
        lines = [by_group(line) for line in lines]
    coords = {name for line in lines for name in line.coords}
    texts = {x: "" for line in lines for x in line.variables if line[x].dtype.kind in "OU"}
    lines = [_in_texts(line, texts) for line in lines]
    # As variables, since coordinates that some lines lack are not filled.
    bare = [line.reset_coords(line.coords.keys() - {*line.dims, "curve"}) for line in lines]
    whole = xr.concat(
        bare,
        "curve",
        data_vars="all",
        coords="minimal",
        compat="equals",
        join="outer",  # curves may have different points, networks, and numbers of groups
        combine_attrs="drop",
        fill_value=texts,
    )
    if "theory" in whole.dims:
        whole = whole.sel(theory=[name for name in THEORIES if name in whole["theory"]])
    # Sorted, since xarray's order varies for those that some lines lack.
    return whole[sorted(whole.variables, key=str)].set_coords(coords)


def _in_texts(line: xr.Dataset, names: Collection[Hashable]) -> xr.Dataset:
    """Write the numbers of a line as texts where other lines have texts, as of schedules."""
    found = [name for name in names if name in line and line[name].dtype.kind not in "OU"]
    return line.assign({name: xr.apply_ufunc(_WRITTEN, line[name]) for name in found})


_WRITTEN = np.vectorize(format_number, otypes=[str])


def by_group(line: xr.Dataset) -> xr.Dataset:
    """Give a line of one group of neurons the dimensions of several, so that lines align."""
    for name in line.variables:
        dims = _OF_GROUPS.get(_DERIVED.sub("", str(name)), ())
        if dims and dims[0] not in line[name].dims:
            line = line.assign({name: line[name].expand_dims(dict.fromkeys(dims, 1))})
    # `assign` has turned a single group's parameters, which are coordinates, into variables.
    return numbered(line).set_coords([x for x in _PARAMETERS if x in line])
