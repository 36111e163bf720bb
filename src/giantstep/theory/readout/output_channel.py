"""What every output channel computes: averages of g_out and of losses, given kappa.

Given kappa, the prediction omega for a fresh input and the teacher's z are jointly Gaussian
(theory.md section 6). Training on a sample moves its prediction to prox(omega), the minimum over x
of `(x - omega)^2/2V + loss(y, x)`; then `g_out = (prox(omega) - omega)/V`. The equations for the
readout need only averages of g_out over z, omega and the label noise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import reduce
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array
from giantstep.problems.problem import LabelLevels, label_levels
from giantstep.problems.spiked_features import SpikedFeatures


class PredictionMoments(NamedTuple):
    """Law of a prediction given kappa, arrays of shape (S, N) for S points and N nodes.

    Attributes
    ----------
    V : Array
        Response of a prediction to its own sample.
    M, P, Q : Array
        Mean of omega, its covariance with z, and its variance.
    """

    V: Array
    M: Array
    P: Array
    Q: Array


class ChannelAverages(NamedTuple):
    """Averages over the output channel given kappa, arrays of shape (S, N).

    Attributes
    ----------
    g, z_g : Array
        E g_out and E z g_out.
    minus_dg : Array
        -E dg_out/domega.
    g_squared : Array
        E g_out^2.
    """

    g: Array
    z_g: Array
    minus_dg: Array
    g_squared: Array


class LossAverages(NamedTuple):
    """Average errors and losses given kappa, arrays of shape (S, N).

    Attributes
    ----------
    training_error : Array
        Squared difference of label and prediction on the training set.
    training_loss, test_loss : Array
        The loss itself; on the test set the labels carry no noise.
    """

    training_error: Array
    training_loss: Array
    test_loss: Array


class OutputChannel(ABC):
    """Averages over the output channel for one loss and one teacher, at some nodes over kappa.

    Parameters
    ----------
    srf : SpikedFeatures
        The problem, which has the teacher and the label noise.
    """

    def __init__(self, srf: SpikedFeatures) -> None:
        self.levels = label_levels(srf)

    @abstractmethod
    def averages_given(self, sign: int, at: PredictionMoments) -> Array:
        """Compute `averages` for labels of the target's sign or reversed, shape (4, S, N).

        Noise of the labels is part of Q.
        """

    @abstractmethod
    def errors_given(self, sign: int, at: PredictionMoments) -> Array:
        """Average the squared residual and the loss at the proximal point, the first of (4, S, N).

        V = 0 leaves predictions where they are.
        """

    def averages(self, at: PredictionMoments) -> ChannelAverages:
        """Average g_out, its derivative and its square."""
        return ChannelAverages(*_over_labels(self.averages_given, self.levels, at))

    def losses(self, at: PredictionMoments) -> LossAverages:
        """Average errors and losses."""
        error, training, *_ = _over_labels(self.errors_given, self.levels, at)
        test = self.errors_given(1, at._replace(V=np.zeros_like(at.V)))[1]
        return LossAverages(error, training, test)


def _over_labels(
    given: Callable[[int, PredictionMoments], Array], levels: LabelLevels, at: PredictionMoments
) -> Array:
    """Average over the signs and the noise of labels."""
    averages = (share * given(sign, at._replace(Q=at.Q + noise)) for sign, noise, share in levels)
    return reduce(np.add, averages)
