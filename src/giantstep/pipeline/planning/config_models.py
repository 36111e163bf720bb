"""What the YAML files in `config/` may say: the one source of their checks and of their schemas.

A field of a panel that is a list makes one curve per entry. The models check types, ranges and
keys; what a field means together with others is checked by the problem that it describes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    WrapValidator,
    field_validator,
)
from pydantic_core import PydanticCustomError

from giantstep.problems.domains import STEPS
from giantstep.problems.protocol import STEP_FIELDS
from giantstep.problems.spiked_features import SPIKED_FIELDS
from giantstep.validation import plain_number, shown

NAME_PATTERN = "^[a-z][a-z0-9_]*$"
ONE, LIST = "one", "list"  # the tags of `OneOrList`

T = TypeVar("T")


def described(text: str) -> dict[str, Any]:
    """Set what editors and messages say of a value that is not allowed."""
    return {"errorMessage": f"must be {text}"}


def _or_infinite(value: Any) -> Any:
    """Read integers too large for a float as infinite."""
    return plain_number(value) if type(value) is int else value


def _as_written(value: Any, check: Callable[[Any], Any]) -> Any:
    """Check a number, and keep an integer an integer: keys and results tell the two apart."""
    check(value)
    return value


def _without_repetition(entries: Iterable[Any]) -> Iterable[Any]:
    seen = set()
    for entry in entries:
        value = frozenset(entry.items()) if isinstance(entry, dict) else entry
        if value in seen:
            raise ValueError(f"must list each entry once; {shown(entry)} appears twice")
        seen.add(value)
    return entries


def _colour(value: str) -> str:
    from matplotlib.colors import is_color_like  # here, since few figures need the slow import

    if not is_color_like(value):
        raise PydanticCustomError("colour", "is no colour")
    return value


Name = Annotated[
    str,
    Field(
        pattern=NAME_PATTERN,
        json_schema_extra=described("a name of lower-case letters, digits and _"),
    ),
]
Word = Annotated[str, Field(json_schema_extra=described("a name"))]
Number = Annotated[
    float,
    BeforeValidator(_or_infinite),
    Field(json_schema_extra=described("a number (infinity is written .inf)")),
]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False), WrapValidator(_as_written)]
Count = Annotated[int, Field(ge=1)]
Replicates = Annotated[int, Field(ge=1, le=1_000_000)]
Seed = Annotated[
    int, Field(ge=0, le=2**63 - 1, json_schema_extra=described("a whole number from 0 to 2^63 - 1"))
]
StepCount = Annotated[int, Field(ge=STEPS.lower, le=STEPS.upper)]
Dimension = Annotated[int, Field(ge=2, le=1_000_000)]
Width = Annotated[int, Field(ge=1, le=100_000_000)]
TestSamples = Annotated[int, Field(ge=1, le=100_000_000)] | Literal["exact"]
Colour = Annotated[
    str,
    AfterValidator(_colour),
    Field(json_schema_extra=described("a colour, such as '#0072b2'")),
]
Vocabulary = Annotated[
    dict[Any, Positive],
    Field(
        min_length=1,
        json_schema_extra=described("a mapping of values to fractions, such as {0.5: 0.3, 2: 0.7}"),
    ),
]
ListOf = Annotated[
    list[T],
    Field(min_length=1, json_schema_extra={"uniqueItems": True}),
    AfterValidator(_without_repetition),
]
OneOrList = Annotated[
    Annotated[T, Tag(ONE)] | Annotated[ListOf[T], Tag(LIST)],
    Discriminator(lambda value: LIST if isinstance(value, list) else ONE),
]


class _Section(BaseModel):
    """A mapping with known keys, whose values are of exactly the declared types."""

    model_config = ConfigDict(
        strict=True, extra="forbid", defer_build=True, use_attribute_docstrings=True
    )

    @field_validator("*", mode="before")
    @classmethod
    def _not_null(cls, value: Any) -> Any:
        if value is None:  # an optional key may be left out, but not left empty
            raise PydanticCustomError("null", "is null")
        return value


class SimulationSizes(_Section):
    """How large simulations are, and how many."""

    dimension: Annotated[int, Field(ge=10, le=1_000_000)]
    """d; the width, the first batch and the training sets are its multiples."""
    networks: Replicates
    """Network replicates (initialisation and first batch) for each curve."""
    trainings: Replicates
    """Training replicates (fresh training sets) for each network."""
    test_samples: TestSamples
    """Fresh inputs over which a network's test error is averaged; or exact, its closed form,
    for activations that have one."""
    networks_per_job: Count | None = None
    """Network replicates that one job simulates; by default, as many as take a minute. It changes
    no number, and nothing is simulated again when it changes."""


class Limits(_Section):
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


class Config(_Section):
    """Sizes, seed, and which figures to make."""

    figures: ListOf[Name]
    """Figures that `snakemake` makes by default; each has its config/figures/<name>.yaml."""
    seed: Seed
    """The root of every random stream."""
    simulation: SimulationSizes
    limits: Limits = Field(default_factory=Limits)
    strict_versions: bool = False
    """Whether results count as others when the versions of numpy, scipy, xarray or netcdf4 differ,
    and drawings when that of matplotlib does."""


class Axis(_Section):
    """Values, evenly spaced or (spacing: log) in equal ratios."""

    start: Positive
    stop: Positive
    points: Annotated[int, Field(ge=2, le=100_000)]
    spacing: Literal["even", "log"] = "even"

    @field_validator("stop")
    @classmethod
    def _beyond_start(cls, stop: float, info: ValidationInfo) -> float:
        if stop <= (start := info.data.get("start", 0)):
            raise ValueError(f"must be finite, and greater than start, {start}")
        return stop


class TheoryGrid(_Section):
    """Where theory is solved, besides at the simulated points."""

    alpha: Axis | None = None
    """Sample complexities."""
    dimension: Axis | None = None
    """Dimensions at which the test error is computed, at the simulated sample complexities."""


class SimulationGrid(_Section):
    """Where networks are simulated."""

    alpha: ListOf[Positive]
    """Sample complexities."""


class SpectrumPoint(_Section):
    """Where the spectrum of the features' covariance is computed, by theory and simulation."""

    alpha: Positive


