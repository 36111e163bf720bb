"""Quadrature rules over the input's projections on the spikes, and features that none resolves."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.gaussian import LONGEST_TAIL, tail
from giantstep.numerics.linear_systems import TINY
from giantstep.numerics.quadrature import (
    RANGE,
    WIDE,
    merged_edges,
    smooth_rule,
    split_rule,
    with_product,
)
from giantstep.numerics.scalar_functions import lookup
from giantstep.numerics.transitions import Transition, edges_around, trapezoidal_rule
from giantstep.problems.problem import Problem
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.problems.targets import target_function, teacher_of
from giantstep.validation import Fault, InvalidParametersError, refusal

# From a problem and what multiplies the number of nodes to nodes, shape (N,), and their weights.
KappaRule = Callable[[SpikedFeatures, float], tuple[Array, Array]]

# Panels over kappa follow the scale of an oscillating activation: at this one there are a million
# nodes. An analytic activation has nodes over z in proportion to the root of the bulk's variance:
# 10^5 at this one.
_FINEST_KAPPA, _LARGEST_VARIANCE = 2e-4, 2e6
# Up to this size fourth powers of features are finite.
_LARGEST_FEATURE = 1e60
# Most nodes over the projections on several directions, before those of little weight are left out.
_MOST_NODES = 5e7
# The tails of moments of smaller features need no check.
_LARGE_FEATURE = 1e6


def merged_panels(
    srf: SpikedFeatures, fineness: float, panel: float = 1, *further: Transition
) -> tuple[Array, Array]:
    """Choose a rule over kappa with panels `panel` times as wide as the nearest transition.

    With `panel` = 2 averages are accurate to 1e-10, with 1 to rounding. The rule resolves further
    transitions, too.
    """
    edges = edges_around([*_of_target(srf), *_of_features(srf), *further], panel)
    return split_rule(merged_edges(edges, panel), fineness)


wide_panels: KappaRule = partial(merged_panels, panel=WIDE)


def fewest_nodes(
    srf: SpikedFeatures, fineness: float, panel: float = 1, *further: Transition
) -> tuple[Array, Array]:
    """Choose a trapezoidal rule nearly as accurate as `merged_panels`, or these.

    Panels are short near transitions only, and have fewer nodes if transitions are narrow.
    """
    rule = _trapezoidal_rule(srf, fineness, panel, *further)
    return rule or merged_panels(srf, fineness, panel, *further)


def _trapezoidal_rule(
    srf: SpikedFeatures, fineness: float, panel: float, *further: Transition
) -> tuple[Array, Array] | None:
    """Choose the rule of `fewest_nodes`, unless its step would be short.

    Errors contain 1/(1 + V), which has poles as near the axis as features have transitions.
    """
    # The digits of the error, relative to those of unit panels.
    digits = fineness * math.asinh(2 / panel) / math.asinh(2)
    nearest = min(one.scale for one in _of_features(srf))
    return trapezoidal_rule(nearest, [*_of_target(srf), *further], digits)


def _of_features(srf: SpikedFeatures) -> list[Transition]:
    """List the transitions of features along kappa."""
    activation, groups = lookup(srf.activation), zip(*srf.groups, strict=True)
    return [Transition(activation, np.array(b), u, math.sqrt(c)) for c, u, _, b in groups]


def _of_target(srf: SpikedFeatures) -> list[Transition]:
    """List that of the target, unless it is a polynomial, which needs no nodes of its own."""
    if teacher_of(srf.target) is not None:
        return []
    target, gamma = target_function(srf.target, srf.inputs), srf.first_alignment
    return [Transition(target, np.zeros(()), gamma, math.sqrt(1 - gamma**2))]


def spike_rule(
    srf: SpikedFeatures, fineness: float = 1, rule: KappaRule = merged_panels
) -> tuple[Array, Array, Array]:
    """Choose a quadrature rule over the projections on all directions of the spikes.

    Parameters
    ----------
    srf : SpikedFeatures
    fineness : float
        Multiplies the number of nodes.
    rule : callable
        The rule if there is one spike.

    Returns
    -------
    kappa, beside, weight : Array, shape (N,), (r - 1, N) and (N,)
    """
    if not srf.further_spikes:
        kappa, weight = rule(srf, fineness)
        return kappa, np.empty((0, kappa.size)), weight
    # Where a feature varies along one direction depends on the others.
    smooth = 0.0 if lookup(srf.activation).kinks else 1.0
    widths = np.hypot(np.sqrt(srf.groups.c), smooth)
    u = np.column_stack([srf.groups.u, srf.beside])
    scales = np.min(widths[:, None] / np.maximum(np.abs(u), TINY), axis=0)
    edges = edges_around(_of_target(srf))
    finer, panel = (1 + fineness) / 2, WIDE * min(1.0, scales[0])
    first = _trapezoidal_rule(srf, finer, WIDE) or split_rule(merged_edges(edges, panel), finer)
    others = smooth_rule(np.minimum(scales[1:], 1.0), finer)
    if first[0].size * others[0].size > _MOST_NODES:
        allowed = "smaller, for averages over the directions of several spikes"
        raise refusal("spike_strength", srf.spike_strength, allowed)
    return with_product(first, others)


def check_resolution(problem: Problem, srf: SpikedFeatures) -> None:
    """Refuse features that vary on so small a scale that quadrature would need too many nodes.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
        What was given.
    srf : SpikedFeatures
        Those equivalent to it.

    Raises
    ------
    InvalidParametersError
        For the problem's own parameters.
    """
    if fault := _resolution_fault(srf):
        if problem.has_steps and fault.name != "activation":
            allowed = (
                f"smaller, or beta or alpha0 larger: {fault.name} is {fault.value:.3g} after the"
                f" step, and must be {fault.allowed}"
            )
            fault = Fault("learning_rate", vars(problem)["learning_rate"], allowed)
        raise InvalidParametersError([fault])


@lru_cache(maxsize=16)
def _resolution_fault(srf: SpikedFeatures) -> Fault | None:
    function = lookup(srf.activation)
    for c, u, _, b in zip(*srf.groups, strict=True):
        scale = math.sqrt(c + 1) / abs(u) if u else 1.0
        if function.oscillates and scale < _FINEST_KAPPA:
            allowed = f"small enough that {function.name} varies slowly along the spike"
            return Fault("spike_strength", float(u), allowed)
        if function.degree is None and function.strip and c > _LARGEST_VARIANCE:
            allowed = f"at most {_LARGEST_VARIANCE:g} for {function.name}"
            return Fault("bulk_variance", float(c), allowed)
        with np.errstate(all="ignore"):
            largest = function.value(np.array([-1, 1]) * (abs(b) + RANGE * (abs(u) + math.sqrt(c))))
        size, length = float(np.max(np.abs(largest))), abs(b) + math.hypot(u, math.sqrt(c))
        if not size < _LARGEST_FEATURE:
            allowed = f"such that features stay below {_LARGEST_FEATURE:g}: use smaller weights"
            return Fault("activation", srf.activation, allowed)
        large = function.degree is None and size > _LARGE_FEATURE
        if large and tail(function.value, length) > LONGEST_TAIL:
            allowed = "of slower growth (or weights smaller), for moments of features to be exact"
            return Fault("activation", srf.activation, allowed)
    return None
