"""The bulks that a problem can be solved with, by name.

`isotropic` is the bulk of the paper. `trained` is the best that is known for the problem: the whole
covariance that the gradient steps give to the rows and to their norms. For a readout of several
values it leaves some of that out: docs/trained-bulk.md.
"""

from __future__ import annotations

from giantstep.problems.problem import Problem
from giantstep.validation import refusal

ISOTROPIC, TRAINED = BULKS = ("isotropic", "trained")


def validate_bulk(problem: Problem, bulk: str) -> None:
    """Refuse a bulk that a problem cannot be solved with.

    Raises
    ------
    InvalidParametersError
        For an unknown bulk, or the trained bulk of features that are given directly.
    """
    if bulk not in BULKS:
        raise refusal("bulk", bulk, f"one of {', '.join(BULKS)}")
    if bulk == TRAINED and not problem.has_steps:
        raise refusal("bulk", bulk, f"{ISOTROPIC} for spiked random features given directly")


def bulk_of_networks(problem: Problem) -> str:
    """Return the bulk of a problem's networks, with which questions solve it by default.

    Examples
    --------
    >>> from giantstep import Protocol
    >>> bulk_of_networks(Protocol("tanh", "sin", learning_rate=2, alpha0=1, beta=1))
    'trained'
    """
    return TRAINED if problem.has_steps else ISOTROPIC
