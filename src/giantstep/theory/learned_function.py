"""The function that a network has learned along the target: theory.md section 7."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import reduce

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.quadrature import split_rule, unit_edges
from giantstep.numerics.scalar_functions import lookup
from giantstep.numerics.transitions import Transition
from giantstep.problems.inputs import GAUSSIAN, mixture_mean
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.conditional_features import conditional_moments


def learned_function(
    srf: SpikedFeatures, m: Array, zeta: Array, psi: Array, s: Array, xi: Array | None = None
) -> Array:
    """Compute the mean output of the trained network at `theta . x = s`.

    For a target of several directions theta is the first of them.

    `F(s) = E_t [sum mu0(kappa) m + mu1(kappa) (kappa zeta + z psi)]` with
    `kappa = gamma s + rho t`, `z = rho s - gamma t`, t ~ N(0, 1); theory.md section 7. If the norms
    of the neurons depend on their overlap with the spike, `E sigma'' xi` is added.

    Parameters
    ----------
    srf : SpikedFeatures
    m, zeta, psi : Array, shape (..., G)
        Overlaps of the readout, as in `Columns`.
    s : Array, shape (M,)
    xi : Array, shape (..., G), optional
        Overlaps with the change of the neurons' norms; by default zero.

    Returns
    -------
    Array, shape (..., M)

    Examples
    --------
    >>> import numpy as np
    >>> from giantstep import SpikedFeatures
    >>> from giantstep.problems.grid import Grid
    >>> from giantstep.theory.readout.solve import solve
    >>> srf = SpikedFeatures("tanh", "sign", 1.2, spike_strength=2, alignment=0.9, beta=1)
    >>> solution = solve(srf, Grid(alpha=(2.0,), ridge=(0.1,)))
    >>> s = np.array([0.1, 0.5, 1.0])
    >>> learned_function(srf, solution.m, solution.zeta, solution.psi, s)[0, 0].round(3)
    array([0.12 , 0.56 , 0.928])
    """
    if srf.further_spikes:  # averaged over their directions, of which the target has no part
        c = srf.groups.c + np.sum(srf.beside**2, axis=1)
        srf = replace(srf, bulk_variance=tuple(c), further_spikes=())
    if mixture_mean(srf.inputs) is not None:  # the same, given the projection
        srf = replace(srf, target="linear", inputs=GAUSSIAN)
    overlaps = [m, zeta, psi] if xi is None or not np.any(xi) else [m, zeta, psi, xi]
    return reduce(np.add, map(np.matmul, overlaps, _averages(srf, s)))


def _averages(srf: SpikedFeatures, s: Array) -> Array:
    """Compute the factors of the overlaps m, zeta, psi and xi, shape (4, G, M)."""
    gamma = srf.first_alignment
    rho = math.sqrt(1 - gamma**2)
    t, weight = _rule(srf, s, rho)
    kappa, z = gamma * s[:, None] + rho * t, rho * s[:, None] - gamma * t
    mu0, mu1, _, curvature = conditional_moments(srf, kappa)
    functions = mu0, kappa * mu1, z * mu1, curvature
    return np.array([np.sum(weight * values, axis=-1) for values in functions])


def _rule(srf: SpikedFeatures, s: Array, rho: float) -> tuple[Array, Array]:
    """Choose nodes and weights over t, shape (M, N), that resolve the features' transitions."""
    if rho == 0:
        return np.zeros((s.size, 1)), np.ones((s.size, 1))
    function, edges = lookup(srf.activation), [np.zeros((s.size, 1))]
    for c, u, _, b in zip(*srf.groups, strict=True):
        mean = b + u * srf.first_alignment * s
        edges += Transition(function, mean, u * rho, math.sqrt(c)).edges()
    return split_rule(unit_edges(np.concatenate(edges, axis=1)))
