"""The parameters of a problem and of its equivalent spiked random features (Result 3.1)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import xarray as xr

from giantstep.pipeline.stages.problem_parameters import features_parameters
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.theory.features.equivalent_features import equivalent_features
from giantstep.theory.features.several_steps import NetworkState, network_states

TITLE = "Spiked random features equivalent to the problem"


def compute(problem: Problem, dimension: float = math.inf) -> xr.Dataset:
    """Compute the equivalent spiked features, as scalars beside the problem's own parameters.

    For several steps, or activations that are not odd, also the state after each step, over `step`.
    """
    parameters = features_parameters(problem, equivalent_features(problem, dimension))
    if isinstance(problem, Protocol) and not problem.as_in_paper:
        states = network_states(problem.with_giant_step(dimension))
        return parameters.merge(states_parameters(states))
    return parameters


def states_parameters(states: Sequence[NetworkState]) -> xr.Dataset:
    """Arrange the state of a network after each of its steps: theory.md section 13."""
    alignments = np.array([np.atleast_1d(state.alignment) for state in states])
    values = {
        "bulk_variance_by_step": [state.bulk_variance for state in states],
        "spike_strength_by_step": [state.spike_strength for state in states],
        "alignment_by_step": [_in_span(state.alignment) for state in states],
        "mean_row_by_step": [state.mean_row / state.bulk_variance for state in states],
    }
    pairs = ("step", "row_projection", "other_row_projection")
    covariance = np.stack([state.covariance for state in states])
    projections = _row_projections(alignments.shape[1])
    found = xr.Dataset(
        {name: ("step", value) for name, value in values.items()}
        | {"row_covariance_by_step": (pairs, covariance)},
        coords={"step": np.arange(1, len(states) + 1), **dict.fromkeys(pairs[1:], projections)},
    )
    if not isinstance(states[0].alignment, tuple):
        return found
    shares = [state.row_overlaps() for state in states]
    return found.assign(
        alignments_by_step=(("step", "direction"), alignments),
        row_overlap_by_step=(("step", "direction"), shares),
        direction=np.arange(1, alignments.shape[1] + 1),
    )


def _in_span(alignment: float | tuple[float, ...]) -> float:
    """Return the overlap of the spike with the target's direction, or with the span of several."""
    return float(np.linalg.norm(alignment)) if isinstance(alignment, tuple) else alignment


def _row_projections(directions: int) -> list[str]:
    """Name what Sigma is the covariance of, over the rows of the bulk."""
    across = ["across spike"]
    if directions > 1:
        across = [f"across spike, direction {k + 1}" for k in range(directions)]
    return ["along spike", *across, "norm"]
