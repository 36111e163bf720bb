"""All combinations of the values of several parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

Values = Mapping[str, Sequence[Any]]


def combinations(values: Mapping[str, Iterable[Any]]) -> Iterator[dict[str, Any]]:
    """Yield all combinations of values, the last name varying fastest.

    Examples
    --------
    >>> for one in combinations({"alpha": [1, 2], "loss": ["square"], "beta": [0.5, 1]}):
    ...     print(one)
    {'alpha': 1, 'loss': 'square', 'beta': 0.5}
    {'alpha': 1, 'loss': 'square', 'beta': 1}
    {'alpha': 2, 'loss': 'square', 'beta': 0.5}
    {'alpha': 2, 'loss': 'square', 'beta': 1}
    """
    for chosen in product(*values.values()):
        yield dict(zip(values, chosen, strict=True))
