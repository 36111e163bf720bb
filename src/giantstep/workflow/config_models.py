"""What the YAML files in `config/` may say: the one source of their checks and of their schemas.

The fields of a panel are the parameters of its problems; one that is a list makes one curve per
entry. What values mean together is checked by the problem that they describe.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    create_model,
    model_validator,
)

from giantstep.problems.domains import (
    ALPHA,
    FLAG,
    LEARNING_RATE,
    POSITIVE_RIDGE,
    THEORY_DIMENSION,
    interval_of,
)
from giantstep.problems.grid import Grid
from giantstep.problems.parameter import Parameter, parameters_of
from giantstep.problems.protocol import STEP_FIELDS, Protocol
from giantstep.problems.readout import VocabularyDomain
from giantstep.problems.schedules import Schedule
from giantstep.problems.sizes import SEED, Sizes
from giantstep.problems.spiked_features import SPIKED_FIELDS, one_spike_parameters
from giantstep.questions.choices import GAINS, STOP_AT
from giantstep.theory.optima import CROSS_VALIDATION
from giantstep.validation import Domain, Fault, read_value, shown

NAME_PATTERN = "^[a-z][a-z0-9_]*$"
# The tags of `OneOrList`, which stand among the keys that lead to a place.
ONE, LIST = "-one-", "-list-"
T = TypeVar("T")


def _within(domain: Domain) -> Any:
    """Return a check that a value lies in a domain."""

    def check(value: Any) -> Any:
        for one in (value.start, value.stop) if isinstance(value, Axis) else (value,):
            faults: list[Fault] = []
            read_value("", one, domain, faults)
            if faults:
                raise ValueError(f"must be {faults[0].allowed}")
        return value

    return AfterValidator(check)


def _type(domain: Domain) -> Any:
    """Return the type of the values of a domain, as YAML reads them."""
    if isinstance(domain, VocabularyDomain):
        named = dict[float, float] | Literal[tuple(domain.words)] if domain.words else None
        return named or dict[float, float]
    if isinstance(domain, Schedule):
        return float | str
    if interval := interval_of(domain):
        return int if interval.whole else float
    return bool if domain is FLAG else str


def _field(description: str, default: Any = ...) -> Any:
    """Describe a field; one whose default is None may be left out, but not be null."""
    return Field(default=default, description=description)


def _once(entries: list[Any]) -> list[Any]:
    for place, entry in enumerate(entries):
        if entry in entries[:place]:
            raise ValueError(f"must list each entry once; {shown(entry)} appears twice")
    return entries


Name = Annotated[str, Field(pattern=NAME_PATTERN)]
Colour = Annotated[str, Field(pattern="^#[0-9a-fA-F]{6}$")]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
Replicates = Annotated[int, Field(ge=1, le=1_000_000)]
ListOf = Annotated[list[T], Field(min_length=1), AfterValidator(_once)]
OneOrList = Annotated[
    Annotated[T, Tag(ONE)] | Annotated[ListOf[T], Tag(LIST)],
    Discriminator(lambda value: LIST if isinstance(value, list) else ONE),
]
_STOPPED = "times of gradient flow on the readout, in place of ridge and loss"
_SIZES, _GRID = parameters_of(Sizes), parameters_of(Grid)
_GRID |= {STOP_AT: Parameter(_STOPPED, "t", POSITIVE_RIDGE, default=None)}
Dimension = Annotated[int, _within(_SIZES["dimension"].domain)]
TestSamples = Annotated[int, _within(_SIZES["test_samples"].domain)]
Alpha = Annotated[float, _within(_GRID["alpha"].domain)]
AtAlpha = Annotated[dict[Literal["alpha"], T], Field(min_length=1)]


class Section(BaseModel):
    """A mapping with known keys, whose values are of exactly the declared types."""

    model_config = ConfigDict(strict=True, extra="forbid", defer_build=True)


class Simulation(Section):
    """How large simulations are, and how many."""

    dimension: Dimension = _field("d; width, first batch and training sets are its multiples")
    networks: Replicates = _field("networks of each curve")
    trainings: Replicates = _field("training sets of each network")
    test_samples: TestSamples = _field(_SIZES["test_samples"].meaning)
    networks_per_job: Count = _field("by default as many as take a minute", None)


class Limits(Section):
    """What configurations may take; more is refused at once, as a mistake."""

    core_hours: Positive = _field("of all jobs together, as estimated", 1e6)
    memory: Positive = _field("GiB that any one job may hold, as estimated", 1024)


class Config(Section):
    """Sizes, seed, and which figures to make."""

    title: str = _field("of the report", default="Figures by giantstep")
    figures: ListOf[Name] = _field("made by default; each has its config/figures/NAME.yaml")
    seed: Annotated[int, _within(SEED)] = _field("root of every random stream")
    simulation: Simulation
    limits: Limits = Limits()


class Axis(Section):
    """Values, evenly spaced or (spacing: log) in equal ratios."""

    start: Positive
    stop: Positive
    points: Annotated[int, Field(ge=2, le=100_000)]
    spacing: Literal["even", "log"] = "even"

    @model_validator(mode="after")
    def _increases(self) -> Axis:
        if self.stop <= self.start:
            raise ValueError(f"stop, {self.stop:g}, must be greater than start, {self.start:g}")
        return self


class TheoryGrid(Section):
    """Where theory is solved, besides at the simulated points."""

    alpha: Annotated[Axis, _within(ALPHA)] = _field("sample complexities", None)
    dimension: Annotated[Axis, _within(THEORY_DIMENSION)] = _field(
        "dimensions of the test error, at the simulated sample complexities", None
    )


_BULK = "of the first layer in the theory: trained (default for gradient steps) or isotropic"


class LearningPanel(Section):
    """What both kinds of panel of learning curves may say; a list of ridges makes no curves."""

    title: str = _field("name of the panel, where its parameters do not say it", None)
    networks: Replicates = _field("networks of each curve, instead of the config's", None)
    bulk: OneOrList[str] = _field(f"{_BULK}, or both", None)
    optimal: bool | Literal[CROSS_VALIDATION] = _field(  # type: ignore[valid-type]
        "also solve the theory at the best ridge, or at the one that cross-validation finds", False
    )
    finite_size_theory: bool = _field("also solve the theory of the networks themselves", False)
    simulated: bool = _field("whether curves are simulated; if not, theory alone", True)
    best_linear: bool = _field("draw the error of the best linear predictor", False)
    bayes_optimal: bool = _field("draw the least error of any method, and that of AMP", False)
    lower_bound: bool = _field("draw the lower bound on the test error of each curve", False)


class _StepsPanel(LearningPanel):
    learning_rates: Annotated[Axis, _within(LEARNING_RATE)] = _field(
        "where the theory also solves the test error after each step, where simulated", None
    )


_READOUT, _POINT = ("ridge", "loss", "dimension", "test_samples"), ("alpha", "ridge", STOP_AT)
_PROTOCOL = parameters_of(Protocol)
MAP_PARAMETERS = _PROTOCOL | {name: _GRID[name] for name in _POINT}
# Numbers.
_AXES = tuple(x for x, one in MAP_PARAMETERS.items() if _type(one.domain) in (float, float | str))
MapAxis = Annotated[dict[Literal[_AXES], Axis], Field(min_length=1, max_length=1)]  # type: ignore[valid-type]


class _MapPanel(Section):
    x: MapAxis = _field("horizontal axis: {alpha0: {start: 0.1, stop: 10, points: 40}}")
    y: MapAxis = _field("vertical axis")
    title: str = _field("name of the panel", None)
    bulk: str = _field(_BULK, None)
    show: Literal[GAINS] = _field("what the level lines are of", GAINS[0])  # type: ignore[valid-type]


def _panel_model(
    title: str, base: type[Section], parameters: dict[str, Parameter], further: Sequence[str]
) -> type[Section]:
    """Make the model of a kind of panel: what it says of computing and drawing, and parameters.

    Parameters
    ----------
    title : str
    base : type of Section
        For maps, no parameter is a list, and all may be left out.
    parameters : dict of str to Parameter
        Of its problem.
    further : sequence of str
        Parameters of the solution or of simulations, which may be left out.
    """
    fields: dict[str, Any] = {}
    others = {name: (_SIZES | _GRID)[name] for name in further}
    for name, parameter in (parameters | others).items():
        kind: Any = Annotated[_type(parameter.domain), _within(parameter.domain)]
        default = None if base is _MapPanel or name in further else parameter.default
        default = dict(default) if isinstance(default, tuple) else default  # a vocabulary
        each = ", or one for each step, as in 3/2/1" * isinstance(parameter.domain, Schedule)
        described = _field(f"{parameter.meaning}: {parameter.domain}{each}", default)
        fields[name] = (kind if base is _MapPanel else OneOrList[kind], described)  # type: ignore[misc]

    return create_model(title, __base__=base, __doc__=f"A panel of {title}.", **fields)


STEPS = _panel_model("gradient steps", _StepsPanel, _PROTOCOL, (*_READOUT, STOP_AT))
SPIKED = _panel_model(
    "an sRF (spiked random features)", LearningPanel, one_spike_parameters(), (*_READOUT, STOP_AT)
)
MAP = _panel_model("a map over two parameters", _MapPanel, _PROTOCOL, _POINT)
# What tells the kinds of panel apart.
_SIGNS = {STEPS: STEP_FIELDS, SPIKED: SPIKED_FIELDS, MAP: ("x", "y")}
KINDS = {kind.__name__: kind for kind in _SIGNS}


def kind_of(panel: Any) -> type[Section] | None:
    """Return the model of a panel, None if its keys are those of no kind."""
    signs = _SIGNS if isinstance(panel, dict) else {}
    return next((kind for kind, x in reversed(signs.items()) if panel.keys() >= {*x}), None)


_signs = " or ".join(f"({', '.join(names)})" for names in _SIGNS.values())
AnyPanel: Any = Annotated[
    reduce(or_, (Annotated[kind, Tag(name)] for name, kind in KINDS.items())),
    Discriminator(
        lambda panel: getattr(kind_of(panel), "__name__", None),
        custom_error_type="kind",
        custom_error_message=f"must have all of {_signs}",
    ),
]


class FigureConfig(Section):
    """One figure: what it shows, where it is computed, and how it is drawn."""

    title: str
    caption: str
    theory: TheoryGrid = _field("where theory is solved", None)
    simulation: AtAlpha[ListOf[Alpha]] = _field("where networks are simulated", None)
    spectrum: AtAlpha[Alpha] = _field("where the features' covariance has a spectrum", None)
    reads: ListOf[str] = _field("files that the drawing reads, made again when they change", None)
    panels: dict[Name, AnyPanel] = _field(
        "by name; a list in a field makes a curve for each entry. {} if the drawing reads files"
    )
    style: dict[Literal["colours"], list[Colour]] = _field(
        "of the drawing: colours such as '#0072b2', one for each curve of a panel, in order", None
    )
