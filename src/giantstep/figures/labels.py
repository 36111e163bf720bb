"""Text in figures: parameters, curves, panels and axes in LaTeX, from the coordinates of data."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import xarray as xr

from giantstep.problems.bulk_kind import BULKS
from giantstep.problems.formatting import stated_parameters, written
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
# Functions, which are written with their symbols.
_FUNCTIONS = ("activation", "target", "pretrain_target")
_OF_GROUPS = ("readout", "bias", "spike_strength", "bulk_variance")
_STEPS, _SPIKED = parameters_of(Protocol), parameters_of(SpikedFeatures)
_PARAMETERS = _SPIKED | _STEPS | parameters_of(Grid)
# What has no effect where another is 0: without a first batch there is no step, and a spike without
# strength has no direction.
_NEEDS = {"learning_rate": "alpha0", "alignment": "spike_strength"}
# Of more numbers than these, the first two are written.
_FEW = 4


def axis_label(name: str) -> str:
    r"""Label the axis of a parameter: `sample complexity $\alpha$`."""
    word = _PARAMETERS[name].label if name in _PARAMETERS else ""
    return f"{word or name.replace('_', ' ')} ${MEANINGS[name].symbol}$"


def is_parameter(name: str) -> bool:
    """Check whether a name is that of a parameter of a problem, its theory or its readout."""
    return name in {*_PARAMETERS, "bulk", "dimension", "stop_at"}


def format_parameter(name: str, value: str | float) -> str:
    r"""Write a parameter in LaTeX, without dollar signs.

    Examples
    --------
    >>> for name, value in [("beta", 0.5), ("target", "he3"), ("covariance", "power:0.45")]:
    ...     print(format_parameter(name, value))
    \beta = 0.5
    \sigma_\star = \mathrm{He}_3
    \Sigma = \mathrm{power}(0.45)
    """
    value = value if isinstance(value, str) else f"{value:g}"
    symbol = MEANINGS[name].symbol
    if name in _FUNCTIONS:
        return f"{symbol} = {function_label(value)}"
    if name == "bulk":
        return rf"\mathrm{{{value}\ bulk}}"
    if name in _OF_GROUPS and ":" in value:
        return rf"{symbol} \in \{{{_vocabulary(value)}\}}"
    if name == "reuse_batch":
        return r"\mathrm{one\ batch}" if value in ("true", "1") else r"\mathrm{fresh\ batches}"
    try:
        numbers = [latex_number(f"{float(word):g}") for word in re.split("[ /]", value)]
    except ValueError:  # a name, and in parentheses the numbers that come with it
        word, *of = value.replace("_", r"\ ").split(":", 1)
        named = rf"\mathrm{{{word}}}" + "".join(f"({one})" for one in of)
        return f"{symbol} = {named}" if name == "covariance" else named
    if len(numbers) == 1:
        return f"{symbol} = {numbers[0]}"
    shown = numbers if len(numbers) <= _FEW else [*numbers[:2], r"\ldots"]
    return f"{symbol} = ({','.join(shown)})"


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


def function_label(name: str) -> str:
    """Name a function in an equation, in LaTeX; that of another process by its own name alone."""
    if not is_known_target(name):
        return rf"\mathrm{{{name.partition('-')[0]}}}".replace("_", r"\_")
    return re.sub(r"^\\([a-z]+)$", r"\\mathrm{\1}", lookup_target(name).label)


def _vocabulary(value: str) -> str:
    """Write the values of a vocabulary, with their fractions if these differ."""
    pairs = value.split()
    letters, fractions = zip(*(pair.split(":") for pair in pairs), strict=True)
    equal = len({f"{float(fraction):.4f}" for fraction in fractions}) == 1
    return ",".join(letters if equal else pairs)


def curve_keys(data: xr.Dataset, without: Sequence[str] = ()) -> list[tuple[Hashable, ...]]:
    """Return for each curve the values in which curves differ, `without` those of some parameters.

    Curves with equal keys differ in those alone.
    """
    values = _differing(data, without).values()
    return list(zip(*values, strict=True)) if values else [()] * data.sizes["curve"]


def curve_label(data: xr.Dataset, curve: int, without: Sequence[str] = ()) -> str:
    """Label a curve by the parameters in which it differs from the others, `without` some.

    A curve that differs in none has the name of its panel.
    """
    own = {name: values[curve] for name, values in _differing(data, without).items()}
    said = {name: value for name, value in own.items() if value is not None}
    parts = [f"${format_parameter(name, value)}$" for name, value in said.items()]
    no_step = " (no step)" if said.get("alpha0") == 0 else ""
    return ", ".join(parts) + no_step or str(data["panel"].values[curve])


def _differing(data: xr.Dataset, without: Sequence[str]) -> dict[str, list[Any]]:
    """Select what differs between curves: the values of each curve by parameter."""
    names = (name for name in (*_own(data), "dimension", "bulk") if name not in without)
    values = {name: _values(data, name) for name in names}
    return {name: each for name, each in values.items() if len(set(each)) > 1}


def shared_setting(data: xr.Dataset, without: Sequence[str] = (), **more: float) -> str:
    """Write what all curves of a panel share: functions, and what differs from its default.

    Parameters
    ----------
    data : xarray.Dataset
        The curves of the panel.
    without : sequence of str
        Parameters to leave out.
    **more : float
        Further parameters that are the same all over the panel, such as `alpha`.
    """
    shared = {name: value for name in _own(data) if (value := _shared(data, name)) is not None}
    said: dict[str, Any] = {
        name: value
        for name, value in shared.items()
        if value != written(_PARAMETERS[name].default) and shared.get(_NEEDS.get(name, "")) != 0
    }
    said |= more
    if any(str(name).startswith("simulated_") for name in data):
        dimension = _shared(data, "dimension")
        said |= {} if dimension is None else {"dimension": dimension}
    parts = (format_parameter(name, said[name]) for name in said if name not in without)
    return ", ".join(f"${part}$" for part in parts)


def panel_setting(panel: xr.Dataset, figure: xr.Dataset) -> str:
    """Write what all curves of a panel share, and not all panels of its figure, if it has several.

    What they all share belongs to the caption.
    """
    names = (*_PARAMETERS, "dimension") if len(set(figure["panel"].values.tolist())) > 1 else ()
    return shared_setting(panel, [name for name in names if _shared(figure, name) is not None])


def fixed_setting(data: xr.Dataset, varying: Sequence[str]) -> str:
    """Write what does not vary in an answer: its problem, sample complexity, ridge and theory."""
    problem = stated_parameters(data.attrs.get("problem", "Unknown()"))
    fixed = {name: written(value) for name, value in problem.items()} | {
        str(name): each[0]
        for name, of in data.coords.items()
        if len(set(each := of.values.ravel().tolist())) == 1
    }
    fixed = {k: v for k, v in fixed.items() if k not in varying and f"optimal_{k}" not in data}
    varies = "ridge" in data.coords and "ridge" not in {*varying, *fixed}
    chosen = []
    if varies or "optimal_ridge_on_edge" in data:
        fixed.pop("ridge", None)
        by = str(fixed.get("by", "test_error"))
        chosen = ["best ridge" if by == "test_error" else f"ridge by {by.replace('_', ' ')}"]
    own = {name: ("curve", [value]) for name, value in fixed.items() if name in _PARAMETERS}
    more = {name: fixed[name] for name in ("alpha", "stop_at", "dimension") if name in fixed}
    parts = [shared_setting(xr.Dataset(coords=own), **more), *chosen]
    return ", ".join(filter(None, [*parts, BULK_LABELS.get(fixed.get("bulk", ""), "")]))


def _own(data: xr.Dataset) -> list[str]:
    """List the parameters of curves: of their problems, which are of one kind, and readouts."""
    stepped = any(value is not None for value in _values(data, "learning_rate"))
    names = (*(_STEPS if stepped else _SPIKED), "loss", "ridge")
    of_groups = {"fraction"} if "group" in data.dims else set()  # written with their values
    return [name for name in names if name in data and name not in {"further_spikes", *of_groups}]


def _values(data: xr.Dataset, name: str) -> list[Any]:
    """List the values of a parameter by curve, written out for groups; None where there is none."""
    if name not in data:
        return []
    values = data[name].values
    if values.ndim == 2:
        pairs = zip(values, data["fraction"].values, strict=True)
        return [_of_groups(*pair) for pair in pairs]
    return [None if value in ("", None) or value != value else value for value in values.tolist()]


def _shared(data: xr.Dataset, name: str) -> Any:
    """Return the value of a parameter if all curves have the same."""
    values = set(_values(data, name))
    return values.pop() if len(values) == 1 else None


def _of_groups(values: Any, shares: Any) -> str | float:
    """Write the values of groups of neurons with their shares, or the value of all groups."""
    known = np.isfinite(values)
    if len(set(values[known])) == 1:
        return float(values[known][0])
    return " ".join(f"{v:g}:{s:g}" for v, s in zip(values[known], shares[known], strict=True))
