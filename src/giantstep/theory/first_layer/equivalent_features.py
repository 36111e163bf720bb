"""The spiked random features equivalent to a network after large steps: Result 3.1."""

from __future__ import annotations

import math

from giantstep.numerics.own_functions import check_unchanged
from giantstep.problems.problem import Problem
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.first_layer.interface import FirstLayer
from giantstep.theory.first_layer.layer import layer_of
from giantstep.validation import raise_all


def known_layer(problem: Problem, dimension: float = math.inf) -> FirstLayer:
    """Return the first layer of a problem that the theory covers.

    Raises
    ------
    InvalidParametersError
        As `equivalent_features` does.
    """
    check_unchanged(vars(problem).values())
    layer = layer_of(problem, dimension)
    raise_all(layer.faults())
    return layer


def equivalent_features(problem: Problem, dimension: float = math.inf) -> SpikedFeatures:
    """Compute the sRF equivalent to a protocol: equations (9)-(12), theory.md sections 2 and 13.

    An sRF given directly is returned as it is. `alpha0 = 0` is the network at initialisation, plain
    random features; `alpha0 = inf` is the limit of infinite batches.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    dimension : float
        d, on which depend steps smaller than the giant one, and what the network's own output adds
        to the norms of rows.

    Returns
    -------
    SpikedFeatures

    Raises
    ------
    InvalidParametersError
        If the theory does not cover the protocol, if a step is too large, or for a smaller step
        than the giant one at infinite dimension.

    Examples
    --------
    >>> from giantstep import Protocol
    >>> srf = equivalent_features(Protocol("tanh", "sin", learning_rate=3, alpha0=20, beta=1))
    >>> print(f"{srf.spike_strength[0]:.4f} {srf.alignment:.4f} {srf.bulk_variance[0]:.4f}")
    1.1341 0.9719 1.0190
    """
    return known_layer(problem, dimension).features
