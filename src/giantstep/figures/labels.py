"""Text in figures: names of parameters, curves, panels and axes, in LaTeX."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from giantstep.arrays import Array
from giantstep.problems.bulk_kind import BULKS
from giantstep.problems.formatting import format_vocabulary, stated_parameters
from giantstep.problems.grid import Grid
from giantstep.problems.parameter import parameters_of
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.problems.targets import is_known_target, lookup_target
from giantstep.vocabulary import MEANINGS

SAMPLE_COMPLEXITY = r"sample complexity $\alpha = n/d$"
LEARNING_RATE = r"learning rate $\tilde\eta$"
TEST_ERROR = r"test error $\epsilon_g$"
OPTIMAL_TEST_ERROR = r"test error $\epsilon_g$, best ridge"
RELATIVE_GAP = r"simulation/theory $-$ 1 [%]"
BEST_LINEAR = "best linear"
BOUND_LABELS = {"upper_bound": "upper bound", "lower_bound": "lower bound"}
BAYES_LABELS = {"bayes_optimal_error": "best possible", "amp_error": "AMP"}
BULK_LABELS = {bulk: f"{bulk} bulk" for bulk in BULKS}
# What is in a panel's title if all its curves share it: functions, parameters of gradient steps or
# of an sRF, and of both, except for values that go without saying.
FUNCTIONS = {"activation": r"\sigma", "target": r"\sigma_\star"}
_STEPS = (
    *("learning_rate", "alpha0", "steps", "step_exponent", "reuse_batch", "optimizer"),
    *("pretrain_target", "task_overlap"),
)
_SPIKE = ("spike_strength", "alignment", "bulk_variance")
_NOISE = ("noise", "outlier_fraction", "outlier_variance", "label_flips")
_OF_BOTH = ("beta", "readout", "bias", "inputs", *_NOISE, "loss", "ridge")
_OF_GROUPS = ("readout", "bias", "spike_strength", "bulk_variance")
_PARAMETERS = parameters_of(SpikedFeatures) | parameters_of(Protocol) | parameters_of(Grid)
# Defaults, as files of figures hold them.
_UNSAID = {
    name: format_vocabulary(of.default) if isinstance(of.default, tuple) else of.default
    for name, of in _PARAMETERS.items()
}


def axis_label(name: str) -> str:
    r"""Label the axis of a parameter: `sample complexity $\alpha$`."""
    word = _PARAMETERS[name].label if name in _PARAMETERS else ""
    return f"{word or name.replace('_', ' ')} ${MEANINGS[name].symbol}$"


def format_parameter(name: str, value: str | float) -> str:
    r"""Write a parameter in LaTeX with its symbol: `\beta = 0.5`, without dollar signs."""
    value = value if isinstance(value, str) else f"{value:g}"
    symbol = MEANINGS[name].symbol
    if name in _OF_GROUPS and ":" in value:
        return rf"{symbol} \in \{{{_vocabulary(value)}\}}"
    if name == "reuse_batch":
        return r"\mathrm{one\ batch}" if value in ("true", "1") else r"\mathrm{fresh\ batches}"
    try:
        float(value)
    except ValueError:  # a name
        return r"\mathrm{" + value.replace("_", r"\ ") + "}"
    return f"{symbol} = {latex_number(value)}"


def latex_number(text: str) -> str:
    r"""Write a number in LaTeX.

    Examples
    --------
    >>> print(latex_number("2.5e-07"), latex_number("inf"))
    2.5 \cdot 10^{-7} \infty
    """
    mantissa, _, exponent = text.replace("inf", r"\infty").partition("e")
    if not exponent:
        return mantissa
    factor = "" if mantissa == "1" else rf"{mantissa} \cdot "
    return f"{factor}10^{{{int(exponent)}}}"


def format_setting(name: str, value: str | float) -> str:
    """Write a parameter in LaTeX, and an activation or a target as the function that it is."""
    if name in FUNCTIONS:
        return f"{FUNCTIONS[name]} = {function_label(str(value))}"
    return format_parameter(name, value)


def _vocabulary(value: str) -> str:
    """Write the values of a vocabulary, with their fractions if these differ."""
    pairs = value.split()
    letters, fractions = zip(*(pair.split(":") for pair in pairs), strict=True)
    equal = len({f"{float(fraction):.4f}" for fraction in fractions}) == 1
    return ",".join(letters if equal else pairs)


def curve_label(data: xr.Dataset, curve: int, without: Sequence[str] = ()) -> str:
    """Label a curve by the parameters in which it differs from the others, `without` some."""
    own = str(data["curve"].values[curve])  # it lists them
    pairs = (part.partition("=") for part in own.partition(":")[2].split(",") if "=" in part)
    values = {name: value for name, _, value in pairs}
    if data.sizes["curve"] > 1:
        values = {name: value for name, value in values.items() if _shared(data, name) is None}
    parts = [format_parameter(name, values[name]) for name in values if name not in without]
    return ", ".join(f"${part}$" for part in parts) or own


def shared_setting(data: xr.Dataset, without: Sequence[str] = (), **more: float) -> str:
    """Write what all curves of a panel share: functions, and all parameters that have an effect.

    Parameters
    ----------
    data : xarray.Dataset
        The curves of the panel.
    without : sequence of str
        Parameters to leave out.
    **more : float
        Further parameters that are the same all over the panel, such as `alpha`.
    """
    names = (*FUNCTIONS, *_STEPS, *_SPIKE, *_OF_BOTH)
    shared = {name: value for name in names if (value := _shared(data, name)) is not None}
    said = {name: shared[name] for name in shared if _is_said(data, name, shared)} | more
    if any(str(name).startswith("simulated_") for name in data):
        dimension = _shared(data, "dimension")
        said |= {} if dimension is None else {"dimension": dimension}
    parts = (format_setting(name, said[name]) for name in said if name not in without)
    return ", ".join(f"${part}$" for part in parts)


def panel_setting(panel: xr.Dataset, figure: xr.Dataset, **more: float) -> str:
    """Write what all curves of a panel share, and not all panels of its figure.

    What they all share belongs to the caption.
    """
    names = (*FUNCTIONS, *_STEPS, *_SPIKE, *_OF_BOTH, "dimension")
    common = [name for name in names if _shared(figure, name) is not None]
    return shared_setting(panel, common, **more)


def fixed_setting(data: xr.Dataset, varying: Sequence[str]) -> str:
    """Write what does not vary in an answer: its problem, sample complexity, ridge and theory."""
    stated = {
        name: format_vocabulary(value) if isinstance(value, tuple) else value
        for name, value in stated_parameters(data.attrs.get("problem", "Unknown()")).items()
        if name not in varying and f"optimal_{name}" not in data
    }
    fixed = {name: data[name].item() for name in data.coords if not data[name].ndim}
    of_curve = {name: ("curve", [value]) for name, value in stated.items()}
    curve = xr.Dataset(coords={"curve": [""]} | of_curve)
    of_answer = {name: fixed[name] for name in ("alpha", "ridge", "dimension") if name in fixed}
    parts = [shared_setting(curve, **of_answer), BULK_LABELS.get(fixed.get("bulk", ""), "")]
    parts += ["best ridge"] if "ridge" in data.coords and "ridge" not in [*fixed, *varying] else []
    return ", ".join(filter(None, parts))


def function_label(name: str) -> str:
    """Name a function in an equation, in LaTeX; that of another process by its own name alone."""
    if not is_known_target(name):
        return rf"\mathrm{{{name.partition('-')[0]}}}".replace("_", r"\_")
    return re.sub(r"^\\([a-z]+)$", r"\\mathrm{\1}", lookup_target(name).label)


def _shared(data: xr.Dataset, name: str) -> str | float | None:
    """Return the value of a parameter if all curves have the same, written out for groups."""
    if name not in data:
        return None
    values = data[name].values
    if values.ndim == 2:
        shares = data["fraction"].values
        rows = [_of_groups(*pair) for pair in zip(values, shares, strict=True)]
    else:
        rows = values.tolist()
    return rows[0] if len(set(rows)) == 1 else None


def _of_groups(values: Array, shares: Array) -> str | float:
    """Write the values of groups of neurons with their shares, or the value of all groups."""
    known = np.isfinite(values)
    if len(set(values[known])) == 1:
        return float(values[known][0])
    return " ".join(f"{v:g}:{s:g}" for v, s in zip(values[known], shares[known], strict=True))


def _is_said(data: xr.Dataset, name: str, shared: dict[str, Any]) -> bool:
    """Check whether all curves share a parameter, and it has an effect, and an unusual value."""
    stepped = "learning_rate" in data and bool(np.isfinite(data["learning_rate"].values[0]))
    if shared[name] in ("", _UNSAID.get(name)) or name in (_SPIKE if stepped else _STEPS):
        return False
    # Without a first batch there is no step, and a spike without strength has no direction.
    strength = {"learning_rate": "alpha0", "alignment": "spike_strength"}.get(name, "")
    return shared.get(strength) != 0
