"""Parameters in one canonical form, from which keys are hashed and random streams are seeded."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import fields, is_dataclass
from typing import Any

from numpy.random import SeedSequence

from giantstep.problems.problem import Problem
from giantstep.problems.recovery import Recovery


def plain(value: Any) -> Any:
    """Convert parameters to what JSON can hold: equal parameters give equal JSON.

    The names of classes and of their fields are part of the result. To rename one is to change
    every random number that follows from it.
    """
    if is_dataclass(value) and not isinstance(value, type):
        included = (
            field
            for field in fields(value)
            if not field.metadata.get("later") or getattr(value, field.name) != field.default
        )
        named = {field.name: plain(getattr(value, field.name)) for field in included}
        return {"type": type(value).__name__} | named
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | range):
        return [plain(v) for v in value]
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"  # JSON has no infinity
    return value


def digest(*values: Any) -> str:
    """Hash parameters in their canonical JSON."""
    text = json.dumps(plain(values), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def problem_seed(root: int, problem: Problem | Recovery, *path: int) -> SeedSequence:
    """Derive the seed of a problem's random streams from the root seed and its parameters.

    Parameters
    ----------
    root : int
    problem : Protocol, SpikedFeatures or Recovery
    path : int
        What else separates streams, such as the dimension of a `Recovery`.
    """
    return SeedSequence(root, spawn_key=(int(digest(problem)[:16], 16), *path))
