"""What the means of the readout cost at finite dimension: theory.md section 12.

The mean direction of a group of neurons is a feature of size sqrt(p). As d -> infinity, readouts
use it at no cost. At finite d the ridge and the other features make means m cost `m^T Lambda m/2`,
with `Lambda = (diag(1/V2) + omega omega^T * <(k0 + k1 b/tr B) M(b)>)/p`, where * is elementwise.
The second term is for rows that are not independent: the step moves all of them alike, since it
subtracts the network's own output from the labels, and since inputs longer than others act on all
neurons alike. Features given directly have independent rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from giantstep.arrays import Array
from giantstep.problems.overlaps import OVERLAP_DIMENSIONS
from giantstep.theory.first_layer.interface import Shift
from giantstep.theory.rows.interface import Hats, Sources, SpikeResponse


@dataclass(frozen=True, eq=False)
class MeanPenalty:
    """The penalty on the means of the readout.

    Attributes
    ----------
    width : float
        p = beta d; infinite as d -> infinity, where there is no penalty.
    shifts : list of Shift
        Of all rows: several if the initial readout has several values and there are several steps,
        none if rows are treated as independent.
    """

    width: float
    shifts: list[Shift]

    def matrix(self, response: SpikeResponse) -> Array:
        """Compute Lambda, shape (S, G, G)."""
        V2 = response.V2
        matrix = np.eye(V2.shape[-1]) / V2[:, None, :]
        for letters, common in self.shifts:
            matrix = matrix + np.multiply.outer(letters, letters) * response.screened(common)
        return matrix / self.width

    def sources(
        self, one: SpikeResponse, other: SpikeResponse, hats: Hats, others: Hats
    ) -> Sources:
        """Compute what all overlaps add to the variances, as `SpikeResponse.sources` does."""
        m, n = hats.m, others.m
        first, second = one.sources(other, hats, others)
        for letters, common in self.shifts:
            more, direct = one.screened_sources(other, common, letters * m, letters * n)
            first, second = first + more / self.width, second + direct / self.width
        first[:, -m.shape[1] :] += m * n / (one.V2 * other.V2 * self.width)
        return first, second

    def overlaps(
        self, response: SpikeResponse, direction: Array, q: Array, hats: Hats
    ) -> dict[str, Array]:
        """Compute all overlaps of groups, given what `SpikeResponse.of_groups` takes."""
        groups = response.of_groups(direction, q, hats)
        q1, q2 = groups.q1, q[:, -hats.m.shape[1] :]
        for letters, common in self.shifts:
            q1 = q1 + response.screened_sources_of_groups(common, letters * hats.m) / self.width
        found = {"m": hats.m, **groups._asdict(), "q1": q1, "q2": q2, "V2": response.V2}
        return {name: found[name] for name in OVERLAP_DIMENSIONS}
