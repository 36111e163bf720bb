"""The vocabulary of answers and result files: name, symbol, unit and equation of every variable.

Those of parameters are said with them, those of other variables in `vocabulary.csv`, and what is
derived from a variable is named after it.
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


_DATA = "docs/data.md"
# What is derived from a variable, by its name, with the variable's own as the group: long name,
# symbol and, if it is not that of the variable, equation.
_DERIVED = (
    (r"(.+)_by_step", "%s, after each step", "%s_k", "theory.md section 13"),
    (
        r"(.+)_best_learning_rate",
        "%s, at its best learning rate",
        r"\min_{\tilde\eta} %s",
        "(28)-(31)",
    ),
    (r"(.+)_on_edge", "whether it is at an end of the range searched: %s", "%s"),
    (r"largest_z_score_(.+)", "largest size of the z-scores of the %s of a curve", r"\max |z(%s)|"),
    (r"mean_z_score_(.+)", "mean z-score of the %s of a curve", r"\langle z(%s) \rangle"),
    (r"z_score_(.+)", "simulated %s minus theory, over its standard error", "z(%s)"),
    (r"simulated_(.+)_mean", "simulated %s, mean over replicates", r"\langle %s \rangle"),
    (r"(.+)_stderr", "standard error of the mean %s", r"\mathrm{se}\, %s"),
    (r"(.+)_network_variance", "variance component of networks in %s", r"\mathrm{Var}_i\, %s"),
    (
        r"(.+)_training_variance",
        "variance component of training sets in %s",
        r"\mathrm{Var}_j\, %s",
    ),
    (r"simulated_(.+)", "simulated %s", "%s"),
    (r"linear_(.+)", "%s, of ridge regression on the inputs", "%s", _DATA),
    (r"gaussian_(.+)", "%s, of Gaussian inputs with the covariance of samples", "%s", _DATA),
    (r"isotropic_(.+)", "%s, of Gaussian inputs without a covariance", "%s", _DATA),
    (r"optimal_(.+)", "%s, at the optimum", "%s_{opt}"),
)


class _Meanings(dict[str, Meaning]):
    """Meanings by name; what is derived from a variable is named after it."""

    def __missing__(self, name: str) -> Meaning:
        for pattern, long_name, symbol, *equation in _DERIVED:
            if match := re.fullmatch(pattern, name):
                of = self[match[1]]
                texts = long_name % of.long_name, symbol % of.symbol
                return Meaning(*texts, *(equation or [of.equation]))
        raise KeyError(name)


_OF_PARAMETERS = {
    name: Meaning(of.meaning, of.symbol, of.equation)
    for cls in (Sizes, Grid, SpikedFeatures, Protocol)  # the last one counts
    for name, of in parameters_of(cls).items()
}
with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as table:
    _, *_RECORDS = csv.reader(table)
_OF_TABLE = {name: Meaning(*filter(None, texts)) for name, *texts in _RECORDS}
MEANINGS = _Meanings(_OF_PARAMETERS | _OF_TABLE)


def label(dataset: xr.Dataset) -> xr.Dataset:
    """Give every variable its meaning, symbol, unit and equation, and the status its flags.

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
    dataset = dataset.copy()
    for name, variable in dataset.variables.items():
        meaning = MEANINGS[str(name)]
        variable.attrs = {
            "long_name": meaning.long_name,
            "units": "1",  # everything is dimensionless
            "symbol": meaning.symbol,
            "equation": meaning.equation,
        }
        if str(name).endswith("status"):
            variable.attrs |= {
                "flag_values": np.array(list(Status), dtype=np.int8),
                "flag_meanings": " ".join(status.label for status in Status),
                "comment": " ".join(f"{s.label}: {s.advice}" for s in Status),
            }
    return dataset
