"""Products of several small arrays, in an order that is searched for once."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np


def contract(equation: str, *operands: Any) -> Any:
    """Compute `np.einsum(equation, *operands, optimize=True)`.

    The search for the best order of products takes longer than small products themselves; it
    depends on their shapes alone.

    Examples
    --------
    >>> contract("sij,sj,si->s", np.ones((2, 3, 4)), np.ones((2, 4)), np.ones((2, 3)))
    array([12., 12.])
    """
    order = _order(equation, tuple(np.shape(operand) for operand in operands))
    return np.einsum(equation, *operands, optimize=order)


@lru_cache(maxsize=1024)
def _order(equation: str, shapes: tuple[tuple[int, ...], ...]) -> list[Any]:
    stand_ins = (np.broadcast_to(0.0, shape) for shape in shapes)
    return np.einsum_path(equation, *stand_ins, optimize=True)[0]
