"""Fields of problems that hold the name of a function, and take a callable too."""

from __future__ import annotations

import re
from dataclasses import Field, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, dataclass_transform

from giantstep.numerics.own_functions import FunctionLike, function_name
from giantstep.numerics.scalar_functions import KNOWN_FUNCTIONS
from giantstep.validation import Fault, InvalidParametersError

if TYPE_CHECKING:

    class FunctionName:
        """A field that is given a name or a callable, and is the name."""

        def __get__(self, problem: object, owner: type | None = None) -> str: ...
        def __set__(self, problem: object, function: FunctionLike) -> None: ...

    # Of a parameter that is passed on to such a field.
    FunctionArgument = FunctionLike
else:
    # What the command line reads from the annotations.
    FunctionName = FunctionArgument = str

T = TypeVar("T")
# As `Function` makes them.
_OWN_NAME = re.compile(r"\w+-[0-9a-f]{8}")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def problem_class(cls: type[T]) -> type[T]:
    """Make a frozen dataclass, of which type checkers know that some fields take callables."""
    return dataclass(frozen=True)(cls)


class WithFields:
    """A dataclass, to type checkers that know only one decorator."""

    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


def function_faults(problem: object, name: str) -> list[Fault]:
    """Store the name of the function that a field was given, or list what is wrong with it."""
    given = getattr(problem, name)
    if callable(given) or isinstance(given, str):
        try:
            object.__setattr__(problem, name, function_name(given))
        except InvalidParametersError as error:
            return [Fault(name, fault.value, fault.allowed) for fault in error.faults]
    faults = KNOWN_FUNCTIONS.faults(name, getattr(problem, name))
    if faults and is_own_name(given):
        allowed = "a callable, or known: this process has made no function of that name from one"
        return [Fault(name, given, allowed)]
    return faults


def is_own_name(given: object) -> bool:
    """Tell whether this reads as a name that `Function` makes."""
    return _OWN_NAME.fullmatch(str(given)) is not None
