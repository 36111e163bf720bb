"""The bulks that a problem can be solved with, by name.

The first is the isotropic bulk of the paper. In the second, the first batch gives the rows a
covariance (theory.md section 9). In the third, the rows' norms depend on their overlaps with the
spike as well. The fourth has the whole covariance of the rows and their norms after any number of
steps, for one initial readout. After several steps, or of an activation that is not odd, the third
has the covariance in a few directions only, and the second does not exist.
"""

from __future__ import annotations

from giantstep.problems.problem import Problem
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.problems.targets import teacher_of
from giantstep.validation import Fault, InvalidParametersError

ISOTROPIC, TRAINED, TRAINED_NORMS, TRAINED_COVARIANCE = BULKS = (
    "isotropic", "trained", "trained_norms", "trained_covariance"
)  # fmt: skip


def validate_bulk(problem: Problem, bulk: str) -> str:
    """Return the bulk to solve a problem with.

    This is the given one, except for weights that no step has moved: they are isotropic.

    Raises
    ------
    InvalidParametersError
        For an unknown bulk, or a trained bulk of features that are given directly; for a bulk that
        is not known after several steps.
    """
    if bulk not in BULKS:
        raise InvalidParametersError([Fault("bulk", bulk, f"one of {', '.join(BULKS)}")])
    if bulk == ISOTROPIC:
        return ISOTROPIC
    if isinstance(problem, SpikedFeatures):
        allowed = f"{ISOTROPIC} for spiked random features given directly"
        raise InvalidParametersError([Fault("bulk", bulk, allowed)])
    if bulk != TRAINED_NORMS and teacher_of(problem.target) is not None:
        allowed = f"{ISOTROPIC} or {TRAINED_NORMS} for a target of several directions"
        raise InvalidParametersError([Fault("bulk", bulk, allowed)])
    if bulk == TRAINED and not problem.as_in_paper:
        allowed = (
            f"{ISOTROPIC}, {TRAINED_NORMS} or {TRAINED_COVARIANCE} after several steps, and for"
            " activations that are not odd"
        )
        raise InvalidParametersError([Fault("bulk", bulk, allowed)])
    if bulk == TRAINED_COVARIANCE and len(problem.readout) > 1:
        allowed = f"{ISOTROPIC}, {TRAINED} or {TRAINED_NORMS} for a readout of several values"
        raise InvalidParametersError([Fault("bulk", bulk, allowed)])
    return bulk if problem.alpha0 > 0 and problem.learning_rate > 0 else ISOTROPIC


def bulk_of_networks(problem: Problem) -> str:
    """Return the bulk that comes closest to that of actual networks.

    After one step of an odd activation that is `trained_norms`. After several, or of an activation
    that is not odd, `trained_norms` leaves out up to 10 % of the test error: docs/
    more-than-one-step.md. There it is `trained_covariance`, for the problems that have it.

    Examples
    --------
    >>> from giantstep import Protocol
    >>> [bulk_of_networks(Protocol(name, "sin", 2, alpha0=1, beta=1)) for name in ("tanh", "elu")]
    ['trained_norms', 'trained_covariance']
    """
    if isinstance(problem, SpikedFeatures):
        return ISOTROPIC
    has_whole = len(problem.readout) == 1 and teacher_of(problem.target) is None
    return TRAINED_COVARIANCE if has_whole and not problem.as_in_paper else TRAINED_NORMS
