"""Equivalent features at both ends of the first batch."""

from dataclasses import replace

import numpy as np
import pytest

from giantstep.problems.protocol import Protocol
from giantstep.theory.first_layer.equivalent_features import equivalent_features
from giantstep.validation import InvalidParametersError


def test_initialisation_is_plain_random_features_and_an_infinite_batch_the_limit():
    start = equivalent_features(Protocol("tanh", "sign", 3, alpha0=0, beta=1))
    assert (start.bulk_variance, start.spike_strength, start.alignment) == ((1,), (0,), 0)
    limit = equivalent_features(Protocol("tanh", "sign", 3, alpha0=np.inf, beta=1, noise=0.2))
    near = equivalent_features(Protocol("tanh", "sign", 3, alpha0=1e9, beta=1, noise=0.2))
    assert (limit.bulk_variance, limit.alignment) == ((1,), 1)
    assert near.spike_strength == pytest.approx(limit.spike_strength, rel=1e-6)


def test_a_smaller_step_has_a_spike_that_shrinks_with_the_dimension():
    giant = Protocol("tanh", "sign", 3, alpha0=2, beta=1)
    smaller = replace(giant, step_exponent=0.3)
    (r,), (c,) = (
        getattr(equivalent_features(giant), name) for name in ("spike_strength", "bulk_variance")
    )
    found = equivalent_features(smaller, dimension=1e5)
    assert found.spike_strength == pytest.approx([r / 10])
    assert found.bulk_variance == pytest.approx([1 + (c - 1) / 100])
    with pytest.raises(InvalidParametersError, match="in a theory of infinite dimension"):
        equivalent_features(smaller)
