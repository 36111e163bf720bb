"""Overlaps after one step, against a closed form."""

import numpy as np
import pytest
from scipy.special import erfc

from giantstep.problems.recovery import Recovery
from giantstep.theory.first_layer.one_step_recovery import expected_overlaps


def problem(teacher, exponent=1.0, **differing):
    usual = {"activation": "elu", "learning_rate": 1, "alpha0": 8, "width": 64}
    return Recovery(teacher=teacher, exponent=exponent, **usual | differing)


def test_at_d_squared_leap_two_is_seen_as_in_closed_form():
    # The average of xi^2/(xi^2 + c) over xi ~ N(0, 1), with c = E y^2 E sigma'^2/(alpha0 s^2).
    asked = problem("he2(z1)", 2)
    bent = np.exp(0.5) * erfc(1 / np.sqrt(2)) / 2  # E sigma'' of elu
    power = 2 * (0.5 + np.exp(2) * erfc(np.sqrt(2)) / 2)
    c = power / (asked.alpha0 * (2 * bent) ** 2)
    expected = 1 - np.sqrt(np.pi * c / 2) * np.exp(c / 2) * erfc(np.sqrt(c / 2))
    assert expected_overlaps(asked, 3000).update_overlap == pytest.approx(expected, rel=0.003)
