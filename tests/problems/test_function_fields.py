"""Problems take callables in place of names, and hold names."""

from dataclasses import replace

import numpy as np
import pytest

from giantstep import Protocol, SpikedFeatures, own_function, solve
from giantstep.problems.canonical import digest
from giantstep.validation import InvalidParametersError

PROTOCOL = Protocol(lambda z: np.maximum(z, 0), lambda z: z**2, 2, alpha0=3, beta=1)


def test_problems_of_equal_functions_are_equal():
    again = Protocol(lambda z: (z > 0) * z, np.polynomial.Polynomial([0, 0, 1]), 2, 3, 1)
    assert again.activation == PROTOCOL.activation != Protocol("relu", np.sin, 2, 3, 1).activation
    same = replace(PROTOCOL, target=lambda z: z * z)
    assert (same, hash(same), digest(same)) == (PROTOCOL, hash(PROTOCOL), digest(PROTOCOL))
    assert replace(PROTOCOL, activation=own_function(np.cosh)) != PROTOCOL


def test_all_faults_are_told_at_once():
    with pytest.raises(InvalidParametersError) as refused, np.errstate(all="ignore"):
        Protocol(lambda z: np.floor(z), lambda z: 1 / z, -2, alpha0=3, beta=1)
    faults = [(fault.name, fault.allowed[:10]) for fault in refused.value.faults]
    assert faults[0] == ("activation", "continuous")
    assert faults[1] == ("target", "finite for")
    assert faults[2][0] == "learning_rate"


def test_an_activation_that_grows_too_fast_for_the_spike_is_refused():
    srf = SpikedFeatures(np.sinh, "sin", 1.0, 0.1, alignment=0.9, beta=1)
    assert np.isfinite(solve(srf).test_error)
    with pytest.raises(InvalidParametersError, match="activation = 'sinh-.*of slower growth"):
        solve(replace(srf, spike_strength=3.0))
