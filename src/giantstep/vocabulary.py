"""The vocabulary of answers and result files: name, symbol, unit and equation of every variable.

Those of parameters are said with them, those of other variables in `vocabulary.csv`, with what is
derived from a variable and named after it.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray as xr

from giantstep.problems.grid import Grid
from giantstep.problems.parameter import parameters_of
from giantstep.problems.protocol import Protocol
from giantstep.problems.sizes import Sizes
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.readout.status import Status


@dataclass(frozen=True)
class Meaning:
    """What a variable is; `equation` refers to the paper unless it says otherwise."""

    long_name: str
    symbol: str
    equation: str = "not in the paper"


class _Meanings(dict[str, Meaning]):
    """Meanings by name; what is derived from a variable is named after it."""

    def __missing__(self, name: str) -> Meaning:
        for pattern, derived in _DERIVED.items():
            if match := re.fullmatch(pattern.replace("*", "(.+)"), name):
                of = self[match[1]]
                texts = derived.long_name % of.long_name, derived.symbol % of.symbol
                return Meaning(*texts, derived.equation or of.equation)
        raise KeyError(name)


_OF_PARAMETERS = {
    name: Meaning(of.meaning, of.symbol, of.equation)
    for cls in (Sizes, Grid, SpikedFeatures, Protocol)  # the last one counts
    for name, of in parameters_of(cls).items()
}
with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as table:
    _, *_RECORDS = csv.reader(table)
# With * in a name, what is derived from the variable of that name; the first that fits counts.
_DERIVED = {name: Meaning(*texts) for name, *texts in _RECORDS if "*" in name}
_OF_TABLE = {
    name: Meaning(*filter(None, texts)) for name, *texts in _RECORDS if name not in _DERIVED
}
MEANINGS = _Meanings(_OF_PARAMETERS | _OF_TABLE)


def label(dataset: xr.Dataset) -> xr.Dataset:
    """Give each variable in place its meaning, symbol, unit and equation, and the status its flags.

    Parameters
    ----------
    dataset : xarray.Dataset
        Its variables must be named in `MEANINGS`.

    Examples
    --------
    >>> import xarray as xr
    >>> label(xr.Dataset({"test_error": 0.1}))["test_error"].attrs["equation"]
    '(25)'
    """
    for name, variable in dataset.variables.items():
        variable.attrs = vars(MEANINGS[str(name)]) | {"units": "1"}  # everything is dimensionless
        if str(name).endswith("status"):
            variable.attrs |= {
                "flag_values": np.array(list(Status), dtype=np.int8),
                "flag_meanings": " ".join(status.label for status in Status),
                "comment": " ".join(f"{s.label}: {s.advice}" for s in Status),
            }
    return dataset
