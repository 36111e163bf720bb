"""What the YAML files in `config/` may say: the one source of their checks and of their schemas.

The fields of a panel are the parameters of its problems; one that is a list makes one curve per
entry. What values mean together is checked by the problem that they describe.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    create_model,
)

from giantstep.problems.domains import ALPHA, FLAG, LEARNING_RATE, THEORY_DIMENSION, Several
from giantstep.problems.grid import Grid
from giantstep.problems.parameter import Domain, Parameter, parameters_of
from giantstep.problems.protocol import STEP_FIELDS, Protocol
from giantstep.problems.readout import VocabularyDomain
from giantstep.problems.recovery import Recovery
from giantstep.problems.sizes import SEED, Sizes
from giantstep.problems.spiked_features import SPIKED_FIELDS, one_spike_parameters
from giantstep.validation import POSITIVE, Interval, shown

NAME_PATTERN = "^[a-z][a-z0-9_]*$"
# The tags of `OneOrList`, which stand among the keys that lead to a place.
ONE, LIST = "-one-", "-list-"
T = TypeVar("T")


def _within(domain: Domain) -> Any:
    """Return a check that a value lies in a domain."""

    def check(value: Any) -> Any:
        given = tuple(value.items()) if isinstance(value, dict) else value
        if faults := domain.read("", given)[1]:
            raise ValueError(f"must be {faults[0].allowed}")
        return value

    return AfterValidator(check)


def _type(domain: Domain) -> Any:
    """Return the type of the values of a domain, as YAML reads them."""
    if isinstance(domain, VocabularyDomain):
        return dict[float, float]
    if domain is FLAG:
        return bool
    if isinstance(domain, Interval | Several):
        return int if getattr(domain, "whole", False) else float
    return str


def _optional() -> Any:
    """Make a field that may be left out, but not be null."""
    return Field(default=None)


def _once(entries: list[Any]) -> list[Any]:
    for place, entry in enumerate(entries):
        if entry in entries[:place]:
            raise ValueError(f"must list each entry once; {shown(entry)} appears twice")
    return entries


def _colour(value: str) -> str:
    from matplotlib.colors import is_color_like  # here, since few figures need the slow import

    if not is_color_like(value):
        raise ValueError("must be a colour, such as '#0072b2'")
    return value


Name = Annotated[str, Field(pattern=NAME_PATTERN)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
Replicates = Annotated[int, Field(ge=1, le=1_000_000)]
ListOf = Annotated[list[T], Field(min_length=1), AfterValidator(_once)]
OneOrList = Annotated[
    Annotated[T, Tag(ONE)] | Annotated[ListOf[T], Tag(LIST)],
    Discriminator(lambda value: LIST if isinstance(value, list) else ONE),
]
_SIZES, _GRID = parameters_of(Sizes), parameters_of(Grid)
Dimension = Annotated[int, _within(_SIZES["dimension"].domain)]
TestSamples = Annotated[int | Literal["exact"], _within(_SIZES["test_samples"].domain)]
Alpha = Annotated[float, _within(_GRID["alpha"].domain)]


class Section(BaseModel):
    """A mapping with known keys, whose values are of exactly the declared types.

    A key without a value in the YAML is no key that is left out.
    """

    model_config = ConfigDict(
        strict=True, extra="forbid", defer_build=True, use_attribute_docstrings=True
    )


class Simulation(Section):
    """How large simulations are, and how many."""

    dimension: Dimension
    """d; the width, the first batch and the training sets are its multiples."""
    networks: Replicates
    """Network replicates (initialisation and first batch) for each curve."""
    trainings: Replicates
    """Training replicates (fresh training sets) for each network."""
    test_samples: TestSamples
    """Fresh inputs over which a network's test error is averaged; or exact, its closed form,
    for activations that have one."""
    networks_per_job: Count = _optional()
    """Network replicates that one job simulates; by default, as many as take a minute. It changes
    no number, and nothing is simulated again when it changes."""


class Limits(Section):
    """What configurations may take; more is refused at once, as a mistake."""

    core_hours: Positive = 1e6
    """Of all jobs together, as estimated."""
    memory: Positive = 1024
    """GiB that any one job may hold, as estimated."""
    jobs: Count = 100_000
    networks: Count = 1_000_000
    """Simulated networks of all curves."""
    points: Count = 1_000_000
    """Points of the theory of all curves."""


class Config(Section):
    """Sizes, seed, and which figures to make."""

    figures: ListOf[Name]
    """Figures that `snakemake` makes by default; each has its config/figures/<name>.yaml."""
    seed: Annotated[int, _within(SEED)]
    """The root of every random stream."""
    simulation: Simulation
    limits: Limits = Limits()


class Axis(Section):
    """Values, evenly spaced or (spacing: log) in equal ratios."""

    start: Positive
    stop: Positive
    points: Annotated[int, Field(ge=2, le=100_000)]
    spacing: Literal["even", "log"] = "even"


def _spaced(domain: Domain) -> Any:
    """Return a check that values increase, within a domain."""

    def check(axis: Axis) -> Axis:
        if axis.stop <= axis.start:
            raise ValueError(f"stop, {axis.stop:g}, must be greater than start, {axis.start:g}")
        if faults := [
            fault for end in (axis.start, axis.stop) for fault in domain.read("", end)[1]
        ]:
            raise ValueError(f"start and stop must be {faults[0].allowed}")
        return axis

    return AfterValidator(check)


Spaced = Annotated[Axis, _spaced(POSITIVE)]


class TheoryGrid(Section):
    """Where theory is solved, besides at the simulated points."""

    alpha: Annotated[Axis, _spaced(ALPHA)] = _optional()
    """Sample complexities."""
    dimension: Annotated[Axis, _spaced(THEORY_DIMENSION)] = _optional()
    """Dimensions at which the test error is computed, at the simulated sample complexities."""


class SimulationGrid(Section):
    """Where networks are simulated."""

    alpha: ListOf[Alpha]
    """Sample complexities."""


class SpectrumPoint(Section):
    """Where the spectrum of the features' covariance is computed, by theory and simulation."""

    alpha: Alpha


