"""The parameters that the page asks about: their words, symbols and ranges, and how they are read.

Those of problems follow from the fields of `Protocol` and of `one_spike`: a new one is a control,
and an axis if it is a number.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from giantstep.arrays import Array
from giantstep.explore.reading import (
    Reader,
    read_infinite,
    read_letters,
    read_spectrum,
)
from giantstep.problems.bulk_kind import ISOTROPIC, TRAINED
from giantstep.problems.domains import THEORY_DIMENSION, interval_of
from giantstep.problems.grid import Grid
from giantstep.problems.parameter import Parameter, parameters_of
from giantstep.problems.protocol import Protocol
from giantstep.problems.readout import VocabularyDomain
from giantstep.problems.spiked_features import one_spike_parameters
from giantstep.questions.arguments import BULK, DIMENSION, OPTIMAL
from giantstep.validation import Interval, read_whole_number

# The two ways to state a problem.
STEPS, SPIKED = MODELS = ("steps", "spiked")
LINEAR, LOG = SCALES = ("linear", "log")
_TABLE = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
OF_MODEL = {
    model: {name: of for name, of in parameters.items() if name not in _TABLE["left out"]}
    for model, parameters in ((STEPS, parameters_of(Protocol)), (SPIKED, one_spike_parameters()))
}
OF_READOUT = parameters_of(Grid)
PARAMETERS = OF_MODEL[SPIKED] | OF_MODEL[STEPS] | OF_READOUT
PARAMETERS |= {
    "bulk": Parameter(BULK.text, "", VocabularyDomain(), default=(TRAINED,)),
    "dimension": Parameter(DIMENSION.text, "d", THEORY_DIMENSION, default=math.inf),
}
# What those that are numbers may be.
NUMBERS = {name: domain for name, of in PARAMETERS.items() if (domain := interval_of(of.domain))}


def takes(model: str, name: str) -> bool:
    """Tell whether questions of a model have a parameter."""
    if name == "bulk":
        return model == STEPS
    return name in OF_MODEL[model] or not any(name in of for of in OF_MODEL.values())


def defaults_of(model: str) -> dict[str, Any]:
    """Return what the page starts with; features given directly have the isotropic bulk."""
    return DEFAULTS if model == STEPS else DEFAULTS | {"bulk": (ISOTROPIC,)}


class Axis(NamedTuple):
    """Where a parameter runs along an axis, or a slider, unless something else is chosen."""

    start: float
    stop: float
    scale: str
    domain: Interval

    def at(self, shares: Any) -> Array:
        """Return the values that are some shares of the way along the axis."""
        start, shares = self.start, np.asarray(shares)
        if self.scale == LOG:
            return np.asarray(start * (self.stop / start) ** shares)
        return np.asarray(start + shares * (self.stop - start))


def reader(name: str) -> Reader:
    """Return what reads the text of a parameter."""
    if name in _READERS:
        return _READERS[name]
    if domain := NUMBERS.get(name):
        return read_whole_number if domain.whole else read_infinite
    return read_letters if isinstance(PARAMETERS[name].domain, VocabularyDomain) else str


_READERS: dict[str, Reader] = {
    "ridge": lambda text: OPTIMAL if text == OPTIMAL else read_infinite(text),
    "bulk": lambda text: tuple(dict.fromkeys(text.replace(",", " ").split())),
    "covariance": read_spectrum,
}
DEFAULTS = {name: of.default for name, of in PARAMETERS.items()} | _TABLE["at first"]


def _usual(name: str, domain: Interval) -> Axis:
    """Return an axis for a parameter that the table does not have: up to some times its default."""
    top = min(domain.upper, 10 * max(abs(DEFAULTS[name]), 1.0))
    return Axis(max(domain.lower, 0.0), top, LINEAR, domain)


def _listed(kind: str) -> dict[str, Axis]:
    """Return the ranges of a kind that the table has."""
    rows = _TABLE[kind].items()
    return {name: Axis(start, stop, of, NUMBERS[name]) for name, (start, stop, of) in rows}


AXES = {name: _usual(name, of) for name, of in NUMBERS.items() if name != "dimension"}
AXES |= _listed("axes")
SLIDERS = AXES | _listed("sliders")
AXES_OF = {
    model: [name for name in (*OF_READOUT, *names) if name in AXES]
    for model, names in OF_MODEL.items()
}
WORDS = {name: of.label or name.replace("_", " ") for name, of in PARAMETERS.items()}


def unicode_symbol(latex: str) -> str:
    r"""Write a symbol without LaTeX.

    Examples
    --------
    >>> from giantstep.explore.parameters import unicode_symbol
    >>> print(*map(unicode_symbol, (r"\tilde\eta", r"\alpha_0", r"\sigma_\star", "q_1", r"\Delta")))
    η̃ α₀ σ⋆ q₁ Δ
    """
    for code, sign in _TABLE["signs"].items():
        latex = latex.replace(code, sign)
    return latex


# Where there is none, the name stands for it in data.
SYMBOLS = {
    name: "" if of.symbol == name else unicode_symbol(of.symbol) for name, of in PARAMETERS.items()
}
OVERLAPS: dict[str, str] = _TABLE["overlaps"]


def axis_label(name: str) -> str:
    """Label the axis of a parameter.

    Examples
    --------
    >>> from giantstep.explore.parameters import axis_label
    >>> axis_label("alpha")
    'sample complexity  α = n/d'
    """
    definitions = _TABLE["definitions"]
    meant = f" = {definitions[name]}" if name in definitions else ""
    return f"{WORDS[name]}  {SYMBOLS[name]}{meant}"


def number_text(value: float) -> str:
    """Write a number for readers: four digits, and ∞."""
    return f"{value:.4g}".replace("inf", "∞").replace("e-0", "e-").replace("-", "−")
