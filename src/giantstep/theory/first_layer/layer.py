"""Which first layer a problem has: the one place that chooses."""

from __future__ import annotations

import math
from functools import lru_cache

from giantstep.problems.problem import Problem
from giantstep.problems.protocol import SIGN_DESCENT, Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.first_layer.anisotropic import Anisotropic
from giantstep.theory.first_layer.given import GivenFeatures
from giantstep.theory.first_layer.initial import Initial
from giantstep.theory.first_layer.interface import FirstLayer, SteppedLayer
from giantstep.theory.first_layer.letters import Letters
from giantstep.theory.first_layer.odd_letters import OddLetters
from giantstep.theory.first_layer.one_batch import OneBatch
from giantstep.theory.first_layer.one_spike import OneSpike
from giantstep.theory.first_layer.signs import OddLetterSigns, OddSigns, Signs


@lru_cache(maxsize=32)
def layer_of(problem: Problem, dimension: float = math.inf, fineness: int = 1) -> FirstLayer:
    """Choose the first layer of a problem.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    dimension : float
        d, on which depend steps smaller than the giant one, and what the network's own output adds
        to the norms of rows.
    fineness : int
        Multiplies the number of nodes of quadrature rules.

    Returns
    -------
    FirstLayer
        Its `faults` are the reasons if the theory does not cover it.

    Examples
    --------
    >>> from giantstep import Protocol
    >>> type(layer_of(Protocol("tanh", "sin", learning_rate=3, alpha0=20, beta=1))).__name__
    'OneSpike'
    """
    if isinstance(problem, SpikedFeatures):
        return GivenFeatures(problem, dimension, fineness, layer_of)
    return _kind(problem.pretraining)(problem, dimension, fineness, layer_of)


def _kind(protocol: Protocol) -> type[SteppedLayer]:
    one_letter = len(protocol.readout) == 1
    if protocol.has_covariance:
        return Anisotropic
    if not protocol.moves:
        return Initial
    if protocol.has_several_spikes:
        return Letters
    if protocol.optimizer == SIGN_DESCENT:
        if not protocol.as_in_paper:
            return Signs
        return OddSigns if one_letter else OddLetterSigns
    if protocol.reuses_samples:
        return OneBatch
    return OneSpike if one_letter else OddLetters
