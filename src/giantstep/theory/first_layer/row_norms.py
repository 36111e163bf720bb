"""Lengths of rows after a step at finite dimension: docs/theory/finite-dimension.md.

The step subtracts the network's own output from the labels. That output contains each neuron
itself, with a weight of order 1/p, and acts as noise besides. As d -> infinity neither changes a
row.
"""

from __future__ import annotations

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.gaussian import (
    derivative_variance,
    mean_derivatives,
    self_gradient,
    standard_moments,
)
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.protocol import Protocol


def own_output_norms(
    protocol: Protocol,
    dimension: float,
    mean: float = 0.0,
    curvature: float = 1.0,
    squared: float = 1.0,
) -> Array:
    """Compute what the network's own output adds to the squared norm of bulk rows, by letters.

    `(g - k E[z s sigma'])^2 - g^2 + e k E omega^2 (h1^4 + E s^2 E sigma'^2/alpha0)`, with `k = e
    omega^2/p`, `s = sigma - h0` and `g`, the factor by which the step stretches a row: a neuron's
    own part in the output shortens or lengthens its row; the other neurons add a part along the
    mean row, and noise. docs/theory/finite-dimension.md has the derivation.

    Parameters
    ----------
    protocol : Protocol
        Of one giant step on samples, with a uniform readout unless the activation is odd.
    dimension : float
        d, may be infinite: then nothing is added.
    mean, curvature, squared : float
        E rho, E l'' and E l''^2 of the loss of the step; by default those of the square loss, for
        an odd activation, of which E rho does not matter.

    Returns
    -------
    Array, shape (G,)
    """
    letters, fractions = np.array(protocol.readout).T
    activation, e = lookup(protocol.activation), protocol.learning_rate / protocol.beta
    h0, h1, h2 = mean_derivatives(activation, 2)
    derivative_power = derivative_variance(activation) + h1**2
    own, power = self_gradient(activation) - h0 * h2, standard_moments(activation).second - h0**2
    others = curvature**2 * h1**4 + squared * power * derivative_power / protocol.alpha0
    k = e * letters**2 / (protocol.beta * dimension)
    g = protocol.kept + e * letters * mean * h2
    return (g - k * curvature * own) ** 2 - g**2 + e * k * float(fractions @ letters**2) * others


def coupled_norms(protocol: Protocol, spike_strengths: Array, dimension: float) -> Array:
    """Compute the mean squared length that rows gain because steps depend on their overlap with v.

    A neuron's step along its own weights w is `(b3/h1) u.w` for a spike u, of variance
    `(b3/h1)^2 |u|^2/d` over the neurons; b3 = E sigma He_3.
    """
    activation = lookup(protocol.activation)
    h1 = float(standard_moments(activation).slope) or 1.0  # without a slope there is no spike
    return (mean_derivatives(activation, 3)[3] / h1 * spike_strengths) ** 2 / dimension
