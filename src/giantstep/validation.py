"""Checks of parameters: what is wrong is collected, and reported all at once."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Protocol

from giantstep.suggestions import did_you_mean

# Numbers as texts, the same in YAML and on the command line: ASCII and decimal.
WHOLE_NUMBER = r"[-+]?(0|[1-9][0-9]*)"
DECIMAL_NUMBER = r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
_NOT_FINITE = r"[-+]?inf|nan"
# Longest text of a value in a message.
_LENGTH = 80


def shown(value: object) -> str:
    """Write a value for a message: in one line, shortened if need be."""
    text = repr(value)
    return text if len(text) < _LENGTH else text[: _LENGTH - 3] + "..."


@dataclass(frozen=True)
class Fault:
    """A value that was refused.

    Attributes
    ----------
    name : str
        The parameter.
    value : object
    allowed : str
        What it must be, to follow the words "must be".

    Examples
    --------
    >>> from giantstep.validation import POSITIVE, Fault
    >>> print(Fault("x", -1, str(POSITIVE)))
    x = -1: must be a finite number > 0
    """

    name: str
    value: object
    allowed: str

    def __str__(self) -> str:
        return f"{self.name} = {shown(self.value)}: must be {self.allowed}{self.hint}"

    @property
    def hint(self) -> str:
        """The end of a message: a name that may have been meant."""
        listed = self.allowed.partition("one of ")[2] if isinstance(self.value, str) else ""
        return did_you_mean(str(self.value), re.findall(r"(?:^|, )(\w+)(?=,|$)", listed))


class RefusalError(Exception):
    """What cannot be done as things are; the message says what to do instead."""


class InvalidParametersError(RefusalError, ValueError):
    """Parameters outside their domain; the attribute `faults` lists every one that was found.

    Examples
    --------
    >>> import giantstep
    >>> try:
    ...     giantstep.Protocol("tanh", "sin", learning_rate=-1, alpha0=2, beta=0)
    ... except giantstep.InvalidParametersError as error:
    ...     [fault.name for fault in error.faults]
    ['learning_rate', 'beta']
    """

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


def refusal(name: str, value: object, allowed: str) -> InvalidParametersError:
    """Return the error that refuses one value."""
    return InvalidParametersError([Fault(name, value, allowed)])


@contextmanager
def collected(faults: list[Fault]) -> Iterator[None]:
    """Add the faults of what is refused to a list, instead of raising them."""
    try:
        yield
    except InvalidParametersError as error:
        faults += error.faults


def raise_all(faults: Sequence[Fault]) -> None:
    """Raise the faults that were collected, each once, if there are any."""
    if faults:
        raise InvalidParametersError(x for k, x in enumerate(faults) if x not in faults[:k])


class Domain(Protocol):
    """What a parameter may be; as a text, it follows the words "must be"."""

    def read(self, value: Any) -> Any:
        """Return what a field holds that is given a value.

        Raises
        ------
        ValueError or TypeError
            Of a value that is refused; an InvalidParametersError, if there is more to say.
        """


def read_value(name: str, value: Any, domain: Domain, faults: list[Fault]) -> Any:
    """Read the value of a parameter; if it is refused, return it, and add why to the faults."""
    try:
        return domain.read(value)
    except InvalidParametersError as error:
        text = isinstance(value, str)
        faults += [Fault(name, value if text else x.value, x.allowed) for x in error.faults]
    except (OverflowError, TypeError, ValueError):
        faults.append(Fault(name, value, str(domain)))
    return value


def check_value(name: str, value: Any, domain: Domain) -> None:
    """Refuse a value outside a domain.

    Raises
    ------
    InvalidParametersError
    """
    faults: list[Fault] = []
    read_value(name, value, domain, faults)
    raise_all(faults)


@dataclass(frozen=True)
class Interval:
    """The numbers that a parameter may be; NaN lies in no interval.

    Attributes
    ----------
    lower, upper : float
        The ends. Finite ends belong to the interval, except a lower one that is `open_below`.
    open_below : bool
    infinity : bool
        Whether infinity belongs to the interval, too.
    whole : bool
        Whether only ints belong to it.

    Examples
    --------
    >>> from giantstep.validation import Interval
    >>> fraction = Interval(0, 1)
    >>> 0.5 in fraction, 2 in fraction, str(fraction)
    (True, False, 'a number from 0 to 1')
    """

    lower: float
    upper: float = math.inf
    open_below: bool = False
    infinity: bool = False
    whole: bool = False

    def __contains__(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, int if self.whole else int | float):
            return False
        if value in (math.inf, -math.inf):
            return self.infinity and value > 0
        above = value > self.lower if self.open_below else value >= self.lower
        return above and value <= self.upper

    def read(self, value: Any) -> Any:
        """Return a number as a plain one.

        Raises
        ------
        ValueError or TypeError
        """
        if not isinstance(value, str | bool):
            whole = int if isinstance(value, Integral) else whole_number  # NumPy has ints, too
            value = whole(value) if self.whole else float(value)
        if value not in self:
            raise ValueError(f"{value} must be {self}")
        return value

    def __str__(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        infinite = ", or inf" if self.infinity else ""
        if not math.isinf(self.upper):
            return f"{kind} from {self.lower:g} to {self.upper:g}{infinite}"
        kind = kind if self.whole or self.infinity else "a finite number"
        if math.isinf(self.lower):
            return kind
        return f"{kind} {'>' if self.open_below else '>='} {self.lower:g}{infinite}"


POSITIVE = Interval(0, open_below=True)
COUNT = Interval(1, whole=True)


def read_number(text: str, allowed: Interval | None = None) -> float:
    """Read a decimal number, inf or nan; if need be, one that is allowed.

    Raises
    ------
    ValueError
        For other ways to write a number, such as 010, 1_0 or 0x10, and for other numbers.
    """
    if not re.fullmatch(f"{DECIMAL_NUMBER}|{_NOT_FINITE}", text):
        raise ValueError(f"{shown(text)} must be a decimal number such as 0.5 or 1e-3")
    return allowed.read(float(text)) if allowed else float(text)


def read_whole_number(text: str) -> int:
    """Read a whole number, such as 1000 or 1e3.

    Raises
    ------
    ValueError
        For anything but decimal digits.
    """
    exact = re.fullmatch(WHOLE_NUMBER, text) and len(text) < _LENGTH
    number = int(text) if exact else whole_number(read_number(text))
    if not isinstance(number, int):
        raise ValueError(f"{shown(text)} must be a whole number in decimal digits, such as 8")
    return number


def whole_number(value: Any) -> Any:
    """Convert floats that are whole, such as 1e3, to ints, and return everything else unchanged."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
