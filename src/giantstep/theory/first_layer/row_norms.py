"""Lengths of rows after a step at finite dimension: docs/theory/finite-dimension.md.

The step subtracts the network's own output from the labels. That output contains each neuron
itself, with a weight of order 1/p, and acts as noise besides. As d -> infinity neither changes a
row.
"""

from __future__ import annotations

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.activation_averages import activation_averages
from giantstep.numerics.gaussian import mean_derivatives, self_gradient
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.protocol import Protocol


def added_norms(
    protocol: Protocol, spike_strengths: Array, dimension: float, of_loss: Array
) -> Array:
    """Compute what a finite dimension adds to the squared norm of bulk rows.

    The network's own output adds
    `(g - k E[z s sigma'])^2 - g^2 + e k omega^2 (h1^4 + E s^2 E sigma'^2/alpha0)`, with
    `k = e omega^2/p`, `s = sigma - h0` and `g`, the factor by which the step stretches a row: a
    neuron's own part in the output shortens or lengthens its row; the other neurons add a part
    along the mean row, and noise. docs/theory/finite-dimension.md has the derivation.

    Steps also depend on the rows' overlap with the spike u: a neuron's step along its own weights w
    is `(b3/h1) u.w`, of variance `(b3/h1)^2 |u|^2/d` over the neurons; b3 = E sigma He_3.

    Parameters
    ----------
    protocol : Protocol
        One giant step on samples, with a uniform readout.
    spike_strengths : Array, shape (1,)
    dimension : float
        d, may be infinite: then nothing is added.
    of_loss : Array, shape (3,)
        E rho, E l'' and E l''^2 of the loss of the step.

    Returns
    -------
    Array, shape (1,)
    """
    ((omega, _),), (mean, curvature, squared) = protocol.readout, of_loss
    activation, e = lookup(protocol.activation), protocol.learning_rate / protocol.beta
    A = activation_averages(activation, np.zeros(1), 1.0).at(np.array(0))
    h1, h2 = A.slope, A.curvature
    own = self_gradient(activation) - A.mean * h2
    noise = (h1**2 + A.residual) * (h1**2 + A.variance)
    others = curvature**2 * h1**4 + squared * noise / protocol.alpha0
    k = e * omega**2 / (protocol.beta * dimension)
    g = protocol.kept + e * omega * mean * h2
    added = (g - k * curvature * own) ** 2 - g**2 + e * k * omega**2 * others
    return added + own_overlap(protocol.activation, dimension) * spike_strengths**2


def own_overlap(activation: str, dimension: float) -> float:
    """Compute `(b3/h1)^2/d`, the part of `added_norms` from overlaps, over the squared spike."""
    slope, _, third = mean_derivatives(lookup(activation), 3)[1:]
    # Without a slope there is no spike.
    return float(third / (slope or 1.0)) ** 2 / dimension
