"""One look-up of named things."""

import pytest

from giantstep.numerics.function_table import FUNCTIONS
from giantstep.numerics.scalar_functions import KNOWN_FUNCTIONS
from giantstep.problems.inputs import KNOWN_INPUTS
from giantstep.problems.losses import KNOWN_LOSSES
from giantstep.problems.teachers import KNOWN_TEACHERS
from giantstep.validation import InvalidParametersError, check_value


@pytest.mark.parametrize(
    ("known", "name"),
    [
        (KNOWN_FUNCTIONS, "tahn"),
        (KNOWN_FUNCTIONS, "polynomial:1,x"),
        (KNOWN_LOSSES, "huber:0"),
        (KNOWN_INPUTS, "student_t:2"),
        (KNOWN_TEACHERS, "z2"),
    ],
)
def test_unknown_names_are_refused_with_what_is_allowed(known, name):
    with pytest.raises(ValueError, match="must be|tahn|z2"):
        known.lookup(name)
    assert name not in known
    with pytest.raises(InvalidParametersError) as refused:
        check_value("parameter", name, known)
    (fault,) = refused.value.faults
    assert (fault.name, fault.value, fault.allowed) == ("parameter", name, str(known))


def test_entries_and_members_of_families_are_found_and_made_once():
    assert KNOWN_FUNCTIONS.lookup("tanh") is FUNCTIONS["tanh"]
    assert "tanh" in KNOWN_FUNCTIONS
    member = KNOWN_FUNCTIONS.lookup("polynomial:0,1")
    assert member.name == "polynomial:0,1"  # what is computed from a function is cached by identity
    assert KNOWN_FUNCTIONS.lookup("polynomial:0,1") is member
