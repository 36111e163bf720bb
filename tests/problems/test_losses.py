"""Proximal operators of losses satisfy their equations."""

import numpy as np
import pytest
from scipy.special import expit

from giantstep.problems.losses import LogisticLoss, MarginLoss


@pytest.mark.parametrize("prox", [LogisticLoss.prox, MarginLoss.prox])
@pytest.mark.parametrize("V", [1e-6, 0.1, 10, 1e4, 1e9])
def test_the_logistic_prox_is_stationary(V, prox):
    margin = np.concatenate([np.linspace(-30, 30, 601), np.linspace(-2, 0.5, 501) * V])
    x = prox(LogisticLoss(), margin, np.full_like(margin, V))
    slope = (x - margin) - V * expit(-x)
    assert np.max(np.abs(slope) / (np.abs(margin) + V * expit(-x) + 1)) < 1e-13
