"""The output channel of a loss: which module averages it (theory.md section 6).

For another kind of loss write its channel, an `OutputChannel` of `channel_averages`, and enter it
in `_CHANNELS`.
"""

from __future__ import annotations

from collections.abc import Callable

from giantstep.arrays import Array
from giantstep.problems.losses import ClippedLoss, LogisticLoss, Loss
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.readout.channel_averages import OutputChannel
from giantstep.theory.readout.clipped_channel import ClippedChannel
from giantstep.theory.readout.logistic_channel import LogisticChannel

_CHANNELS: dict[type[Loss], Callable[..., OutputChannel]] = {
    ClippedLoss: ClippedChannel,
    LogisticLoss: LogisticChannel,
}


def output_channel(
    loss: Loss, srf: SpikedFeatures, kappa: Array, fineness: float = 1
) -> OutputChannel:
    """Prepare the averages for a loss.

    Parameters
    ----------
    loss : Loss
    srf : SpikedFeatures
        The problem, which has the teacher and the label noise.
    kappa : Array, shape (N,)
    fineness : float
        Multiplies the number of nodes over z or omega.
    """
    return _CHANNELS[type(loss)](loss, srf, kappa, fineness)
