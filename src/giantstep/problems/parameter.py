"""Parameters: what a field of a problem means and what it may be, defined once.

A field with the metadata of `means` carries its `Parameter`. Checks, YAML files, flags, controls,
labels and the names in answers all follow from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any

from giantstep.validation import Domain, Fault, read_value

# In place of a default.
REQUIRED: Any = ...


@dataclass(frozen=True)
class Parameter:
    """What a parameter means, and what it may be.

    Attributes
    ----------
    meaning : str
        In a few words: the `long_name` of data, and the help of flags and fields.
    symbol : str
        In LaTeX.
    domain : Domain
        An `Interval`, a `Registry` or another.
    equation : str
        In the paper, unless it says otherwise.
    label : str
        In a word or two, where that is not the name of the field.
    default : object
        `REQUIRED` if there is none.
    note : str
        What else helps to choose a value, in help texts.
    """

    meaning: str
    symbol: str
    domain: Domain
    equation: str = "not in the paper"
    label: str = ""
    default: Any = REQUIRED
    note: str = ""

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is REQUIRED


def means(parameter: Parameter) -> dict[str, Any]:
    """Return the metadata of a dataclass's field, from what its parameter means."""
    return {"parameter": parameter}


def parameters_of(cls: type[Any]) -> dict[str, Parameter]:
    r"""List the parameters of a class by name, with their defaults.

    Examples
    --------
    >>> from giantstep import Protocol
    >>> noise = parameters_of(Protocol)["noise"]
    >>> noise.meaning, noise.symbol, str(noise.domain), noise.default
    ('variance of the label noise', '\\Delta', 'a number from 0 to 1e+12', 0.0)
    """
    defaults = {f.name: REQUIRED if f.default is MISSING else f.default for f in fields(cls)}
    return {f.name: replace(f.metadata["parameter"], default=defaults[f.name]) for f in fields(cls)}


def read_parameters(record: Any) -> list[Fault]:
    """Store in each field what its domain reads from what it was given, and list all faults."""
    faults: list[Fault] = []
    for one in fields(record):
        given, domain = getattr(record, one.name), one.metadata["parameter"].domain
        object.__setattr__(record, one.name, read_value(one.name, given, domain, faults))
    return faults


def unmet(record: Any, checks: Iterable[tuple[str, object, str]]) -> list[Fault]:
    """List the faults of fields, given for each whether it is as it must be, and what that is."""
    return [Fault(name, getattr(record, name), must) for name, holds, must in checks if not holds]
