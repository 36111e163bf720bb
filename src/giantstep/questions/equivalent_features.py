"""The question `equivalent_features`: spiked random features that a problem is equivalent to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import xarray as xr

from giantstep.problems.bulk_kind import ISOTROPIC
from giantstep.problems.formatting import written
from giantstep.problems.losses import SQUARE
from giantstep.problems.overlaps import by_groups
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.questions.arguments import DIMENSION
from giantstep.questions.case import Case
from giantstep.questions.datasets import numbered
from giantstep.questions.question import question
from giantstep.theory.first_layer.layer import layer_of
from giantstep.theory.first_layer.network_state import NetworkState
from giantstep.theory.first_layer.step import LettersState
from giantstep.validation import raise_all


@question(DIMENSION)
def equivalent_features(problem: Problem, *, dimension: float = math.inf) -> xr.Dataset:
    """Compute the spiked random features that a problem is equivalent to: Result 3.1.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    dimension : float
        As in `solve`.
    max_hours, max_memory
        As in `solve`.

    Returns
    -------
    xarray.Dataset
        The parameters of the problem, and those of `SpikedFeatures`: numbers, or over `group` for
        several groups of neurons. For a target of several directions, `alignment` is the overlap
        with their span, and `alignments` that with each. For several steps, or activations that are
        not odd, also the state after each step, over `step`; for a readout of several values this
        is the bulk variance, the spike's overlap with the target and the overlaps of all spikes.

    Raises
    ------
    InvalidParametersError
        Listing all invalid arguments.

    Examples
    --------
    >>> import giantstep
    >>> problem = giantstep.Protocol("tanh", "sin", learning_rate=3, alpha0=2, beta=1)
    >>> features = equivalent_features(problem)
    >>> features.spike_strength.round(3).item(), features.alignment.round(3).item()
    (1.389, 0.794)
    """
    raise_all(Case(problem, SQUARE, ISOTROPIC, dimension).faults())
    layer = layer_of(problem, dimension)
    srf = layer.features
    data = problem_parameters(problem).assign(_by_name(asdict(srf) | {"alignment": srf.overlap}))
    if isinstance(srf.alignment, tuple):
        data = data.assign(alignments=("direction", srf.alignments))
    data = data.assign(_by_step(layer.history, directed=isinstance(srf.alignment, tuple)))
    return numbered(data, ("step", "direction"))


def problem_parameters(problem: Problem) -> xr.Dataset:
    """Arrange a problem's own parameters: numbers, or vectors over `group`."""
    values = asdict(problem)
    if isinstance(problem, Protocol):
        values = {name: written(x) for name, x in values.items()}
    return xr.Dataset(_by_name(values))


def _by_name(values: dict[str, Any]) -> dict[str, Any]:
    """Arrange parameters: a number for one group of neurons, a vector for several."""
    return {name: _per_group(value) for name, value in values.items() if value != ()}


def _per_group(value: Any) -> tuple[tuple[str, ...], Any]:
    if not isinstance(value, tuple):
        return (), int(value) if isinstance(value, bool) else value
    array = np.array(value)
    return (("group", "spike"), array) if array.ndim == 2 else by_groups((), array, ("group",))


def _by_step(states: Sequence[NetworkState | LettersState], directed: bool) -> dict[str, Any]:
    """Arrange the state of a network after each of its steps: theory.md section 13."""
    rows = [_named(state, directed) for state in states]
    columns = {name: np.array([row[name] for row in rows]) for row in rows[:1] for name in row}
    inner = ("direction",) if directed else ("group", "other_group")
    return {f"{name}_by_step": (("step", *inner)[: x.ndim], x) for name, x in columns.items()}


def _named(state: NetworkState | LettersState, directed: bool) -> dict[str, Any]:
    """Name what a state has; the spikes of letters are in docs/theory/larger-rank-spikes.md."""
    named: dict[str, Any] = {"bulk_variance": state.bulk_variance}
    if isinstance(state, LettersState):
        return named | {"target_overlap": state.spikes[:, 0], "spike_gram": state.gram}
    gamma = state.alignment
    named |= {"spike_strength": state.spike_strength}
    named |= {"alignment": np.linalg.norm(gamma) if directed else gamma[0]}
    named |= {"mean_row": state.mean_row / state.bulk_variance}
    strength = state.spike_strength**2
    overlaps = strength * gamma**2 / (state.bulk_variance + strength)
    return named | ({"alignments": gamma, "row_overlap": overlaps} if directed else {})
