"""The status of a solved point: whether it may be used, and why not."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """Whether a point of a solution can be used, and if not, why.

    Examples
    --------
    >>> import giantstep
    >>> giantstep.Status(3).label, int(giantstep.Status.CONVERGED)
    ('unresolved', 0)
    """

    CONVERGED = 0
    NOT_CONVERGED = 1
    UNSTABLE = 2
    UNRESOLVED = 3
    REFUSED = 4

    @property
    def label(self) -> str:
        """The status as tables show it."""
        return self.name.lower()

    @property
    def advice(self) -> str:
        """What happened, and what the user can do about it."""
        return _ADVICE[self]


_ADVICE = {
    Status.CONVERGED: "Every equation holds to rounding.",
    Status.NOT_CONVERGED: "The solver found no finite solution of the equations. Please take a"
    " larger ridge (a smaller one for hinge loss), or move alpha away from beta. If the spike lies"
    " along the target, or two classes hardly overlap, only the square loss always has a solution.",
    Status.UNSTABLE: "The linear equations for the overlaps are singular to rounding. Please take a"
    " larger ridge.",
    Status.UNRESOLVED: "The result changes when the number of quadrature nodes is doubled. Please"
    " take a smaller learning rate or spike strength, a larger alpha0 (a smaller one for a normal"
    " readout), a larger beta, or a larger ridge (a smaller one for hinge or Huber loss).",
    Status.REFUSED: "Parameters that a problem, or the theory, cannot combine.",
}
