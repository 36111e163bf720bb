"""A quadrature rule over the labels of the first batch: docs/theory/trained-bulk.md.

Labels are `y = f*(s) + noise` with s ~ N(0, 1). Integrands are functions of y, times s^0, s^1 or
s^2, which vary on the scale of y itself and, near zero, on that of the damping factor
`1/(1 + sharpness y^2)`: `1/sqrt(sharpness)`.
"""

from __future__ import annotations

import math

import numpy as np

from giantstep.arrays import Array, RealOrComplex
from giantstep.numerics.complex_path import complex_path
from giantstep.numerics.function_table import ScalarFunction
from giantstep.numerics.quadrature import RANGE, split_rule, unit_edges
from giantstep.problems.readout import Vocabulary
from giantstep.theory.rows.batch_rule import NODES, residual_rule

# The rule over s has no more panels than this.
_MOST_PANELS = 600
# A smaller sharpness is treated as this one, at which the damping is smooth.
_LEAST_SHARPNESS = 1e-2
# Nodes on each part of the distribution of labels.
_NODES = 12
# On the path, rarer labels are left out.
_RARE = 1e-10


def label_rule(
    target: ScalarFunction,
    noise_levels: Vocabulary,
    sharpness: float,
    fineness: int = 1,
    on_path: bool = False,
) -> tuple[RealOrComplex, RealOrComplex]:
    """Build nodes and weights of E[s^j g(y)], j = 0, 1, 2.

    Parameters
    ----------
    target : ScalarFunction
    noise_levels : tuple of (variance, fraction)
        The labels' noise.
    sharpness : float
    fineness : int
        Multiplies the number of nodes.
    on_path : bool
        Whether labels are on `complex_path`.

    Returns
    -------
    y : array, shape (N,)
    weights : array, shape (3, N)
    """
    width = 1 / math.sqrt(max(sharpness, _LEAST_SHARPNESS))
    s, weight = split_rule(_edges(target, width), fineness)
    of_nodes = complex_path(s, target.value(s)) if on_path else (s, np.ones(1), target.value(s))
    moved, factors, y = of_nodes
    powers = weight * factors * moved ** np.arange(3)[:, None]
    kept = weight > _RARE * on_path
    nodes = NODES if on_path else _NODES * fineness
    y, weights = residual_rule(noise_levels, y[None, kept], powers[:, None, kept], width, nodes)
    return y[0], weights[:, 0]


def _edges(target: ScalarFunction, width: float) -> Array:
    """Place panels of s on each of which g(f*(s)) varies little.

    Around f* = 0 it varies on the scale `width` of f*, farther away on that of f* itself.
    """
    grid = np.linspace(-RANGE, RANGE, 20_001)
    steepness = np.abs(target.derivative(grid))
    panels = 1 + steepness / np.maximum(np.abs(target.value(grid)) / 2, width)
    count = np.cumsum(panels) * (grid[1] - grid[0])
    wanted = np.arange(count[0], count[-1], max(1.0, (count[-1] - count[0]) / _MOST_PANELS))
    return unit_edges(np.concatenate([target.kinks, np.interp(wanted, count, grid)]))
