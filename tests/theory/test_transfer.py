"""Steps on one target, a readout that learns another: docs/transfer.md."""

import numpy as np
import pytest

import giantstep
from giantstep.problems.protocol import Protocol
from giantstep.validation import InvalidParametersError


def transfer(target="sign", overlap=0.4, pretrain="sin", **others):
    given = {"pretrain_target": pretrain, "task_overlap": overlap} | others
    return Protocol("tanh", target, 2, alpha0=4, beta=1, **given)


def test_below_an_overlap_of_about_one_half_pretraining_hurts():
    errors = [
        giantstep.solve(transfer(overlap=overlap), alpha=2, ridge=0.1, bulk="isotropic").test_error
        for overlap in (1, 0.8, 0.4, 0)
    ]
    assert np.array(errors) == pytest.approx([0.4934, 0.6071, 0.7638, 0.8164], abs=1e-4)
    plain = giantstep.solve(Protocol("tanh", "sign", 2, alpha0=0, beta=1), alpha=2, ridge=0.1)
    assert errors[1] < plain.test_error < errors[2]


def test_the_same_task_is_no_transfer():
    assert transfer("sin", overlap=1) == Protocol("tanh", "sin", 2, alpha0=4, beta=1)


@pytest.mark.parametrize("letters", [((1, 1),), ((1, 0.5), (-2, 0.5))])
def test_the_same_function_along_nearly_the_same_direction_is_nearly_the_same_task(letters):
    near, same = (
        giantstep.solve(transfer("sin", overlap, readout=letters), alpha=2, dimension=200)
        for overlap in (1 - 1e-9, 1)
    )
    assert near.test_error.item() == pytest.approx(same.test_error.item(), rel=1e-7)


def test_targets_of_several_directions_are_refused():
    with pytest.raises(InvalidParametersError, match="of one direction where steps and readout"):
        transfer("z1*z2")
