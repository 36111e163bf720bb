"""Parameters in one canonical form: what keys are hashed from, and random streams seeded by."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import fields, is_dataclass
from typing import Any

from numpy.random import SeedSequence

from giantstep.problems.protocol import Problem


def plain(value: Any) -> Any:
    """Turn parameters into what JSON can hold, the same for the same parameters."""
    if is_dataclass(value) and not isinstance(value, type):
        told = (
            field
            for field in fields(value)
            if not field.metadata.get("later") or getattr(value, field.name) != field.default
        )
        named = {field.name: plain(getattr(value, field.name)) for field in told}
        return {"type": type(value).__name__} | named
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | range):
        return [plain(v) for v in value]
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"  # JSON has no infinity
    return value


def digest(*values: Any) -> str:
    """Hash parameters by their canonical JSON."""
    text = json.dumps(plain(values), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def problem_seed(root: int, problem: Problem) -> SeedSequence:
    """Give the root of a problem's random streams, from its parameters alone."""
    return SeedSequence(root, spawn_key=(int(digest(problem)[:16], 16),))
