"""What every output channel computes: averages of g_out and of losses, given kappa.

Given kappa, the prediction omega for a fresh input and the teacher's z are jointly Gaussian
(theory.md section 6). Training on a sample moves its prediction to prox(omega), the minimum over x
of `(x - omega)^2/2V + loss(y, x)`, (118); then `g_out = (prox(omega) - omega)/V`. The equations for
the readout need only averages of g_out over z, omega and the label noise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from giantstep.arrays import Array
from giantstep.problems.problem import label_levels
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


# What is averaged on a rule, given the sign of labels.
Averaged = Callable[[int, PredictionMoments, Any], tuple[Array, ...]]


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
    def average(self, of: Averaged, sign: int, at: PredictionMoments) -> Array:
        """Average on rules for labels of the target's sign or reversed, shape (4, S, N).

        Noise of the labels is part of Q. If there are fewer averages than four, they come first.
        """

    @abstractmethod
    def responses(self, sign: int, at: PredictionMoments, rule: Any) -> tuple[Array, ...]:
        """Return the averages of `ChannelAverages` on one rule."""

    @abstractmethod
    def errors(self, sign: int, at: PredictionMoments, rule: Any) -> tuple[Array, ...]:
        """Return the squared residual and the loss at the proximal point, on one rule.

        V = 0 leaves predictions where they are.
        """

    def averages(self, at: PredictionMoments) -> ChannelAverages:
        """Average g_out, its derivative and its square."""
        return ChannelAverages(*self._over_labels(self.responses, at))

    def losses(self, at: PredictionMoments) -> dict[str, Array]:
        """Average errors and losses given kappa, arrays of shape (S, N).

        The training error is the squared difference of label and prediction. On the test set labels
        carry no noise.
        """
        error, training, *_ = self._over_labels(self.errors, at)
        test = self.average(self.errors, 1, at._replace(V=np.zeros_like(at.V)))[1]
        return {"training_error": error, "training_loss": training, "test_loss": test}

    def _over_labels(self, of: Averaged, at: PredictionMoments) -> Array:
        """Average over the signs and the noise of labels."""
        parts = (
            share * self.average(of, s, at._replace(Q=at.Q + n)) for s, n, share in self.levels
        )
        return reduce(np.add, parts)
