"""The numbers in the authors' notebooks beside those of this package: `giantstep check`."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from importlib.resources import files
from statistics import fmean, stdev
from textwrap import fill
from typing import Any

import numpy as np

from giantstep.arrays import Array
from giantstep.problems.protocol import Protocol
from giantstep.questions.solve import solve

_WIDTH = 98
_HEADER = f"{'alpha':>8} {'theirs':>10} {'+-':>8} {'here':>10} {'here / theirs':>14}"


def check() -> Iterator[str]:
    """Yield lines of tables: numbers as the notebooks store them, ours, and what differs and why.

    Examples
    --------
    >>> print(next(check()))
    Stored output of theory.ipynb: tanh learns sin, ...
    """
    for part in notebook_numbers():
        yield fill(part["title"], _WIDTH)
        yield _HEADER
        for alpha, theirs, ours in zip(part["alpha"], part["theirs"], here(part), strict=True):
            mean = fmean(theirs)
            error = f"{stdev(theirs) / math.sqrt(len(theirs)):.5f}" if len(theirs) > 1 else ""
            difference = f"{100 * (ours / mean - 1):+.2f} %"
            yield f"{alpha:8.4g} {mean:10.5f} {error:>8} {ours:10.5f} {difference:>14}"
        yield fill(part["why"], _WIDTH) + "\n"


def notebook_numbers() -> list[dict[str, Any]]:
    """Read what the notebooks store: problems, points, and the values of each run."""
    text = files("giantstep.cli").joinpath("notebooks.json").read_text("utf-8")
    return json.loads(text)


def here(part: dict[str, Any]) -> Array:
    """Solve the same points."""
    solved = solve(Protocol(**part["problem"]), part["alpha"], **part["arguments"])
    return np.asarray(solved[part["quantity"]])
