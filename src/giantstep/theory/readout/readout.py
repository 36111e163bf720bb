"""What all readouts have in common: two rules, batches, certificates, and what is left out."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache, cached_property
from typing import NamedTuple, Self

import numpy as np

from giantstep.arrays import Array, Indices, Mask
from giantstep.theory.features.conditional_features import ConditionalFeatures
from giantstep.theory.readout.columns import RELIABILITY, Columns
from giantstep.theory.readout.prepared_layer import PreparedLayer
from giantstep.theory.reliability import Fluctuation, MeanFluctuation, Reliability

# Floats of an array over the points solved together, so that it stays in the processor's cache.
_BATCH_FLOATS = 1_500_000
# Change of the test error with twice as many letters in the place of a normal readout, at which a
# point is resolved.
_LETTERS_RESOLVED = 5e-3


# Test errors, and the inputs of their correction for the fluctuation of the mean.
Estimate = tuple[Array, Fluctuation, ConditionalFeatures]


class Solved(NamedTuple):
    """The solution at S points, and how far it holds.

    Attributes
    ----------
    values : dict of Array, shape (S, ...)
        Columns, among them `test_error`, `training_error`, `m`, `residual` and `iterations`, and
        for some losses `leave_one_out` and `gcv`.
    converged : Mask, shape (S,)
    shift, change : Array, shape (S,)
        Relative changes of the hats and of the test error with twice as many nodes.
    fluctuation : Fluctuation
    variance, slope : Array, shape (S,)
        Arguments of `Reliability.at`; the slope is that on the usual rule.
    """

    values: dict[str, Array]
    converged: Mask
    shift: Array
    change: Array
    fluctuation: Fluctuation
    variance: Array
    slope: Array = np.zeros(())

    def overwrite(self, places: Indices, other: Solved) -> None:
        """Replace points by those of another result that converged.

        The fluctuation and the slope stay as they are.
        """
        better = np.flatnonzero(other.converged)
        pairs = [(self.values[name], values) for name, values in other.values.items()]
        pairs += (self.shift, other.shift), (self.change, other.change)
        pairs.append((self.variance, other.variance))
        for mine, theirs in pairs:
            mine[places[better]] = theirs[better]


class Readout(ABC):
    """The readout on one first layer, prepared once and then solved at any points.

    Parameters
    ----------
    layer : PreparedLayer
    near : Readout, optional
        A readout for the same unknowns with solutions nearby, from which to start.

    Attributes
    ----------
    arrays : int
        Arrays of points by nodes that are in use at once.
    hats_resolved : float
        Change of the hats up to which a point is resolved, if the layer's own is smaller.
    at : callable
        The readout at another dimension, on the same rows.
    """

    arrays, hats_resolved = 1, 0.0
    elsewhere: float | None = None

    def __init__(self, layer: PreparedLayer, near: Self | None = None) -> None:
        _keep_memory()
        self.layer, self.near, self.square_loss = layer, near, layer.square_loss
        self.at: Callable[[float], Readout] = cache(
            lambda d: self.on(layer.at(d, self.elsewhere), self)
        )

    @property
    def features(self) -> ConditionalFeatures:
        """Features on a rule over kappa."""
        return self.square_loss.features

    @cached_property
    def reliability(self) -> Reliability:
        """What the theory leaves out."""
        return Reliability(self.layer.first, self.features)

    @cached_property
    def _by_letters(self) -> list[Self]:
        """The readout with two numbers of letters in the place of a normal initial readout.

        At infinite dimension, which is faster.
        """
        layers = self.layer.first.with_letters() or ()
        return [self.on(PreparedLayer(first, self.layer.bulk)) for first in layers]

    def on(self, layer: PreparedLayer, near: Self | None = None) -> Self:
        """Prepare this kind of readout on another layer."""
        return type(self)(layer, near)

    @abstractmethod
    def estimate(self, alpha: Array, ridge: Array) -> Estimate:
        """Compute test errors at S points; those that could not be solved are NaN."""

    @abstractmethod
    def find(self, alpha: Array, ridge: Array) -> Solved:
        """Solve S points."""

    def is_resolved(self, shift: Array, change: Array) -> Mask:
        """Tell where errors of quadrature are small enough."""
        accuracy = self.layer.first.accuracy(self.layer.bulk)
        return (shift <= max(accuracy.hats, self.hats_resolved)) & (change <= accuracy.error)

    def batches(self, points: int) -> list[slice]:
        """Divide points into those that are solved together."""
        f, rows = self.square_loss.features, self.square_loss.equations.bulk
        largest = max(f.kappa.size, rows.floats_per_point)
        batch = max(1, _BATCH_FLOATS // (2 * self.arrays * largest))  # on the finer rule
        return [slice(start, start + batch) for start in range(0, points, batch)]

    def solve(self, alpha: Array, ridge: Array) -> Columns:
        """Solve at the points (alpha, ridge).

        Parameters
        ----------
        alpha, ridge : Array, of one shape
            alpha > 0 and ridge >= 0; only for the square loss may the ridge be zero.

        Returns
        -------
        Columns
            Over points of that shape.
        """
        return self.in_batches(self._certified, alpha, ridge)

    def errors(self, alpha: Array, ridge: Array) -> Array:
        """Compute the test errors at points, without certificates; NaN where there is none."""
        return self.in_batches(self._error, alpha, ridge)["error"]

    def in_batches(
        self, solve: Callable[[Array, Array], dict[str, Array]], alpha: Array, ridge: Array
    ) -> Columns:
        """Solve at points of one shape, those of a batch together."""
        a, r = alpha.ravel(), ridge.ravel()
        with np.errstate(all="ignore"):  # points that are not finite are marked as failed
            parts = [Columns(solve(a[part], r[part])) for part in self.batches(a.size)]
        whole = Columns.joined(parts).items()
        return Columns({name: x.reshape(*alpha.shape, *x.shape[1:]) for name, x in whole})

    def _error(self, alpha: Array, ridge: Array) -> dict[str, Array]:
        """Estimate test errors, with what the mean's fluctuation adds at finite dimension."""
        error, fluctuation, features = self.estimate(alpha, ridge)
        if math.isfinite(self.layer.first.dimension):
            error = error + MeanFluctuation(features, self.layer.first.dimension).at(fluctuation)
        return {"error": error}

    def _certified(self, alpha: Array, ridge: Array) -> Columns:
        """Solve S points, and add certificates and estimates of what is left out."""
        found = self.find(alpha, ridge)
        quadrature_error = np.maximum(found.shift, found.change)
        resolved = self.is_resolved(found.shift, found.change)
        if self._by_letters:
            one, finer = (kind.find(alpha, ridge).values["test_error"] for kind in self._by_letters)
            of_letters = np.abs(finer / one - 1)
            quadrature_error = np.fmax(quadrature_error, of_letters)
            resolved &= ~(of_letters > _LETTERS_RESOLVED)
        estimates = self._estimates(found, alpha, ridge)
        columns = Columns(found.values | estimates, quadrature_error=quadrature_error)
        if "leave_one_out" in columns:
            columns["leave_one_out"] += columns["test_error"] - found.values["test_error"]
        for name in ("test", "training"):  # of the square loss it is half the error
            columns.setdefault(f"{name}_loss", columns[f"{name}_error"] / 2)
        columns.certify(found.converged, resolved, self.features.label_power)
        return columns

    def _estimates(self, found: Solved, alpha: Array, ridge: Array) -> dict[str, Array]:
        """Compute what `Reliability.at` returns, and the sum of the corrections."""
        error, m = found.values["test_error"], found.values["m"]
        estimates = self.reliability.at(found.fluctuation, error, found.variance, m, found.slope)
        squares = [x**2 for name, x in estimates.items() if name.startswith(RELIABILITY)]
        estimates[RELIABILITY] = np.sqrt(np.sum(squares, axis=0))
        if components := self.reliability.leading_components:
            points = self.square_loss.equations.points(alpha, ridge)
            estimates |= components(alpha, points.ridge, found.fluctuation.minus_dg)
        return estimates


@cache
def _keep_memory() -> None:
    """Let this process keep the memory that arrays leave.

    glibc gives it back to the system beyond the size of the largest block ever freed, of at most
    32 MiB. To get it again, page by page, takes longer than to compute on it.
    """
    np.empty(32_000_000, dtype=np.uint8)
