"""What every output channel computes: averages of g_out and of losses, given kappa.

Given kappa, the prediction omega for a fresh input and the teacher's z are jointly Gaussian
(theory.md section 6). Training on a sample moves its prediction to prox(omega), the minimum over x
of `(x - omega)^2/2V + loss(y, x)`; then `g_out = (prox(omega) - omega)/V`. The equations for the
readout need only averages of g_out over z, omega and the label noise.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from giantstep.arrays import Array


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


Averages = TypeVar("Averages", ChannelAverages, LossAverages)
