"""How much of a multi-index teacher the first layer recovers, by the theory."""

from __future__ import annotations

import numpy as np
import xarray as xr

from giantstep.problems.recovery import Recovery
from giantstep.problems.teachers import lookup_teacher
from giantstep.theory.first_layer.one_step_recovery import expected_overlaps
from giantstep.theory.first_layer.recovery_steps import overlaps_after_steps, recovery_faults


def recovery(problem: Recovery, *, dimension: int) -> xr.Dataset:
    """Compute the overlaps of rows, and of their changes, with the directions of a teacher.

    Parameters
    ----------
    problem : Recovery
    dimension : int
        As in `simulate`.

    Returns
    -------
    xarray.Dataset
        `overlap` and `update_overlap` over (step, direction), from step 0, where a row has a chance
        overlap 1/d with each direction. Overlaps after later steps have a theory for fresh batches
        of order d, overlaps of changes have none: NaN. `leap` of the teacher, and `first_batch`,
        the samples of a step.

    Examples
    --------
    >>> problem = Recovery("relu", "z1+z1*z2", learning_rate=1, alpha0=4, exponent=1, width=100)
    >>> recovery(problem, dimension=500).overlap.sel(step=0).values
    array([0.002, 0.002])
    """
    expected, teacher = expected_overlaps(problem, dimension), lookup_teacher(problem.teacher)
    overlap = np.full((problem.steps + 1, expected.overlap.size), np.nan)
    update = overlap.copy()
    overlap[0], overlap[1], update[1] = 1 / dimension, expected.overlap, expected.update_overlap
    if problem.steps > 1 and not recovery_faults(problem):
        overlap[2:] = overlaps_after_steps(problem, dimension)[1:]
    dims = ("step", "direction")
    return xr.Dataset(
        {"overlap": (dims, overlap), "update_overlap": (dims, update)},
        coords={
            "step": np.arange(problem.steps + 1),
            "direction": np.arange(1, expected.overlap.size + 1),
            "leap": teacher.leap,
            "first_batch": problem.batch(dimension),
        },
    )
