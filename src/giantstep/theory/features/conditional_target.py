"""The target given the input's projection kappa on the spike: theory.md sections 4 and 13.

A target depends on the projections z = theta_k.x of the input on its D directions, one for a
scalar function. If `alignment` is the overlap a of the spike with each of them,
`z = a kappa + B u`, where u are the projections on D unit vectors across the spike. They are the
directions made orthogonal to the spike and to one another, symmetrically: `B B = 1 - a a^T`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.gaussian import moments
from giantstep.numerics.linear_systems import TINY
from giantstep.numerics.quadrature import WIDE_PANELS, product_rule, split_rule, unit_edges
from giantstep.numerics.scalar_functions import CLASS
from giantstep.problems.inputs import mixture_mean
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.problems.targets import target_function, teacher_of

# A shorter part of the target's direction across the spikes is treated as zero.
ALIGNED = 1e-7


class TargetRule(NamedTuple):
    """A rule over u given kappa that averages up to four powers of the label.

    Attributes
    ----------
    labels : Array, shape (N, Z)
        Noiseless.
    u : Array, shape (D, N or 1, Z)
    weight : Array, shape (N or 1, Z)
    """

    labels: Array
    u: Array
    weight: Array


def across_basis(alignments: Array) -> Array:
    """Compute B, the symmetric square root of `1 - a a^T`, shape (D, D)."""
    size = float(np.linalg.norm(alignments))
    unit = alignments / size if size > 0 else alignments
    rho = math.sqrt(max(0.0, (1 - size) * (1 + size)))
    return np.eye(alignments.size) - (1 - rho) * np.outer(unit, unit)


def first_direction_across(srf: SpikedFeatures) -> Array:
    """Find the unit vector, in u, of the part of the first direction across the spike.

    It is zero if there is none.
    """
    first: Array = across_basis(srf.alignments)[0]
    size = float(np.linalg.norm(first))
    return np.divide(first, size) if size > 0 else first


def sign_threshold(srf: SpikedFeatures, kappa: Array) -> Array:
    """Compute minus the least u of positive labels given kappa, for targets of +1 and -1.

    For inputs of class +1 of a mixture.
    """
    if srf.target == CLASS:  # of one class all labels are the same
        return np.full(kappa.shape, np.inf)
    mean, gamma = mixture_mean(srf.inputs) or 0.0, srf.first_alignment
    with np.errstate(divide="ignore"):
        return (mean + gamma * kappa) / math.sqrt(1 - gamma**2)


def rule_across(
    srf: SpikedFeatures,
    kappa: Array,
    fineness: float = 1,
    panel: float = 1.0,
    jumps: Array | None = None,
    nodes: int = 0,
) -> TargetRule:
    """Choose a rule over u, for labels that are not reversed.

    For a target of one direction it splits at the kinks of `sigma*(gamma kappa + rho u)`. Panels
    are `panel` wide, or narrower, and end where the argument of the target is one of the `jumps`,
    shape (N, J), as well. For a teacher it has at least so many `nodes` over each direction.
    """
    teacher, gamma = teacher_of(srf.target), srf.first_alignment
    if teacher and not (nodes and teacher.directions == 1):
        # It averages four powers of a label, times two of u.
        u, weight = product_rule(teacher.directions, max(nodes, 2 * teacher.degree + 2))
        return _rule_on(srf, kappa, u[None], weight[None])
    if gamma**2 == 1:  # labels do not depend on u
        return _rule_on(srf, kappa, np.array([[[-1.0], [1.0]]]), np.full((1, 2), 0.5))
    ends = np.array(() if teacher else target_function(srf.target, srf.inputs).kinks)
    if jumps is not None:
        ends = np.hstack([np.tile(ends, (kappa.size, 1)), jumps])
    kinks = (ends - gamma * kappa[:, None]) / math.sqrt(1 - gamma**2)
    z, weight = split_rule(unit_edges(kinks if ends.size else np.empty((1, 0)), panel), fineness)
    return _rule_on(srf, kappa, z[..., None], weight)


def _rule_on(srf: SpikedFeatures, kappa: Array, u: Array, weight: Array) -> TargetRule:
    """Evaluate labels at projections u, shape (N or 1, Z, D)."""
    teacher = teacher_of(srf.target)
    along = np.multiply.outer(kappa, srf.alignments)[:, None]
    z = along + np.tensordot(u, across_basis(srf.alignments), axes=1)
    if teacher:
        labels = teacher.value(z.reshape(-1, teacher.directions)).reshape(z.shape[:2])
    else:
        labels = target_function(srf.target, srf.inputs).value(z[..., 0])
    return TargetRule(labels, np.moveaxis(u, -1, 0), weight)


def target_rule(
    srf: SpikedFeatures, kappa: Array, fineness: float = 1, panel: float = 1.0, nodes: int = 0
) -> TargetRule:
    """Choose the rule of `rule_across`, over labels as they are and reversed."""
    rule, flips = rule_across(srf, kappa, fineness, panel, nodes=nodes), srf.label_flips
    if flips == 0:
        return rule
    return TargetRule(
        np.concatenate([rule.labels, -rule.labels], axis=1),
        np.concatenate([rule.u, rule.u], axis=2),
        np.concatenate([(1 - flips) * rule.weight, flips * rule.weight], axis=1),
    )


def label_kurtosis(srf: SpikedFeatures) -> float:
    """Compute the labels' fourth moment, noise apart, over their mean square squared."""
    across = replace(srf, alignment=(0.0,) * srf.alignments.size)  # labels are functions of u alone
    labels, _, weight = target_rule(across, np.zeros(1))
    square, fourth = (np.sum(labels**k * weight) for k in (2, 4))
    return float(fourth / max(square**2, TINY))


