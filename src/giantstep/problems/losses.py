"""The losses that the readout minimises, `sum l(u) + ridge/2 |a|^2`: theory.md section 6.

A loss is a convex function l of the residual u (`convex_losses`). To add one, enter it in `LOSSES`,
or from Python with `own_loss`; nothing else changes.
"""

from __future__ import annotations

import math

import numpy as np

from giantstep.problems.convex_losses import (
    ClippedLoss,
    LogisticLoss,
    Loss,
    SmoothLoss,
    logistic_slope,
)
from giantstep.problems.domains import HUBER_TURN
from giantstep.registry import Family, Named, Registry
from giantstep.validation import Interval, refusal

SQUARE = "square"
# The square loss by gradient flow from zero, stopped at the time 1/ridge: docs/early-stopping.md.
FLOW = "gradient_flow"
_OF_STEPS: dict[str, Loss] = {
    SQUARE: ClippedLoss(-math.inf, math.inf, 1.0),
    "huber": ClippedLoss(-1.0, 1.0, 1.0),
    "absolute": ClippedLoss(-1.0, 1.0, 0.0),
    "hinge": ClippedLoss(0.0, 1.0, 0.0, margin=True),
    "logistic": LogisticLoss(
        lambda u: np.logaddexp(0, u - 1), logistic_slope, margin=True, strip=math.pi
    ),
    # Half the square of small residuals, and the size of large ones.
    "log_cosh": SmoothLoss(
        lambda u: np.logaddexp(u, -u) - math.log(2),
        np.tanh,
        lambda u: 1 - np.tanh(u) ** 2,
        strip=math.pi / 2,
    ),
}
LOSSES: dict[str, Loss] = _OF_STEPS | {FLOW: _OF_STEPS[SQUARE]}


# `huber` is `huber:1`, and a quantile of the labels, with this share of them below it, minimises
# the loss of its name.
_FAMILIES: tuple[Family[Loss], ...] = (
    Family.of_numbers("huber:", lambda turn: ClippedLoss(-turn, turn, 1.0), DELTA=HUBER_TURN),
    Family.of_numbers(
        "quantile:", lambda share: ClippedLoss(share - 1, share, 0.0), SHARE=Interval(0.01, 0.99)
    ),
)
KNOWN_LOSSES: Registry[Loss] = Registry(LOSSES, *_FAMILIES, kind=Loss)
lookup_loss = KNOWN_LOSSES.lookup
# What a step can descend along.
STEP_LOSSES: Registry[Loss] = Registry(_OF_STEPS, *_FAMILIES, kind=Loss)


def is_square(loss: str) -> bool:
    """Tell whether it is the square loss, fitted or stopped early."""
    return loss in (SQUARE, FLOW)


def own_loss(name: str, loss: Loss) -> str:
    """Name a loss of your own: the name carries it to theory and networks, as their `loss`.

    Parameters
    ----------
    name : str
        No name of a loss of the library.
    loss : SmoothLoss or ClippedLoss

    Returns
    -------
    str
        The name, with the loss.

    Raises
    ------
    InvalidParametersError
        For what is no loss, a loss that is not convex, a derivative that is not that of the loss,
        and corners of a loss that should be smooth.

    Examples
    --------
    >>> import numpy as np
    >>> import giantstep
    >>> from giantstep import SmoothLoss, own_loss
    >>> root = SmoothLoss(lambda u: np.sqrt(1 + u**2), lambda u: u / np.sqrt(1 + u**2))
    >>> problem = giantstep.SpikedFeatures("tanh", "sign", 1.2, 1.5, alignment=0.9, beta=1)
    >>> loss = own_loss("root", root)
    >>> networks = giantstep.simulate(problem, loss=loss, dimension=50, networks=2)
    >>> bool(networks.test_error < 1)
    True
    >>> own_loss("corner", SmoothLoss(np.abs, np.sign))
    Traceback (most recent call last):
    giantstep.validation.InvalidParametersError: loss = 'corner': must be ...
    """
    if not isinstance(loss, Loss):
        raise refusal("loss", loss, "a SmoothLoss or a ClippedLoss")
    taken = name in LOSSES or ":" in name
    if allowed := "no name of a loss of the library" if taken else loss.fault():
        raise refusal("loss", name, allowed)
    return Named(name, loss)
