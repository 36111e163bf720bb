"""The controls of the question: their kind, range and words, and why some do not apply."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from giantstep.explore.palette import PALETTES
from giantstep.explore.question import MODELS, OPTIMAL, SPIKED, STEPS, Question, written
from giantstep.explore.symbols import BULK_WORDS, SYMBOLS, WORDS
from giantstep.explore.view import AXES, AXES_OF, CURVE, MAP, SPECTRUM, TABS, View
from giantstep.numerics.scalar_functions import FUNCTIONS
from giantstep.problems.bulk_kind import BULKS
from giantstep.problems.losses import LOSSES
from giantstep.validation import Fault, InvalidParametersError

SLIDER, CHOICE, TEXT, SEVERAL = "slider", "choice", "text", "several"


@dataclass(frozen=True)
class Control:
    """One control of the page.

    Attributes
    ----------
    name : str
        The field of `Question`.
    kind : str
    low, high : float
        The ends of a slider.
    scale : {"linear", "log", "whole"}
    left, right : str
        Values at the very ends of a slider, beyond the range: "0" or "inf".
    options : tuple of (str, str)
        Values of a choice, with their words.
    models : tuple of str
        The models that have this field.
    hint : str
    """

    name: str
    kind: str
    low: float = 0.0
    high: float = 1.0
    scale: str = "linear"
    left: str = ""
    right: str = ""
    options: tuple[tuple[str, str], ...] = ()
    models: tuple[str, ...] = MODELS
    hint: str = ""

    @property
    def word(self) -> str:
        """The name in words."""
        return WORDS[self.name]

    @property
    def symbol(self) -> str:
        """The symbol beside the word."""
        return SYMBOLS[self.name]

    @property
    def default(self) -> str:
        """The text of the default."""
        return written(getattr(Question(), self.name))


def _named(names: Any) -> tuple[tuple[str, str], ...]:
    return tuple((name, name) for name in names)


_CONTINUOUS = _named(name for name, function in FUNCTIONS.items() if function.continuous)
_STEP, _SPIKE = (STEPS,), (SPIKED,)
GROUPS: tuple[tuple[str, tuple[Control, ...]], ...] = (
    (
        "Network and target",
        (
            Control("activation", CHOICE, options=_CONTINUOUS),
            Control("target", CHOICE, options=_named(FUNCTIONS)),
            Control("beta", SLIDER, 0.1, 10, "log", hint="neurons p over dimension d"),
            Control("noise", SLIDER, 0, 2, hint="variance of the noise on training labels"),
        ),
    ),
    (
        "First layer",
        (
            Control("learning_rate", SLIDER, 0, 10, models=_STEP, hint="step size over dimension"),
            Control(
                "alpha0",
                SLIDER,
                0.1,
                100,
                "log",
                left="0",
                right="inf",
                models=_STEP,
                hint="samples of the step over d: 0 is no step, ∞ the population gradient",
            ),
            Control("steps", SLIDER, 1, 10, "whole", models=_STEP, hint="each on a fresh batch"),
            Control(
                "bulk_variance",
                SLIDER,
                0.1,
                4,
                models=_SPIKE,
                hint="squared norm of a row of the bulk",
            ),
            Control("spike_strength", SLIDER, 0, 6, models=_SPIKE, hint="entry of the spike"),
            Control(
                "alignment",
                SLIDER,
                0,
                1,
                models=_SPIKE,
                hint="overlap of the spike with the target",
            ),
            Control("readout", TEXT, hint="values, each with its fraction: 0.5:0.3 2:0.7"),
        ),
    ),
    (
        "Readout",
        (
            Control("alpha", SLIDER, 0.1, 10, "log", hint="training samples n over d"),
            Control("ridge", SLIDER, 1e-6, 1e3, "log", left="0", hint="penalty λ|a|²/2"),
            Control("loss", CHOICE, options=_named(LOSSES)),
        ),
    ),
    (
        "Bulk and dimension",
        (
            Control("bulk", SEVERAL, options=tuple((b, BULK_WORDS[b]) for b in BULKS)),
            Control(
                "dimension",
                SLIDER,
                50,
                1e5,
                "log",
                right="inf",
                hint="∞ is the limit of the paper",
            ),
        ),
    ),
)
CONTROLS = {control.name: control for _, group in GROUPS for control in group}


def reasons(view: View) -> dict[str, str]:
    """Return why controls do not apply, by field; of an option, by `field:option`."""
    return dict(_inapplicable(view)) | dict(_refused(view.question))


def _inapplicable(view: View) -> Iterator[tuple[str, str]]:
    """Yield the fields that change nothing, each with the reason."""
    question = view.question
    for name, control in CONTROLS.items():
        if question.model not in control.models:
            yield name, f"is not a parameter of {_MODEL_WORDS[question.model]}"
    if question.model == STEPS and question.alpha0 == 0:
        yield "learning_rate", "no step is taken where α₀ = 0"
    if question.ridge == OPTIMAL:
        yield "ridge", "the best is found at each point"
    if view.tab == SPECTRUM:
        for name in ("ridge", "noise", "loss"):
            yield name, "the spectrum does not depend on it"
    axes = {CURVE: (view.x,), MAP: (view.across, view.up)}.get(view.tab, ())
    for name in axes:
        yield name, "an axis of the plot"


_MODEL_WORDS = {STEPS: "gradient steps", SPIKED: "spiked features given directly"}


def _refused(question: Question) -> Iterator[tuple[str, str]]:
    """Yield the options that the library refuses beside the other fields, with its reasons."""
    tried: dict[str, dict[str, Any]] = {
        "loss": {name: name for name in LOSSES},
        "bulk": {name: (name,) for name in BULKS},
    }
    for field, options in tried.items():
        for option, value in options.items():
            if reason := refusal(question, field, value):
                yield f"{field}:{option}", reason
    if len(question.readout) == 1 and (reason := refusal(question, "readout", _TWO_LETTERS)):
        yield "readout", reason
    if question.model == STEPS and (reason := refusal(question, "steps", 2)):
        yield "steps", reason


_TWO_LETTERS = ((0.5, 0.5), (1.5, 0.5))


def refusal(question: Question, field: str, value: Any) -> str:
    """Return why the library refuses a value of a field; empty if it does not."""
    try:
        replace(question, **{field: value})
    except InvalidParametersError as error:
        return "; ".join(_of_field(fault, field) for fault in error.faults)
    return ""


def _of_field(fault: Fault, field: str) -> str:
    """Write a fault beside a field: with its own name if it is about another one."""
    word = "" if fault.name == field else f"{WORDS.get(fault.name, fault.name)} "
    return f"{word}must be {fault.allowed}"


_TAB_WORDS = ("Learning curve", "Learned function", "Spectrum", "Map")


def page_variables() -> dict[str, Any]:
    """Return what the template of the page needs of the controls."""
    return {
        "groups": GROUPS,
        "tabs": dict(zip(TABS, _TAB_WORDS, strict=True)),
        "axes_of": {
            model: [(name, WORDS[name], SYMBOLS[name]) for name in names]
            for model, names in AXES_OF.items()
        },
        "facts": {
            "colours": {theme: palette.curves for theme, palette in PALETTES.items()},
            "ranges": {
                name: {"start": written(a.start), "stop": written(a.stop), "scale": a.scale}
                for name, a in AXES.items()
            },
        },
        "models": [(STEPS, "Gradient step"), (SPIKED, "Spiked features")],
    }
