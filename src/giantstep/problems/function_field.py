"""Fields of problems that hold the name of a function, and take a callable too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from giantstep.numerics.expressions import expression_name
from giantstep.numerics.own_functions import function_name
from giantstep.numerics.scalar_functions import CLASS, KNOWN_FUNCTIONS, lookup
from giantstep.validation import refusal

# The type of a field that is given a name or a callable, and is the name.
FunctionName = Any


@dataclass(frozen=True)
class FunctionDomain:
    """Functions, by their names or as callables; for gradient steps, only `continuous` ones."""

    continuous: bool = False

    def __str__(self) -> str:
        return str(KNOWN_FUNCTIONS)

    def read(self, given: Any) -> Any:
        """Return the name of a function.

        Raises
        ------
        ValueError
        """
        if given == CLASS or not (callable(given) or isinstance(given, str)):
            raise ValueError(f"{given} must be {self}")
        name = expression_name(function_name(given))
        if not lookup(name).continuous and self.continuous:
            raise refusal("", name, "continuous, for gradient steps")
        return name