class Style(Section):
    """What concerns the drawing alone."""

    colours: Annotated[list[Annotated[str, AfterValidator(_colour)]], Field(min_length=1)] = (
        _optional()
    )
    """One matplotlib colour per curve of a panel, in order."""


class Panel(Section):
    """What most kinds of panel may say."""

    title: str = _optional()
    """The panel's name, where its parameters do not say it."""
    networks: Replicates = _optional()
    """Network replicates of each curve, instead of the config's."""


class LearningPanel(Panel):
    """What both kinds of panel with a trained readout may say; a list of ridges makes no curves."""

    bulk: OneOrList[str] = _optional()
    """How the theory describes the bulk of the first layer: isotropic or trained."""
    test_samples: TestSamples = _optional()
    """Fresh inputs over which test errors are averaged, instead of the config's."""
    optimal: bool = False
    """Also solve the theory at the ridge of the least (squared) test error, at each sample
    complexity, for any loss."""
    finite_size_theory: bool = False
    """Also solve the theory of the networks that are simulated: at their dimension, and with the
    bulk that a step leaves."""
    simulated: bool = True
    """Whether the panel's curves are simulated; if not, theory alone."""
    best_linear: bool = False
    """Draw the error of the best linear predictor."""
    lower_bound: bool = False
    """Draw the lower bound on the test error of each curve."""


class _StepsPanel(LearningPanel):
    learning_rates: Annotated[Axis, _spaced(LEARNING_RATE)] = _optional()
    """Learning rates at which the test error after each step is computed besides, by theory alone,
    at the simulated sample complexities."""


