"""One curve of a panel of recovery: what a first layer sees of its teacher, and its theory."""

from __future__ import annotations

import numpy as np
import xarray as xr

from giantstep.pipeline.planning.tasks import Curve
from giantstep.pipeline.stages.comparison import score
from giantstep.pipeline.stages.problem_parameters import problem_parameters
from giantstep.problems.recovery import Recovery
from giantstep.problems.teachers import lookup_teacher
from giantstep.simulation.replicate_statistics import summarise
from giantstep.theory.features.one_step_recovery import expected_overlaps
from giantstep.theory.features.recovery_steps import overlaps_after_steps, recovery_faults


def merge_recovery(curve: Curve, simulated: xr.Dataset) -> xr.Dataset:
    """Put theory beside simulation for one curve of a panel of recovery.

    Before the first step a row has a chance overlap 1/d with each direction. Overlaps after later
    steps have a theory for fresh batches of order d; overlaps of changes have none.

    Parameters
    ----------
    curve : Curve
        Whose problem is a `Recovery`.
    simulated : xarray.Dataset
        Result of the stage "recovery".
    """
    problem, dimension = curve.problem, curve.dimension
    assert isinstance(problem, Recovery)
    shape = simulated["simulated_overlap"].shape[1:]
    line = simulated.assign_coords(problem_parameters(problem).data_vars)
    expected = expected_overlaps(problem, dimension)
    for drawn, one_step, before in (
        ("overlap", expected.overlap, 1 / dimension),
        ("update_overlap", expected.update_overlap, np.nan),
    ):
        theory = np.full(shape, np.nan)
        theory[0], theory[1] = before, one_step
        if drawn == "overlap" and problem.steps > 1 and not recovery_faults(problem):
            theory[2:] = overlaps_after_steps(problem, dimension)[1:]
        found = summarise(simulated[f"simulated_{drawn}"].values[:, None])
        scores = np.where(found.stderr > 0, (found.mean - theory) / found.stderr, np.nan)
        values = {
            drawn: theory,
            f"simulated_{drawn}_mean": found.mean,
            f"simulated_{drawn}_stderr": found.stderr,
            f"z_score_{drawn}": scores,
        }
        line = line.assign({key: (("step", "direction"), x) for key, x in values.items()})
    teacher = lookup_teacher(problem.teacher)
    line = line.assign_coords(leap=teacher.leap, first_batch=problem.batch(dimension))
    return score(line.assign_coords(curve=curve.name, panel=curve.panel, dimension=dimension))
