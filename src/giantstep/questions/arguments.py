"""The arguments of questions besides their problems, each declared once.

Flags of the command line, their help and the checks of single numbers follow from it.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any, Literal

from giantstep.problems.bulk_kind import BULKS as KNOWN_BULKS
from giantstep.problems.domains import FLAG, POSITIVE_RIDGE, THEORY_DIMENSION, Several, interval_of
from giantstep.problems.grid import Grid
from giantstep.problems.parameter import Parameter, parameters_of
from giantstep.problems.readout import VocabularyDomain
from giantstep.problems.sizes import SEED as SEEDS
from giantstep.problems.sizes import Sizes
from giantstep.questions.choices import AT_MOST, STOP_AT
from giantstep.questions.choices import THREADS as THREAD_COUNTS
from giantstep.registry import Family, Registry, one_of
from giantstep.theory.optima import CRITERIA, CROSS_VALIDATION, TEST_ERROR
from giantstep.validation import COUNT, Domain, Fault, Interval, read_value

OPTIMAL: Literal["optimal"] = "optimal"
# The type of an entry of a vocabulary: a value, and its fraction of the neurons.
PAIR: Any = tuple[float, float]


_TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


class Many(Enum):
    """What several values of an argument mean."""

    REFUSED = "refused"
    APART = "a question for each"
    TOGETHER = "one question, which takes them at once"


@dataclass(frozen=True)
class Argument:
    """What a question or a problem takes under a name.

    Attributes
    ----------
    name : str
        As in Python.
    text : str
        What it is, in a few words.
    domain : Domain
        What one value may be.
    many : Many
    words : tuple of str
        What may stand in place of a number, such as "optimal".
    default : object
        None for one that must be given, or may be left out.
    note : str
        Further text of the help.
    """

    name: str
    text: str
    domain: Domain
    many: Many = Many.REFUSED
    words: tuple[str, ...] = ()
    default: Any = None
    note: str = ""

    @property
    def kind(self) -> Any:
        """The type of one value: bool, int, float, str or `PAIR`."""
        if interval := interval_of(self.domain):
            return int if interval.whole else float
        if isinstance(self.domain, VocabularyDomain):
            return PAIR
        return bool if self.domain is FLAG else str

    def faults(self, given: Any) -> list[Fault]:
        """List what is wrong with what is given: one value, or a list or the keys of several."""
        several = self.many is not Many.REFUSED and isinstance(given, list | Mapping)
        values = list(given) if several else [given]
        faults = [] if values else [Fault(self.name, [], "at least one value")]
        domain, wrong = interval_of(self.domain) or self.domain, list[Fault]()
        for x in values:
            if x not in self.words:
                read_value(self.name, x, domain, wrong)
        return faults + [replace(x, allowed=" or ".join([x.allowed, *self.words])) for x in wrong]


def argument(of: str, name: str, *args: Any, **others: Any) -> Argument:
    """Make an argument, of one question or `common`, whose text is in the table."""
    return Argument(name, _TEXTS[of][name], *args, **others)


def argument_of(name: str, of: Parameter, **changes: Any) -> Argument:
    """Make the argument of a field of a problem, of its grid or of its sizes."""
    default = None if of.required else of.default
    words = tuple(getattr(of.domain, "words", ()))
    many = Many.REFUSED if of.domain is FLAG else Many.APART
    made = Argument(name, of.meaning, of.domain, many, words, default, of.note)
    return replace(made, **changes)


def arguments_of(parameters: Mapping[str, Parameter]) -> dict[str, Argument]:
    """Make the arguments that state a problem."""
    return {name: argument_of(name, of) for name, of in parameters.items()}


# Accepts any name, since names are checked elsewhere.
ANY_NAME = Registry({}, Family("", str, "names of parameters"))


_GRID, _SIZES = parameters_of(Grid), parameters_of(Sizes)
ALPHA = argument_of("alpha", _GRID["alpha"], many=Many.TOGETHER, default=1.0)
RIDGES = argument_of("ridge", _GRID["ridge"], many=Many.TOGETHER, default=0.1)
RIDGE = replace(RIDGES, words=(OPTIMAL, *CROSS_VALIDATION))
BEST_RIDGE = replace(RIDGE, words=(OPTIMAL,))
LOSS = argument_of("loss", _GRID["loss"])
STOP_AT_TIMES = argument("common", STOP_AT, Several(POSITIVE_RIDGE), Many.TOGETHER, (OPTIMAL,))
BULK = argument("common", "bulk", one_of(*KNOWN_BULKS), Many.APART)
BULKS = replace(BULK, many=Many.TOGETHER)
DIMENSION = argument("common", "dimension", THEORY_DIMENSION, Many.APART, default=math.inf)
BY = argument("common", "by", one_of(*CRITERIA), Many.APART, default=TEST_ERROR)
THEORY = LOSS, STOP_AT_TIMES, BULK, DIMENSION, BY
# The same for questions that take several of each at once.
THEORIES = tuple(replace(one, many=Many.TOGETHER) for one in THEORY)
DERIVATIVES = argument("common", "derivatives", FLAG)
CROSS_VALIDATED = argument("common", "cross_validation", FLAG)
ENSEMBLE = argument("common", "ensemble", Interval(1, infinity=True))
# Arguments of networks: their sizes and numbers.
NETWORK_DIMENSION = argument_of("dimension", _SIZES["dimension"], default=500)
NETWORKS = argument("networks", "networks", COUNT)
TRAININGS = argument_of("trainings", _SIZES["trainings"])
TEST_SAMPLES = argument_of("test_samples", _SIZES["test_samples"])
SEED = argument("networks", "seed", SEEDS)
THREADS = argument("networks", "threads", THREAD_COUNTS)
SIZES, DRAWN = (NETWORK_DIMENSION, NETWORKS, TRAININGS), (TEST_SAMPLES, SEED, THREADS)
NETWORKS_OF_ENSEMBLE = replace(ENSEMBLE, domain=COUNT)
NETWORKS_CROSS_VALIDATED = argument("networks", "cross_validation", FLAG)
MAX_HOURS = argument("common", "max_hours", AT_MOST)
MAX_MEMORY = argument("common", "max_memory", AT_MOST)