def rule_on_panels(srf: SpikedFeatures, kappa: Array, nodes: int) -> TargetRule:
    """Choose a rule over u with a panel after the other along its first direction.

    Labels have a shape (N, O, Z), where O counts the `nodes` over all other directions.
    """
    teacher = teacher_of(srf.target)
    if teacher is None or teacher.directions == 1:
        labels, u, weight = rule_across(srf, kappa, nodes=1)
        return TargetRule(labels[:, None], u[:, :, None], weight[:, None])
    z, weight = WIDE_PANELS
    others, share = product_rule(teacher.directions - 1, nodes // (teacher.directions - 1))
    u = np.column_stack([np.tile(z, len(others)), np.repeat(others, z.size, axis=0)])
    labels = _rule_on(srf, kappa, u[None], weight).labels
    weights = np.outer(share, weight)[None]
    return TargetRule(labels.reshape(kappa.size, -1, z.size), z[None, None, None], weights)


def conditional_target(
    srf: SpikedFeatures, kappa: Array, fineness: float = 1
) -> tuple[Array, Array, Array]:
    """Compute the target's mean and slopes given kappa, and the variance of what is left.

    Slopes, of shape (D, N), are E[u target | kappa].
    """
    kappa, place = np.unique(kappa, return_inverse=True)  # of several spikes, many are the same
    teacher = teacher_of(srf.target)
    if teacher is None:
        target, gamma = target_function(srf.target, srf.inputs), srf.first_alignment
        of_one = moments(target, gamma * kappa, math.sqrt(1 - gamma**2), fineness)
        return of_one.mean[place], of_one.slope[None, place], of_one.residual[place]
    nodes, share = product_rule(teacher.directions, teacher.degree + 2)  # for squares of a label
    labels, u, weight = _rule_on(srf, kappa, nodes[None], share[None])
    mean, slopes = labels @ weight[0], (weight * u[:, 0]) @ labels.T
    rest = labels - mean[:, None] - slopes.T @ u[:, 0]
    return mean[place], slopes[:, place], (rest**2 @ weight[0])[place]
