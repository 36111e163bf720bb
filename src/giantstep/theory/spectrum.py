"""The spectrum of the features' covariance K = Phi^T Phi: theory.md section 8, Figure 8.

Its density, the intervals on which that does not vanish, eigenvalues that are zero, and outliers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from giantstep.arrays import Array, Indices, Mask
from giantstep.numerics.interval_rule import interval_rule
from giantstep.problems.bulk_kind import ISOTROPIC
from giantstep.problems.problem import Problem
from giantstep.theory.outliers import outliers_at
from giantstep.theory.spectral_density import SpectralDensity
from giantstep.validation import refusal

# The bulk is where the density in log x exceeds the first of these and, below its peak, the second:
# above, unbounded labels have a tail that no network is wide enough to show; below, saturated
# features have one that holds a share of the eigenvalues.
_EMPTY, _FAINT = 2e-4, 1e-7
# Gaps in the bulk whose ends have a smaller ratio are an artefact of the nodes over kappa, and so
# are intervals beyond a gap with a mass below `_EMPTY` times the log of their ends' ratio.
_GAP = 1.1
# Number of points, in geometric progression, of the first search.
_CANDIDATES = 280
# The search for the bulk begins at this fraction of its size; there are more points from the next.
_SMALLEST, _SMALL = 1e-24, 1e-4
# An interval that contains an edge is divided into so many parts, so many times.
_PARTS, _DIVISIONS = 8, 5
_FINDABLE = "nearer to beta, so that the whole bulk is wide enough to be found"
# The intervals found must contain this share of the eigenvalues that do not vanish, as measured
# with so many points in each.
_FOUND, _COARSE = 0.8, 64


@dataclass(frozen=True)
class Spectrum:
    """Asymptotic spectrum of Phi^T Phi.

    Attributes
    ----------
    x, density : Array, shape (M,)
        Density of the p eigenvalues at x > 0; NaN where the solver failed.
    mass_at_zero : float
        Fraction of eigenvalues that vanish.
    edges : Array, shape (B, 2)
        Ends of the intervals of the bulk.
    outliers : Array, shape (R,)
        Eigenvalues of order d, divided by d, largest first: equation (191). At a finite dimension,
        all those above the bulk, divided by d.
    """

    x: Array
    density: Array
    mass_at_zero: float
    edges: Array
    outliers: Array


def mass_at_zero(density: SpectralDensity) -> float:
    """Compute the fraction of vanishing eigenvalues from the rank min(n, p) of the features.

    Features without noise of their own (a linear activation) have rank d at most.
    """
    return 1 - min(density.alpha, density.equations.rank) / density.srf.beta


def outliers(density: SpectralDensity) -> Array:
    """Compute the eigenvalues of order d, divided by d: equation (191), for one group `n E mu0^2`.

    They are those of `alpha E mu0 mu0^T`, weighted by the groups' fractions: one for each direction
    of span{mu0}, largest first.
    """
    f, weight = density.features, np.sqrt(density.srf.groups.pi)
    mean = (f.mu0 * f.weight) @ f.mu0.T * np.outer(weight, weight)
    values = density.alpha * np.linalg.eigvalsh(mean)[::-1]
    return values[values > 1e-12 * density.alpha * max(1.0, float(values[0]))]


def bulk_edges(density: SpectralDensity) -> Array:
    """Find the intervals on which the density does not vanish.

    Parameters
    ----------
    density : SpectralDensity

    Returns
    -------
    Array, shape (B, 2)
        Empty if no candidate lies in the bulk.
    """
    scale = density.alpha / density.srf.beta * float(density.equations.folded.sum().real)
    spread = (1 + np.sqrt(density.srf.beta / density.alpha)) ** 2 * max(1.0, density.srf.beta)
    largest = 100 * spread * density.srf.groups.c.max()
    tail = np.geomspace(_SMALLEST, _SMALL, _CANDIDATES // 4, endpoint=False)
    x = scale * np.concatenate([tail, np.geomspace(_SMALL, largest, _CANDIDATES)])
    in_log = np.nan_to_num(x * density(x))
    empty = np.where(x > x[np.argmax(in_log)], _EMPTY, _FAINT)
    inside = in_log > empty
    ends = _locate(density, x, np.flatnonzero(inside[:-1] != inside[1:]), inside, empty)
    low, high = np.append(np.zeros(int(inside[0])), ends).reshape(-1, 2).T  # it may reach zero
    if not low.size:
        return np.empty((0, 2))
    gap = low[1:] > _GAP * high[:-1]
    edges = np.stack([low[np.r_[True, gap]], high[np.r_[gap, True]]], axis=-1)
    in_steps = in_log * np.gradient(np.log(x))
    mass = np.array([in_steps @ ((x > a) & (x < b)) for a, b in edges])
    return np.asarray(edges[np.r_[True, mass[1:] > _EMPTY * np.log(edges[1:, 1] / edges[:-1, 1])]])


def _locate(density: SpectralDensity, x: Array, at: Indices, inside: Mask, empty: Array) -> Array:
    """Locate, between x[at] and x[at + 1], where the density begins or ends.

    Parameters
    ----------
    density : SpectralDensity
    x : Array, shape (M,)
    at : integer array, shape (E,)
    inside : boolean array, shape (M,)
        Whether each of x is in the bulk.
    empty : Array, shape (M,)
        Where the density in log x exceeds this at each of x.
    """
    low, width = np.log(x[at]), np.log(x[at + 1] / x[at])
    for _ in range(_DIVISIONS if at.size else 0):
        width = width / _PARTS
        points = np.exp(low + np.arange(1, _PARTS)[:, None] * width)
        in_log = points * density(points.ravel()).reshape(points.shape)
        same = np.logical_and.accumulate((in_log > empty[at]) == inside[at])
        low = low + same.sum(axis=0) * width
    return np.exp(low + width / 2)


def spectrum(
    problem: Problem,
    alpha: float,
    points: int = 400,
    bulk: str = ISOTROPIC,
    dimension: float = math.inf,
) -> Spectrum:
    """Compute the asymptotic spectrum of Phi^T Phi.

    A trained bulk changes the density: the covariance that the first batch gives to the rows widens
    it. It changes no eigenvalue of order d, since these follow from the means mu0 alone. Norms that
    depend on the overlap with the spike change neither: they add one direction of neurons per group
    that is as long as `W v`, a perturbation of finite rank and of order 1.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    alpha : float
        Sample complexity n/d, > 0.
    points : int
        Number of points at which the density is computed. The intervals of the bulk share them;
        they are denser towards its ends, and geometric where an interval (nearly) reaches zero.
    bulk : str
        As in `solve.solve`.
    dimension : float
        d, at which outliers are computed: `outliers.outliers_at`. The bulk is that of the limit. A
        step smaller than the giant one needs it.

    Returns
    -------
    Spectrum

    Raises
    ------
    InvalidParametersError
        If the bulk is too narrow to be found, or so spread that a part is missed, as where
        alpha/beta is below 1e-4 or so; for an unknown bulk, or a trained bulk of features given
        directly.

    Examples
    --------
    >>> from giantstep import Protocol
    >>> protocol = Protocol("tanh", "sin", learning_rate=3, alpha0=0.5, beta=1)
    >>> spectrum(protocol, 2.0).edges.round(2)
    array([[0.01, 2.95]])
    >>> spectrum(protocol, 2.0, bulk="trained").edges.round(2)
    array([[0.01, 3.93]])
    """
    problem = problem.with_giant_step(dimension)
    density = SpectralDensity(problem, alpha, bulk)
    edges, zeros = bulk_edges(density), mass_at_zero(density)
    if not edges.size:
        raise refusal("alpha", alpha, _FINDABLE)
    own, dx = interval_rule(edges, max(points, _COARSE))
    if dx @ density(own) < _FOUND * (1 - zeros):
        raise refusal("alpha", alpha, _FINDABLE)
    x = interval_rule(edges, points)[0]
    return Spectrum(
        x=x,
        density=density(x),
        mass_at_zero=zeros,
        edges=edges,
        outliers=outliers(density)
        if math.isinf(dimension)
        else outliers_at(problem, alpha, dimension, edges[-1, 1]) / dimension,
    )
