"""The controls of the question: their kind and range, and why some do not apply."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from giantstep.explore.palette import PALETTES
from giantstep.explore.parameters import (
    AXES,
    AXES_OF,
    LOG,
    MODELS,
    NUMBERS,
    OF_MODEL,
    OF_READOUT,
    PARAMETERS,
    SLIDERS,
    STEPS,
    SYMBOLS,
    WORDS,
    takes,
)
from giantstep.explore.presets import PRESETS
from giantstep.explore.question import Question
from giantstep.explore.view import ERRORS, SPECTRUM, View
from giantstep.numerics.function_table import FUNCTIONS
from giantstep.problems.bulk_kind import BULKS
from giantstep.problems.covariance import IDENTITY
from giantstep.problems.losses import LOSSES
from giantstep.problems.protocol import OPTIMIZERS
from giantstep.questions.arguments import OPTIMAL
from giantstep.validation import Fault, InvalidParametersError, shown

# The names that choices offer.
_NAMES = {"target": list(FUNCTIONS), "loss": list(LOSSES), "optimizer": list(OPTIMIZERS)}
_NAMES["activation"] = [name for name, function in FUNCTIONS.items() if function.continuous]


def control(name: str) -> dict[str, Any]:
    """Describe the control of a parameter to the page.

    Its `kind` is a slider for a number, a choice of names, several of them, or a text. At `left`
    and `right` are values that the scale of a slider cannot reach: 0 and infinity.
    """
    described: dict[str, Any] = {"name": name, "kind": "choice" if name in _NAMES else "text"}
    described["models"] = [model for model in MODELS if takes(model, name)]
    described["options"] = _NAMES.get(name, ())
    if domain := NUMBERS.get(name):
        axis = SLIDERS[name]
        described |= {"kind": "slider", "low": axis.start, "high": axis.stop}
        described["scale"] = "whole" if domain.whole else axis.scale
        described["left"] = "0" if axis.scale == LOG and 0 in domain else ""
        described["right"] = "inf" if domain.infinity else ""
    elif name == "bulk":
        described |= {"kind": "several", "options": BULKS}
    return described


def help_text(name: str) -> str:
    """Explain a parameter in one sentence, by its own meaning.

    Examples
    --------
    >>> from giantstep.explore.controls import help_text
    >>> help_text("noise")
    'Variance of the label noise.'
    """
    meaning = PARAMETERS[name].meaning
    return f"{meaning[0].upper()}{meaning[1:]}."


def _groups() -> dict[str, list[dict[str, Any]]]:
    """Sort the controls: what both models have, what only one has, and the readout's."""
    of_models = dict.fromkeys(name for of in OF_MODEL.values() for name in of if name != "readout")
    both = [name for name in of_models if all(name in of for of in OF_MODEL.values())]
    groups = {
        "Network and target": both,
        "First layer": [*(name for name in of_models if name not in both), "readout"],
        "Readout": list(OF_READOUT),
        "Bulk and dimension": ["bulk", "dimension"],
    }
    return {heading: [control(name) for name in names] for heading, names in groups.items()}


def reasons(view: View) -> dict[str, str]:
    """Return why controls do not apply, by parameter; of an option, by `parameter:option`."""
    question, told = view.question, {}
    if question.model == STEPS and question["alpha0"] == 0:
        told["learning_rate"] = "no step is taken where α₀ = 0"
    if question.model == STEPS and question["covariance"] == IDENTITY:
        told["target_decay"] = "inputs have no covariance"
    if question["ridge"] == OPTIMAL:
        told["ridge"] = "the best is found at each point"
    if view.tab == SPECTRUM:
        told |= dict.fromkeys(("ridge", "noise", "loss"), "the spectrum does not depend on it")
    told |= dict.fromkeys(view.axes, "an axis of the plot")
    return told | dict(_refused(question))


def _refused(question: Question) -> Iterator[tuple[str, str]]:
    """Yield the options that the library refuses beside the other values, with its reasons."""
    tried: dict[str, tuple[str, Any]] = {f"loss:{name}": ("loss", name) for name in LOSSES}
    tried |= {f"bulk:{name}": ("bulk", (name,)) for name in BULKS}
    if len(question["readout"]) == 1:
        tried["readout"] = "readout", ((0.5, 0.5), (1.5, 0.5))  # two values
    if question.model == STEPS:
        tried["steps"] = "steps", 2
    for place, (name, value) in tried.items():
        try:
            question.moved(**{name: value})
        except InvalidParametersError as error:
            words = WORDS | {name: ""}  # a fault of another control has its name
            faults = (f"{words.get(f.name, f.name)} must be {f.allowed}" for f in error.faults)
            yield place, "; ".join(map(str.strip, faults))


# Functions may be written out; a refusal that has all their names is too long for a field.
_LONG = 200


def fault_text(fault: Fault) -> str:
    """Write a fault for the field that it is about."""
    allowed = fault.allowed
    if len(allowed) > _LONG:
        allowed = "a function by its name, or written out, such as z+sin(2*z)"
    return f"{fault.name} = {shown(fault.value)}: must be {allowed}{fault.hint}"


def page_variables() -> dict[str, Any]:
    """Return what the template of the page needs of the controls."""
    colours = {theme: palette.curves for theme, palette in PALETTES.items()}
    return {
        "groups": _groups(),
        "words": WORDS,
        "symbols": SYMBOLS,
        "helps": {name: help_text(name) for name in PARAMETERS},
        "axes_of": AXES_OF,
        "facts": {"colours": colours, "ranges": {name: axis[:3] for name, axis in AXES.items()}},
        "errors": ERRORS,
        "presets": PRESETS,
    }