class _MapPanel(Section):
    x: Annotated[dict[Name, Spaced], Field(min_length=1, max_length=1)]
    """The parameter along the horizontal axis: {alpha0: {start: 0.1, stop: 10, points: 40}}."""
    y: Annotated[dict[Name, Spaced], Field(min_length=1, max_length=1)]
    """The parameter along the vertical axis."""
    title: str = _optional()
    """The panel's name."""
    show: Literal["gain_over_linear", "gain_over_no_step", "isotropic_deviation"] = (
        "gain_over_linear"
    )
    """What the level lines are of."""


_READOUT, _POINT = ("ridge", "loss", "dimension"), ("alpha", "ridge")


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
    one = base is _MapPanel
    fields: dict[str, Any] = {}
    others = {name: (_SIZES | _GRID)[name] for name in further}
    for name, parameter in (parameters | others).items():
        checked: Any = Annotated[_type(parameter.domain), _within(parameter.domain)]
        several: Any = OneOrList[checked]  # type: ignore[misc]
        default = None if one or name in further else parameter.default
        default = dict(default) if isinstance(default, tuple) else default  # a vocabulary
        described = Field(default=default, description=f"{parameter.meaning}: {parameter.domain}")
        fields[name] = (checked if one else several, described)

    class Described(base):  # type: ignore[misc, valid-type]
        # Fields that have a description already; to search the source for one takes 0.3 s.
        model_config = ConfigDict(use_attribute_docstrings=False)

    return create_model(title, __base__=Described, __doc__=f"A panel of {title}.", **fields)


STEPS = _panel_model("gradient steps", _StepsPanel, parameters_of(Protocol), _READOUT)
SPIKED = _panel_model(
    "an sRF (spiked random features)", LearningPanel, one_spike_parameters(), _READOUT
)
RECOVERY = _panel_model("recovery of a teacher", Panel, parameters_of(Recovery), ["dimension"])
MAP = _panel_model("a map over two parameters", _MapPanel, parameters_of(Protocol), _POINT)
MAP_PARAMETERS = parameters_of(Protocol) | {name: _GRID[name] for name in _POINT}
# Numbers, along which a map may have an axis.
MAP_AXES = [name for name, one in MAP_PARAMETERS.items() if _type(one.domain) is float]
# What tells the kinds of panel apart.
_SIGNS = {STEPS: STEP_FIELDS, SPIKED: SPIKED_FIELDS, RECOVERY: ("teacher",), MAP: ("x", "y")}
KINDS = {kind.__name__: kind for kind in _SIGNS}


def kind_of(panel: Any) -> type[Section] | None:
    """Return the model of a panel, None if its keys are not those of one kind."""
    if not isinstance(panel, dict):
        return STEPS
    for kind in (RECOVERY, MAP):
        if all(name in panel for name in _SIGNS[kind]):
            return kind
    given = {name for kind in (STEPS, SPIKED) for name in _SIGNS[kind] if name in panel}
    return next((kind for kind in (STEPS, SPIKED) if given == set(_SIGNS[kind])), None)


def _tag(panel: Any) -> str | None:
    kind = kind_of(panel)
    return kind.__name__ if kind else None


_signs = " or ".join(f"({', '.join(names)})" for names in _SIGNS.values())
if TYPE_CHECKING:
    AnyPanel = Section
else:
    AnyPanel = Annotated[
        reduce(or_, (Annotated[kind, Tag(name)] for name, kind in KINDS.items())),
        Discriminator(
            _tag,
            custom_error_type="kind",
            custom_error_message=f"must have all of {_signs}, and none of the others",
        ),
    ]


class FigureConfig(Section):
    """One figure: what it shows, where it is computed, and how it is drawn."""

    title: str
    caption: str
    theory: TheoryGrid = _optional()
    simulation: SimulationGrid = _optional()
    spectrum: SpectrumPoint = _optional()
    panels: Annotated[dict[Name, AnyPanel], Field(min_length=1)]
    """Panels by name, in order; a field that is a list makes one curve per entry."""
    style: Style = _optional()
    reads: ListOf[str] = _optional()
    """Files that drawing the figure reads, which is drawn again when they change."""
