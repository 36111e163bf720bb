"""Fields of problems that hold the name of a function, and take a callable too."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from giantstep.numerics.expressions import expression_name
from giantstep.numerics.own_functions import function_name
from giantstep.numerics.scalar_functions import CLASS, KNOWN_FUNCTIONS, lookup
from giantstep.validation import Fault, InvalidParametersError

# The type of a field that is given a name or a callable, and is the name.
FunctionName = Any
# As `Function` makes them.
_OWN_NAME = re.compile(r"\w+-[0-9a-f]{8}")


@dataclass(frozen=True)
class FunctionDomain:
    """Functions, by their names or as callables; for gradient steps, only `continuous` ones."""

    continuous: bool = False

    def __str__(self) -> str:
        return str(KNOWN_FUNCTIONS)

    def read(self, name: str, given: Any) -> tuple[Any, list[Fault]]:
        """Return the name of a function, or list what is wrong with it."""
        known = given
        if callable(given) or isinstance(given, str):
            try:
                known = function_name(given)
            except InvalidParametersError as error:
                return given, [Fault(name, fault.value, fault.allowed) for fault in error.faults]
        known = expression_name(known) if isinstance(known, str) else known
        faults = KNOWN_FUNCTIONS.faults(name, known)
        if faults and is_own_name(given):
            allowed = "a callable: a name that ends so belongs to one, and does not tell which"
            faults = [Fault(name, given, allowed)]
        if known == CLASS:
            faults = [Fault(name, given, str(self))]
        if self.continuous and not faults and not lookup(known).continuous:
            faults = [Fault(name, known, "continuous, for gradient steps")]
        return known, faults


def is_own_name(given: object) -> bool:
    """Tell whether this reads as a name that `Function` makes."""
    return _OWN_NAME.fullmatch(str(given)) is not None
