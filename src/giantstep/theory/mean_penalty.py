"""What the means of the readout cost at finite dimension: theory.md section 12.

The mean direction of a group of neurons is a feature of size sqrt(p). As d -> infinity, readouts
use it for nothing. At finite d their ridge and the rest of their features make means m cost
`m^T Lambda m/2`, with `Lambda = (diag(1/V2) - s omega omega^T * M)/p` elementwise. M is the matrix
of theory.md section 4, and `s` what the network's own output, which the step takes off the labels,
does to the mean row of the bulk. Features given directly have `s = 0`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.gaussian import moments
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.bulk.interface import GroupOverlaps, SpikeResponse


@dataclass(frozen=True, eq=False)
class MeanPenalty:
    """The penalty on the means of the readout.

    Attributes
    ----------
    width : float
        p = beta d.
    letters : Array, shape (G,)
        Initial readout omega of each group.
    own_output : float
        s, dimensionless: `2 eps - eps^2 (1 + 1/alpha0) E omega^2` with `eps = e h1^2`.
    """

    width: float
    letters: Array
    own_output: float

    def matrix(self, response: SpikeResponse) -> Array:
        """Compute Lambda, shape (S, G, G)."""
        V2 = response.V2
        matrix = np.eye(V2.shape[-1]) / V2[:, None, :]
        if self.own_output:
            pairs = self.own_output * np.multiply.outer(self.letters, self.letters)
            matrix = matrix - pairs * response.screened
        return matrix / self.width

    def sources(self, response: SpikeResponse, m: Array) -> tuple[Array, Array]:
        """Compute the derivative of `m^T Lambda m` by the hats, as `SpikeResponse.sources`."""
        V2 = response.V2
        first, second = response.screened_sources(self.letters * m)
        first, second = -self.own_output * first, -self.own_output * second
        first[:, -V2.shape[-1] :] += (m / V2) ** 2
        return first / self.width, second / self.width

    def q1_of_groups(self, response: SpikeResponse, m: Array) -> Array:
        """Compute what the penalty adds to q1 at fixed q, between groups, shape (S, G, G)."""
        direct = response.screened_sources_of_groups(self.letters * m)
        return -self.own_output / self.width * direct


def prepare_mean_penalty(
    problem: Problem, srf: SpikedFeatures, dimension: float
) -> MeanPenalty | None:
    """Prepare the penalty at a dimension; as d -> infinity there is none.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    srf : SpikedFeatures
        Those equivalent to the problem.
    dimension : float
        d, may be infinite.
    """
    if np.isinf(dimension):
        return None
    width = problem.beta * dimension
    if not isinstance(problem, Protocol):
        return MeanPenalty(width, np.ones(srf.groups.c.size), 0.0)
    letters, fractions = np.array(problem.readout).T
    return MeanPenalty(width, letters, _own_output(problem, float(fractions @ letters**2)))


def _own_output(protocol: Protocol, power: float) -> float:
    """Compute s, given E omega^2."""
    if protocol.alpha0 == 0:
        return 0.0
    h1 = float(moments(lookup(protocol.activation), 0.0, 1.0).slope)
    step = protocol.learning_rate / protocol.beta * h1**2
    return step * (2 - step * (1 + 1 / protocol.alpha0) * power)


def penalised_sources(
    response: SpikeResponse,
    penalty: MeanPenalty | None,
    along_hat: Array,
    across_hat: Array,
    m: Array,
) -> tuple[Array, Array]:
    """Compute what all overlaps add to the variances, as `SpikeResponse.sources` does."""
    first, second = response.sources(along_hat, across_hat)
    if penalty is not None:
        more, direct = penalty.sources(response, m)
        first, second = first + more, second + direct
    return first, second


def overlaps_of_groups(
    response: SpikeResponse,
    penalty: MeanPenalty | None,
    direction: Array,
    along_hat: Array,
    across_hat: Array,
    m: Array,
) -> GroupOverlaps:
    """Compute the overlaps between groups, as `SpikeResponse.of_groups` does."""
    groups = response.of_groups(direction, along_hat, across_hat)
    if penalty is None:
        return groups
    return groups._replace(q1=groups.q1 + penalty.q1_of_groups(response, m))
