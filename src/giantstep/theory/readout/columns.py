"""What a readout is at some points: columns of values by name, with the status of each point."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from giantstep.arrays import Mask
from giantstep.problems.overlaps import OVERLAP_DIMENSIONS, Variable, by_groups
from giantstep.theory.readout.fixed_point import ACCEPTED
from giantstep.theory.readout.status import Status

# Dimensions that a column has beside those of the points: overlaps have groups of neurons.
PARAMETER = "parameter"
DIMENSIONS = OVERLAP_DIMENSIONS | {"derivative": (PARAMETER,)}
# Name of the sum of all estimated relative corrections; the names of its parts begin with it.
RELIABILITY = "reliability"
# Squared errors may be negative by rounding, but by no more than this, times the label's square.
_NEGATIVE_ERROR = -1e-9
# Columns that keep their values where a point failed.
_CERTIFICATES = {"residual", "quadrature_error", "iterations"}


class Columns(dict[str, NDArray[Any]]):
    """Arrays over points by name, of shape (*points, ...): those of `vocabulary.csv`.

    They are attributes, too. Overlaps have further dimensions, `DIMENSIONS`.

    Examples
    --------
    >>> columns = Columns(test_error=np.ones(6), m=np.ones((6, 5)))
    >>> columns.m.shape
    (6, 5)
    >>> columns.variables({"alpha": 3, "ridge": 2})["m"][0]
    ('alpha', 'ridge', 'group')
    """

    def __getattr__(self, name: str) -> NDArray[Any]:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def certify(self, converged: Mask, resolved: Mask, label_power: float) -> None:
        """Give each of S points its status, and set those that failed to NaN.

        Parameters
        ----------
        converged, resolved : Mask, shape (S,)
            Whether the equations hold, and whether quadrature resolves them.
        label_power : float
            The second moment of the label.
        """
        errors = self["test_error"], self["training_error"]
        stable = np.isfinite(errors[0]) & (self["residual"] <= ACCEPTED)
        stable &= np.minimum(*errors) >= _NEGATIVE_ERROR * label_power
        for error in errors:
            np.maximum(error, 0.0, out=error)
        status = np.where(stable, np.int8(Status.CONVERGED), np.int8(Status.UNSTABLE))
        status[stable & ~resolved] = Status.UNRESOLVED
        status[~converged] = Status.NOT_CONVERGED
        failed = np.flatnonzero(status != Status.CONVERGED)
        for name in self.keys() - _CERTIFICATES if failed.size else ():
            self[name][failed] = np.nan
        self["status"] = status

    def variables(
        self, sizes: Mapping[str, int], without: Container[str] = (), squeezed: bool = False
    ) -> dict[str, Variable]:
        """Arrange columns over points by dimensions of some sizes, `without` some of them.

        Those of a single group of neurons may be squeezed.
        """
        dims, arranged = tuple(sizes), dict[str, Variable]()
        for name in [name for name in self if name not in without]:
            values = self[name].reshape((*sizes.values(), *self[name].shape[1:]))
            further = DIMENSIONS.get(name, ())
            whole = (*dims, *further), values
            arranged[name] = by_groups(dims, values, further) if squeezed else whole
        return arranged

    @classmethod
    def joined(cls, parts: Sequence[Columns]) -> Columns:
        """Join the columns of some points to those of others."""
        return cls({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
