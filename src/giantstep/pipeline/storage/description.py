"""What a result file says of itself: the meaning of its variables, and where they come from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
import xarray as xr

from giantstep.pipeline.planning.versions import join_versions, library_versions
from giantstep.vocabulary import label

REFERENCES = (
    "Cui, Pesce, Dandi, Krzakala, Lu, Zdeborova, Loureiro: Asymptotics of feature learning in"
    " two-layer networks after one gradient-step, ICML 2024, arXiv 2402.04980"
)


def describe(
    dataset: xr.Dataset,
    title: str,
    parameters: dict[str, Any],
    made_from: Sequence[str] = (),
    root_seed: int | None = None,
    libraries: Iterable[str] = (),
) -> xr.Dataset:
    """Add the meaning of every variable, and the origin of the dataset.

    Parameters
    ----------
    dataset : xarray.Dataset
        Its variables must be named in `vocabulary.MEANINGS`.
    title : str
    parameters : dict
        Everything that determines the content; stored as JSON.
    made_from : sequence of str
        Keys of the results that it is made from.
    root_seed : int, optional
        Of its random numbers.
    libraries : iterable of str
        Versions of libraries that it comes from, besides those that are installed.
    """
    dataset = label(dataset)
    dataset.attrs = {
        "title": title,
        "references": REFERENCES,
        "parameters": json.dumps(parameters, sort_keys=True),
        "made_from": json.dumps(list(made_from)),
        "giantstep_version": version("giantstep"),
        "libraries": join_versions([library_versions(), *libraries]),
    }
    if root_seed is not None:
        dataset.attrs["root_seed"] = np.int64(root_seed)
    return dataset
