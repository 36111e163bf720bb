"""The test error over two parameters of a protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from giantstep.arrays import Array
from giantstep.problems.bulk_kind import ISOTROPIC
from giantstep.problems.protocol import Protocol
from giantstep.theory.readout.solve import Solver

# Solved together, for each protocol; other parameters make protocols of their own.
_POINTS = ("alpha", "ridge")


def error_map(
    problem: Protocol,
    axes: Mapping[str, Sequence[float]],
    alpha: float,
    ridge: float,
    bulk: str = ISOTROPIC,
) -> Array:
    """Solve the theory for all combinations of the values of some parameters.

    Parameters
    ----------
    problem : Protocol
        Everything that does not vary.
    axes : mapping of str to sequence of float
        Numbers of the protocol, or "alpha" or "ridge", with their values.
    alpha, ridge : float
        Where they do not vary.
    bulk : str
        As in `solve`.

    Returns
    -------
    Array
        Test errors, with one dimension for each axis, in their order; NaN where the theory failed.

    Examples
    --------
    >>> problem = Protocol("tanh", "sin", learning_rate=3, alpha0=2, beta=1)
    >>> error_map(problem, {"learning_rate": (1, 3), "alpha": (1, 2, 3)}, 1, 0.1).shape
    (2, 3)
    """
    values = {"alpha": (alpha,), "ridge": (ridge,)} | dict(axes)
    outer = [name for name in values if name not in _POINTS]
    points = np.meshgrid(*(np.array(values[name], dtype=float) for name in _POINTS), indexing="ij")
    protocols = [len(values[name]) for name in outer]
    errors = np.empty((*protocols, *points[0].shape))
    for place in np.ndindex(*protocols):
        chosen = {name: values[name][k] for name, k in zip(outer, place, strict=True)}
        one = replace(problem, **chosen)  # type: ignore[arg-type]
        errors[place] = Solver(one, bulk).solve(*points).test_error
    order = [*outer, *_POINTS]
    kept = [order.index(name) for name in axes]
    single = [k for k, name in enumerate(order) if name not in axes]
    arranged: Array = errors.transpose(*kept, *single)
    return arranged.reshape(arranged.shape[: len(kept)])
