"""Text in figures: names of parameters, curves, panels and axes, in LaTeX."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from giantstep.problems.bulk_kind import ISOTROPIC, TRAINED, TRAINED_COVARIANCE, TRAINED_NORMS
from giantstep.problems.targets import lookup_target
from giantstep.vocabulary import MEANINGS

SAMPLE_COMPLEXITY = r"sample complexity $\alpha = n/d$"
LEARNING_RATE = r"learning rate $\tilde\eta$"
TEST_ERROR = r"test error $\epsilon_g$"
RELATIVE_GAP = "mean over theory, less one [%]"
BULK_LABELS = {
    ISOTROPIC: "isotropic bulk",
    TRAINED: "trained bulk",
    TRAINED_NORMS: "trained bulk and norms",
    TRAINED_COVARIANCE: "trained bulk, whole covariance",
}
# Parameters in a panel's title, if all its curves share them: of gradient steps, of an sRF.
_IN_TITLES = (("learning_rate", "ridge"), ("spike_strength", "alignment", "ridge"))


def format_parameter(name: str, value: str | float) -> str:
    r"""Write a parameter in LaTeX with its symbol: `\beta = 0.5`, without dollar signs."""
    value = value if isinstance(value, str) else f"{value:g}"
    symbol = MEANINGS[name].symbol
    if name in ("readout", "bias"):
        return rf"{symbol} \in \{{{_vocabulary(value)}\}}"
    if name == "reuse_batch":
        return r"\mathrm{one\ batch}" if value == "true" else r"\mathrm{fresh\ batches}"
    try:
        float(value)
    except ValueError:  # a name
        return r"\mathrm{" + value.replace("_", r"\ ") + "}"
    value = value.replace("inf", r"\infty")
    return f"{symbol} = {value}"


def _vocabulary(value: str) -> str:
    """Write the values of a vocabulary, with their fractions if these differ."""
    pairs = value.split()
    letters, fractions = zip(*(pair.split(":") for pair in pairs), strict=True)
    equal = len({f"{float(fraction):.4f}" for fraction in fractions}) == 1
    return ",".join(letters if equal else pairs)


def varied_parameters(data: xr.Dataset, curve: int) -> dict[str, str]:
    """Return the parameters that differ between the curves of a panel, as the name lists them."""
    _, _, parts = str(data["curve"].values[curve]).partition(":")
    pairs = (part.partition("=") for part in parts.split(",") if "=" in part)
    return {name: value for name, _, value in pairs}


def curve_label(data: xr.Dataset, curve: int, without: Sequence[str] = ()) -> str:
    """Label a curve by the parameters in which it differs from the others, `without` some."""
    values = varied_parameters(data, curve).items()
    parts = [format_parameter(name, value) for name, value in values if name not in without]
    return ", ".join(f"${part}$" for part in parts) or str(data["curve"].values[curve])


def shared_setting(data: xr.Dataset) -> str:
    """Write what all curves of a panel share: functions, and the main parameters."""
    varied = varied_parameters(data, 0)
    functions = {"activation": r"\sigma", "target": r"\sigma_\star"}
    stepped = "learning_rate" in data and not np.isnan(data["learning_rate"].values[0])
    parts = [
        f"{symbol} = {lookup_target(data[name].values[0]).label}"
        for name, symbol in functions.items()
        if name not in varied
    ]
    parts += [
        format_parameter(name, data[name].values[0])
        for name in _IN_TITLES[0 if stepped else 1]
        if name not in varied and name in data and data[name].ndim == 1
    ]
    return "$" + r",\ ".join(parts) + "$"
