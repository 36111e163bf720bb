"""Named things: activations, losses, inputs and teachers, looked up by the name a user writes.

A name is either that of an entry, such as `tanh`, or belongs to a parametrised family, such as
`huber:0.5`: the family's prefix, then its parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from giantstep.validation import Interval, read_number

T = TypeVar("T")


class Named(str):
    """A name with the object that it names, pickled together; the registry does not hold it.

    Attributes
    ----------
    thing : object
    """

    thing: Any

    def __new__(cls, name: str, thing: Any) -> Named:
        """Make the name of a thing."""
        named = super().__new__(cls, name)
        named.thing = thing
        return named

    def __reduce__(self) -> tuple[Any, ...]:
        return Named, (str(self), self.thing)


@dataclass(frozen=True)
class Family(Generic[T]):
    """Things that share a prefix of their names, and are made from the rest of it.

    Attributes
    ----------
    prefix : str
        An empty one claims every name.
    make : callable
        Makes the member from the rest of the name; raises ValueError to refuse it.
    pattern : str
        How its names are written, for messages: `huber:DELTA with DELTA > 0`.
    """

    prefix: str
    make: Callable[[str], T]
    pattern: str

    @classmethod
    def of_numbers(cls, prefix: str, make: Callable[..., T], **allowed: Interval) -> Family[T]:
        """Make a family whose members have numbers in their names, each in its interval.

        Examples
        --------
        >>> Family.of_numbers("power:", lambda a: a**2, A=Interval(0, 3)).pattern
        'power:A with A a number from 0 to 3'
        """

        def read(text: str) -> T:
            parts = zip(text.split(","), allowed.values(), strict=True)
            return make(*(read_number(part, interval) for part, interval in parts))

        limits = " and ".join(f"{name} {interval}" for name, interval in allowed.items())
        return cls(prefix, read, f"{prefix}{','.join(allowed)} with {limits}")


class Registry(Generic[T]):
    """Entries by name, and families of them.

    Parameters
    ----------
    entries : mapping
    families : Family
    kind : type or union of types
        Of what a `Named` may carry in the place of an entry.

    Examples
    --------
    >>> from giantstep.registry import Family, Registry
    >>> powers = Registry({"one": 1.0, "two": 2.0}, Family("power:", float, "power:NUMBER"))
    >>> powers.lookup("power:0.5")
    0.5
    >>> "power:half" in powers, str(powers)
    (False, 'one of one, two, power:NUMBER')
    """

    def __init__(self, entries: Mapping[str, T], *families: Family[T], kind: Any = None) -> None:
        self._entries, self._families, self._kind = entries, families, kind
        self._known = dict(entries)

    def lookup(self, name: str) -> T:
        """Find an entry or make a member of a family: always the same object for the same name.

        Raises
        ------
        ValueError
            If the name is unknown, or its family refuses its parameters.
        """
        if isinstance(name, Named) and self._kind and isinstance(name.thing, self._kind):
            return name.thing
        if name in self._known:
            return self._known[name]
        for family in self._families:
            if name.startswith(family.prefix):
                made = family.make(name.removeprefix(family.prefix))
                return self._known.setdefault(name, made)
        raise ValueError(f"{name!r} must be {self}")

    def __str__(self) -> str:
        """Write what a name may be, for messages and help."""
        patterns = ", ".join([*self._entries, *(family.pattern for family in self._families)])
        return f"one of {patterns}" if self._entries else patterns

    def __contains__(self, name: object) -> bool:
        try:
            self.read(name)
        except ValueError:
            return False
        return True

    def read(self, name: Any) -> Any:
        """Return a name that is known.

        Raises
        ------
        ValueError
        """
        self.lookup(name if isinstance(name, str) else str(name))
        return name


def one_of(*names: str) -> Registry[str]:
    """Make the domain of some words."""
    return Registry({name: name for name in names})
