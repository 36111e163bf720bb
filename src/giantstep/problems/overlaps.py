"""The overlaps of a readout with the first layer: one set of names for theory, simulation, tables.

theory.md section 4 defines them; each belongs to a group of neurons, or to a pair of groups.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from giantstep.arrays import Array

# Dimensions and values.
Variable = tuple[tuple[str, ...], NDArray[Any]]
# Dimensions of the overlaps, and of the responses V1 and V2.
OVERLAP_DIMENSIONS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("m", "zeta", "psi", "q1", "q2", "V1", "V2", "xi"), ("group",)),
    **dict.fromkeys(("q1", "V1"), ("group", "other_group")),
}


class Overlaps(NamedTuple):
    """Overlaps that decide the distribution of a network's predictions.

    Attributes
    ----------
    m, zeta, psi : Array, shape (..., G)
        Sum of the readout, overlap of `a^T W` with the spike, and with the unit vector orthogonal
        to the spike in the plane of spike and target.
    q1 : Array, shape (..., G, G)
        Overlaps of `a^T W`, without its part along the spike, between groups.
    q2 : Array, shape (..., G)
        Squared norm of the readout.
    xi : Array, shape (..., G), optional
        Overlap with the change of the neurons' norms; None where it vanishes or is not measured.
    """

    m: Array
    zeta: Array
    psi: Array
    q1: Array
    q2: Array
    xi: Array | None = None

    @classmethod
    def of(cls, record: Any) -> Overlaps:
        """Pick the overlaps from `Columns`, or from anything with attributes of these names."""
        return cls(*(getattr(record, name, None) for name in cls._fields))  # type: ignore[arg-type]

    def flatten(self) -> Overlaps:
        """Reshape so that a single dimension precedes those of the groups."""
        leading = self.m.ndim - 1
        flat = (x if x is None else x.reshape(-1, *x.shape[leading:]) for x in self)
        return Overlaps(*flat)  # type: ignore[arg-type]


def by_groups(dims: tuple[str, ...], values: NDArray[Any], further: tuple[str, ...]) -> Variable:
    """Name an array's dimensions, and drop those of a single group of neurons."""
    if "group" in further and values.shape[-1] == 1:
        return dims, values.reshape(values.shape[: len(dims)])
    return (*dims, *further), values
