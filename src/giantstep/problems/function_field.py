"""Fields of problems that hold the name of a function, and take a callable too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from giantstep.numerics.expressions import expression_name
from giantstep.numerics.own_functions import function_name
from giantstep.numerics.scalar_functions import CLASS, KNOWN_FUNCTIONS, lookup
from giantstep.validation import Fault, InvalidParametersError

# The type of a field that is given a name or a callable, and is the name.
FunctionName = Any


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
        if known == CLASS:
            faults = [Fault(name, given, str(self))]
        if self.continuous and not faults and not lookup(known).continuous:
            faults = [Fault(name, known, "continuous, for gradient steps")]
        return known, faults