class Style(_Section):
    """What concerns the drawing alone."""

    colours: Annotated[list[Colour], Field(min_length=1)] | None = None
    """One matplotlib colour per curve of a panel, in order."""


class _Panel(_Section):
    required_by_kind: ClassVar[tuple[str, ...]]

    title: str | None = None
    """The panel's name, where its parameters do not say it."""
    activation: OneOrList[Word]
    dimension: OneOrList[Dimension] | None = None
    """Dimension of the simulations, instead of the config's."""
    networks: Replicates | None = None
    """Network replicates of each curve, instead of the config's."""


class LearningPanel(_Panel):
    """What both kinds of panel with a trained readout may say."""

    target: OneOrList[Word]
    beta: OneOrList[Number]
    """Width over dimension."""
    ridge: OneOrList[Number] | None = None
    """Ridge penalties; unlike other lists, theirs makes no further curves."""
    noise: OneOrList[Number] | None = None
    """Variance of the label noise."""
    outlier_fraction: OneOrList[Number] | None = None
    """Share of the labels whose noise has the variance outlier_variance instead."""
    outlier_variance: OneOrList[Number] | None = None
    inputs: OneOrList[Word] | None = None
    """Distribution of the inputs' entries in simulations."""
    readout: OneOrList[Vocabulary] | None = None
    """Values of the initial readout, each with its share of the neurons."""
    bulk: OneOrList[Word] | None = None
    """How the theory describes the bulk of the first layer: isotropic or
    trained."""
    loss: OneOrList[Word] | None = None
    """What the readout minimises, plus ridge/2 times its squared norm: square, huber,
    huber:DELTA, hinge or logistic."""
    test_samples: TestSamples | None = None
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


class StepsPanel(LearningPanel):
    """Networks after gradient steps on the first layer."""

    model_config = ConfigDict(title="gradient steps")
    required_by_kind = STEP_FIELDS

    learning_rate: OneOrList[Number]
    step_exponent: OneOrList[Number] | None = None
    """Exponent s of the step size, learning_rate d^(s+1/2): 0.5, the giant step, by default."""
    alpha0: OneOrList[Number]
    """Samples of the first step over dimension."""
    steps: OneOrList[StepCount] | None = None
    """Gradient steps."""
    reuse_batch: OneOrList[bool] | None = None
    """Whether later steps reuse the first batch instead of a fresh one each; without theory."""
    learning_rates: Axis | None = None
    """Learning rates at which the test error after each step is computed besides, by theory alone,
    at the simulated sample complexities."""


