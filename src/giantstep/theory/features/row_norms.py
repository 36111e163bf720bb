"""How the network's own output changes the norms of its rows at finite width.

The step takes the network's own output off the labels. That output contains each neuron itself,
with a weight of order 1/p, and it is noise besides. As d -> infinity neither changes a row's norm.
"""

from __future__ import annotations

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.gaussian import derivative_variance, self_gradient, standard_moments
from giantstep.numerics.scalar_functions import ScalarFunction, lookup
from giantstep.problems.protocol import Protocol


def own_output_norms(protocol: Protocol, dimension: float) -> Array:
    """Compute what the own output adds to the squared norm of a row of the bulk, by letters.

    `(1 - k E[z sigma sigma'])^2 - 1 + e k E omega^2 (h1^4 + E sigma^2 E sigma'^2/alpha0)`, with
    `k = e omega^2/p`: a neuron's own part in the output shortens its row or makes it longer; the
    other neurons add a part along the mean row, and noise. docs/finite-size.md.

    Parameters
    ----------
    protocol : Protocol
        Of one giant step.
    dimension : float
        d, may be infinite: then nothing is added.

    Returns
    -------
    Array, shape (G,)
    """
    letters, fractions = np.array(protocol.readout).T
    if np.isinf(dimension) or protocol.alpha0 == 0:
        return np.zeros(letters.size)
    activation, e = lookup(protocol.activation), protocol.learning_rate / protocol.beta
    own, (h1, power) = self_gradient(activation), _slope_and_power(activation)
    others = h1**4 + power * (derivative_variance(activation) + h1**2) / protocol.alpha0
    k = e * letters**2 / (protocol.beta * dimension)
    added: Array = (1 - k * own) ** 2 - 1 + e * k * float(fractions @ letters**2) * others
    return added


def _slope_and_power(activation: ScalarFunction) -> tuple[float, float]:
    """Compute E z sigma and E sigma^2."""
    found = standard_moments(activation)
    return float(found.slope), float(found.second)
