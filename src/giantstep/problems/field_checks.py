"""Checks that several problems share, made when a problem is created."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from giantstep.problems.domains import SHARE, STEPS, VARIANCE
from giantstep.validation import (
    Fault,
    Interval,
    InvalidParametersError,
    interval_faults,
    plain_number,
)

# Metadata of a field that was added later: at its default it is left out of the canonical form, so
# that the seeds and keys of older problems stay as they were.
LATER = {"later": True}

NOISE_INTERVALS = {"noise": VARIANCE, "outlier_fraction": SHARE, "outlier_variance": VARIANCE}


def check_fields(problem: Any, floats: dict[str, Interval], faults: list[Fault]) -> None:
    """Convert float fields to plain floats, then raise all faults of a problem together.

    Parameters
    ----------
    problem : frozen dataclass
        Its float fields are replaced.
    floats : dict of Interval
        The float fields, and where each must lie.
    faults : list of Fault
        Those already found in the other fields.

    Raises
    ------
    InvalidParametersError
        With the faults in the order of the fields.
    """
    for name in floats:
        object.__setattr__(problem, name, plain_number(getattr(problem, name)))
    faults = faults + interval_faults(vars(problem), floats)
    if faults:
        order = [field.name for field in fields(problem)]
        raise InvalidParametersError(sorted(faults, key=lambda fault: order.index(fault.name)))


def step_faults(steps: Any, reuse_batch: Any) -> list[Fault]:
    """List what is wrong with the number of gradient steps and with how they use batches."""
    faults = interval_faults({"steps": steps}, {"steps": STEPS})
    if not isinstance(reuse_batch, bool):
        faults.append(Fault("reuse_batch", reuse_batch, "true or false"))
    return faults
