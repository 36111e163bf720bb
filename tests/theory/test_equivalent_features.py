"""Equivalent features at both ends of the first batch."""

import numpy as np
import pytest

from giantstep.problems.protocol import Protocol
from giantstep.theory.equivalent_features import equivalent_features


def test_initialisation_is_plain_random_features_and_an_infinite_batch_the_limit():
    start = equivalent_features(Protocol("tanh", "sign", 3, alpha0=0, beta=1))
    assert (start.bulk_variance, start.spike_strength, start.alignment) == ((1,), (0,), 0)
    limit = equivalent_features(Protocol("tanh", "sign", 3, alpha0=np.inf, beta=1, noise=0.2))
    near = equivalent_features(Protocol("tanh", "sign", 3, alpha0=1e9, beta=1, noise=0.2))
    assert (limit.bulk_variance, limit.alignment) == ((1,), 1)
    assert near.spike_strength == pytest.approx(limit.spike_strength, rel=1e-6)
