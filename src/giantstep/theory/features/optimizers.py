"""Steps by the signs of the gradient's entries: docs/sign-descent.md.

The sign of a Gaussian entry is a
multiple of the entry, which makes a step of plain descent, and a rest that is not correlated with
it: noise of each neuron's own, and what it adds to the spike, since the mean of a sign over the
neurons is no linear function of the mean of the gradient.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from giantstep.arrays import Array
from giantstep.problems.protocol import SGD, Protocol
from giantstep.problems.readout import UNIFORM
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.network_state import NetworkState, check_weights
from giantstep.theory.features.steps import next_step

# E |z|: of a unit of the step's length, what is along the gradient.
_ALONG_GRADIENT = math.sqrt(2 / math.pi)


def plain_descent(problem: Protocol) -> Protocol:
    """State the pretraining whose step by plain descent is the part of its step along the gradient.

    Examples
    --------
    >>> problem = Protocol("tanh", "sin", 1, alpha0=4, beta=0.5, optimizer="sign")
    >>> round(plain_descent(problem).learning_rate, 4)
    1.8542
    """
    problem = problem.pretraining
    if problem.optimizer == SGD:
        return problem
    readout, odd = problem.readout, problem.as_in_paper
    # For an odd activation the gradient is proportional to the letter.
    length = _gradient_length(replace(problem, readout=UNIFORM) if odd else problem)
    if odd:
        readout = tuple((float(np.sign(letter)), fraction) for letter, fraction in readout)
    rate = _ALONG_GRADIENT * problem.learning_rate / length if length > 0 else 0.0
    return replace(problem, learning_rate=rate, readout=readout, optimizer=SGD)


def _gradient_length(protocol: Protocol) -> float:
    """Compute the length of a row of the first gradient, times p: that of its step for e = 1."""
    if protocol.alpha0 == 0:
        return 0.0
    unit = replace(protocol, optimizer=SGD, learning_rate=protocol.beta, steps=1)
    step = next_step(unit, NetworkState.at_initialisation(unit.target), 1)
    noise = step.bulk_variance - step.growth**2
    return math.sqrt(float(step.spike() @ step.spike()) + (step.growth - 1) ** 2 + noise)


def with_signs(srf: SpikedFeatures, protocol: Protocol) -> SpikedFeatures:
    """Compute the features after a step by signs from those after its part along the gradient.

    Over the neurons an entry of the gradient is Gaussian around a mean, and over the entries the
    mean is Gaussian. Of a squared length of one, the mean sign has `2/pi arcsin(x)`, where x is
    the share of the means in the gradient. Its direction is that of the mean gradient with noise
    of its own.

    Raises
    ------
    InvalidParametersError
        If the step is too large.
    """
    e, u = protocol.learning_rate / protocol.beta, srf.groups.u
    moved = (np.array(protocol.readout)[:, 0] != 0) * e**2
    if protocol.alpha0 == 0 or not np.any(moved):
        return srf
    share = np.minimum((u / (_ALONG_GRADIENT * e)) ** 2, 1)
    strength = np.copysign(e * np.sqrt(np.arcsin(share) * 2 / math.pi), u)
    c = srf.groups.c + moved * (1 - _ALONG_GRADIENT**2) - (strength**2 - u**2)
    check_weights(protocol, float(c.max()), float(np.abs(strength).max()))
    largest = np.argmax(np.abs(u))
    narrower = float(u[largest] / strength[largest]) if u[largest] else 1.0
    return with_rows(srf, c, strength, narrower)


def with_rows(srf: SpikedFeatures, c: Array, u: Array, share: float) -> SpikedFeatures:
    """Replace the rows; of the spikes' direction, a share (a cosine) is that of before."""
    alignment = tuple(share * srf.alignments)
    return replace(srf, bulk_variance=tuple(c), spike_strength=tuple(u), alignment=alignment)
