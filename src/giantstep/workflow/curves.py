"""The figures of a configuration, as curves and as the tasks that compute them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from giantstep.problems.problem import Problem
from giantstep.questions.task import Task


@dataclass(frozen=True)
class Curve:
    """One curve of a figure.

    Attributes
    ----------
    name, panel : str
    problem : Protocol or SpikedFeatures
    bulk, loss : str
        Of the theory, and of the readouts.
    dimension : int
        Of its simulations; 0 if there are none.
    theory : mapping of str to Task
        By role: "parameters" (the equivalent spiked random features), "limit" and "finite" (on the
        curve's grid), "limit_optimal" and "finite_optimal" (at the best ridges), "limit_learned"
        and "finite_learned" (functions), "references", "dimensions", "learning_rates" (a sweep over
        learning rates and steps), "spectrum" and "finite_spectrum" (with the outliers at the
        dimension), "map" (a sweep over the two parameters of the map, that of the rows first, with
        all gains).
    networks : mapping of str to Task
        By role: "replicates" and "eigenvalues"; no role of the theory has the same name. Their
        argument `networks` holds all indices of network replicates, which are split over shards.
    """

    name: str
    panel: str
    problem: Problem
    bulk: str
    loss: str
    dimension: int
    theory: Mapping[str, Task]
    networks: Mapping[str, Task]


@dataclass(frozen=True)
class Figure:
    """One figure: its YAML, and its curves.

    Attributes
    ----------
    name : str
    config : mapping
        Its YAML, checked.
    curves : tuple of Curve
    """

    name: str
    config: Mapping[str, Any]
    curves: tuple[Curve, ...]
