"""Overlaps after several steps on fresh batches: one step of another theory, and simulation."""

from dataclasses import replace

import numpy as np
import pytest

from giantstep.problems.recovery import Recovery
from giantstep.simulation.recovery import simulate_recovery
from giantstep.theory.first_layer.one_step_recovery import expected_overlaps
from giantstep.theory.first_layer.recovery_steps import overlaps_after_steps
from giantstep.validation import InvalidParametersError

STAIRS = Recovery("elu", "z1+z1*z2", learning_rate=3, alpha0=64, width=64, steps=3)


def test_the_first_step_is_that_of_the_theory_of_one_step():
    one, dimension = replace(STAIRS, alpha0=4, steps=1), 10**7
    (found,) = overlaps_after_steps(one, dimension)
    assert found == pytest.approx(expected_overlaps(one, dimension).overlap, rel=1e-5, abs=1e-6)


def test_rows_of_networks_climb_a_staircase_as_the_theory_says():
    theory = overlaps_after_steps(STAIRS, 150)
    found = simulate_recovery(STAIRS, 150, range(4), 0).overlap[:, 1:]
    noise = 2 * found.std(axis=0) + 0.03 * theory + 1e-3
    assert np.all(np.abs(found.mean(axis=0) - theory) < noise)
    assert theory[0, 1] < 0.01 < 0.2 < theory[2, 1]


def test_rows_grow_out_of_chance_by_a_factor_until_each_takes_its_own_way():
    product = replace(STAIRS, teacher="z1*z2")
    theory = overlaps_after_steps(product, 200)[:, 0]
    found = simulate_recovery(replace(product, steps=2), 200, range(3), 0).overlap.mean(axis=(0, 2))
    assert found[1:] == pytest.approx(theory[:2], rel=0.1)
    assert theory[1] > 2 * theory[0]
    assert np.isnan(theory[2])


def test_other_batches_have_no_theory_of_several_steps():
    with pytest.raises(InvalidParametersError, match="fresh batches"):
        overlaps_after_steps(replace(STAIRS, reuse_batch=True), 100)
    with pytest.raises(InvalidParametersError, match="exponent"):
        overlaps_after_steps(replace(STAIRS, exponent=2), 100)
