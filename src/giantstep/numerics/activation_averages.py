"""Averages under N(0, 1) of a function and of its derivatives at many means."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array, Indices
from giantstep.numerics.function_table import ScalarFunction
from giantstep.numerics.gaussian import gaussian_rule


class ActivationAverages(NamedTuple):
    """Averages over z ~ N(0, 1) of the activation at shift + sqrt(c) z, arrays of shape (N,).

    Attributes
    ----------
    mean, slope, curvature, third : Array
        E sigma, and A_0 ... A_2: E sigma', E sigma'', and so on.
    residual : Array
        The variance of sigma that is not linear in z.
    variance : Array
        A_v = Var sigma'.
    fourth : Array
        A_3.
    variance_along : Array
        Its derivative by the shift, 2 (E sigma' sigma'' - A_0 A_1).
    variance_with_norm : Array
        c times its derivative by c, c (E[sigma''^2 + sigma' sigma^(3)] - A_0 A_2).
    cube, fourth_power, cube_along : Array
        E s^3, E s^4 and sqrt(c) E z s^3, with s = sigma' - E sigma'.
    """

    mean: Array
    slope: Array
    curvature: Array
    third: Array
    residual: Array
    variance: Array
    fourth: Array
    variance_along: Array
    variance_with_norm: Array
    cube: Array
    fourth_power: Array
    cube_along: Array

    @property
    def of_letters(self) -> tuple[Array, ...]:
        """Those that steps of several letters need: the first six, without what norms need."""
        return self[:6]

    def at(self, nodes: Indices) -> ActivationAverages:
        """Select some of the means."""
        return ActivationAverages(*(values[nodes] for values in self))


def activation_averages(
    activation: ScalarFunction, shift: Array, std: float, fineness: float = 1, panel: float = 1
) -> ActivationAverages:
    """Average an activation by parts (Stein's lemma): no derivative but sigma' is needed.

    Parameters
    ----------
    activation : ScalarFunction
    shift : Array, shape (N,)
    std : float
        sqrt(c).
    fineness, panel : float
        Factor on the number of nodes over z, and width of their panels.
    """
    z, weight = gaussian_rule(activation, shift, std, fineness, panel)
    points = shift[:, None] + std * z
    values = activation.value(points)
    zeroth, first, second, third, fourth = _moments(weight * values, z, 5)
    values -= zeroth[:, None] + first[:, None] * z
    hermite = zeroth, first, second - zeroth, third - 3 * first, fourth - 6 * second + 3 * zeroth
    mean, slope, curvature, third, fourth = (average / std**k for k, average in enumerate(hermite))
    fluctuation = activation.derivative(points) - slope[:, None]
    squared = weight * fluctuation**2
    variance, along, with_norm = _moments(squared, z, 3)
    cube, cube_along = _moments(squared * fluctuation, z, 2)
    (residual,) = _moments(weight * values**2, z, 1)
    fourth_power = np.einsum("nz,nz->n", squared, fluctuation**2)
    return ActivationAverages(
        mean, slope, curvature, third, residual, variance,
        fourth, along / std, (with_norm - variance) / 2,
        cube, fourth_power, std * cube_along,
    )  # fmt: skip


def _moments(weighted: Array, z: Array, count: int) -> list[Array]:
    """Sum weighted values, shape (N, Z), times z^k over the nodes, k = 0 ... count - 1."""
    powers = [np.ones_like(z)]
    while len(powers) < count:
        powers.append(powers[-1] * z)
    return [np.einsum("...z,...z->...", weighted, power) for power in powers]
