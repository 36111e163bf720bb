"""Recovery problems out of reach are refused."""

import pytest

from giantstep.problems.recovery import Recovery, check_dimension
from giantstep.validation import InvalidParametersError


def problem(teacher, exponent=1.0, **differing):
    usual = {"activation": "elu", "learning_rate": 1, "alpha0": 8, "width": 64}
    return Recovery(teacher=teacher, exponent=exponent, **usual | differing)


def test_a_batch_out_of_reach_is_refused_with_its_remedy():
    with pytest.raises(InvalidParametersError, match=r"alpha0 \* dimension\^exponent"):
        check_dimension(problem("z1", 3), 10_000)
    with pytest.raises(InvalidParametersError, match="twice the teacher's directions"):
        check_dimension(problem("z1*z2"), 3)
    with pytest.raises(InvalidParametersError, match="width = 3"):
        problem("z1", width=3)
    with pytest.raises(InvalidParametersError, match="continuous"):
        problem("z1", activation="sign")
