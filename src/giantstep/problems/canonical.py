"""Parameters in one canonical form, which keys and seeds of random streams hash.

The key of every result covers this module, so it knows no kind of parameters.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import fields, is_dataclass
from typing import Any

# Parameters that are written at their defaults, too. Others are not, so that a new parameter leaves
# every seed as it is.
_WRITTEN = {
    *("noise", "readout", "inputs", "steps", "reuse_batch", "fraction", "bias", "model"),
    *("trainings", "test_samples"),  # of sizes
}


def plain(value: Any) -> Any:
    """Convert parameters to what JSON can hold: equal parameters give equal JSON.

    The names of classes and of their fields are part of the result. To rename one is to change
    every random number that follows from it.
    """
    if is_dataclass(value) and not isinstance(value, type):
        named = {
            field.name: plain(getattr(value, field.name))
            for field in fields(value)
            if field.name in _WRITTEN or getattr(value, field.name) != field.default
        }
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