class SpikedFeaturesPanel(LearningPanel):
    """Spiked random features, given directly."""

    model_config = ConfigDict(title="an sRF (spiked random features)")
    required_by_kind = SPIKED_FIELDS

    bulk_variance: OneOrList[Number]
    spike_strength: OneOrList[Number]
    alignment: OneOrList[Number]
    model: OneOrList[Word] | None = None
    """Features that are simulated: network or conditional_gaussian."""
    bias: OneOrList[Vocabulary] | None = None
    """Quenched biases of the neurons, each with its share of them."""


class RecoveryPanel(_Panel):
    """First layers after steps on batches of alpha0 d^exponent samples of a teacher."""

    model_config = ConfigDict(title="recovery of a teacher")
    required_by_kind = ("teacher",)

    teacher: OneOrList[Word]
    """Sums of products of directions z1, z2, ... and their Hermite polynomials, such as
    z1+z1*z2 or he2(z1)."""
    learning_rate: OneOrList[Number]
    alpha0: OneOrList[Number]
    exponent: OneOrList[Number] | None = None
    width: OneOrList[Width] | None = None
    steps: OneOrList[StepCount] | None = None
    reuse_batch: OneOrList[bool] | None = None
    """Whether later steps reuse the first batch instead of a fresh one each."""


class MapPanel(_Section):
    """The theory of gradient steps over two parameters."""

    model_config = ConfigDict(title="map over two parameters")
    required_by_kind: ClassVar[tuple[str, ...]] = ("x", "y")

    x: Annotated[dict[Name, Axis], Field(min_length=1, max_length=1)]
    """The parameter along the horizontal axis: {alpha0: {start: 0.1, stop: 10, points: 40}}."""
    y: Annotated[dict[Name, Axis], Field(min_length=1, max_length=1)]
    """The parameter along the vertical axis."""
    title: str | None = None
    """The panel's name."""
    show: Literal["gain_over_linear", "gain_over_no_step", "isotropic_deviation"] = (
        "gain_over_linear"
    )
    """What the level lines are of."""
    activation: Word
    target: Word
    learning_rate: Number | None = None
    alpha0: Number | None = None
    """Samples of the first step over dimension."""
    beta: Number | None = None
    """Width over dimension."""
    alpha: Number | None = None
    """Sample complexity."""
    ridge: Number | None = None
    noise: Number | None = None
    """Variance of the label noise."""


_KINDS: tuple[type[_Panel] | type[MapPanel], ...] = (
    StepsPanel,
    SpikedFeaturesPanel,
    RecoveryPanel,
    MapPanel,
)


def _kind(panel: Any) -> str | None:
    """Return the name of the kind of a panel, None if its keys are not those of one kind."""
    if not isinstance(panel, dict):
        return StepsPanel.__name__
    if "teacher" in panel:
        return RecoveryPanel.__name__
    if "x" in panel and "y" in panel:
        return MapPanel.__name__
    learning = _KINDS[:2]
    given = {key for kind in learning for key in kind.required_by_kind if key in panel}
    return next((k.__name__ for k in learning if given == set(k.required_by_kind)), None)


Panel = Annotated[
    Annotated[StepsPanel, Tag(StepsPanel.__name__)]
    | Annotated[SpikedFeaturesPanel, Tag(SpikedFeaturesPanel.__name__)]
    | Annotated[RecoveryPanel, Tag(RecoveryPanel.__name__)]
    | Annotated[MapPanel, Tag(MapPanel.__name__)],
    Discriminator(
        _kind,
        custom_error_type="kind",
        custom_error_message="must have all of "
        + " or ".join(f"({', '.join(kind.required_by_kind)})" for kind in _KINDS)
        + ", and none of the others",
    ),
]


Panels = Annotated[
    dict[Name, Panel],
    Field(
        min_length=1,
        json_schema_extra={"additionalProperties": False, **described("one or more panels")},
    ),
]


class Figure(_Section):
    """One figure: what it shows, where it is computed, and how it is drawn."""

    title: str
    caption: str
    theory: TheoryGrid | None = None
    simulation: SimulationGrid | None = None
    spectrum: SpectrumPoint | None = None
    panels: Panels
    """Panels by name, in order; a field that is a list makes one curve per entry."""
    style: Style | None = None
