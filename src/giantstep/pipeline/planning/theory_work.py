"""What solving the theory takes: seconds and memory, from plain measured figures."""

from __future__ import annotations

from functools import cache

from giantstep.numerics.scalar_functions import lookup
from giantstep.pipeline.planning.simulation_work import group_count
from giantstep.problems.bulk_kind import ISOTROPIC, TRAINED
from giantstep.problems.grid import Grid
from giantstep.problems.losses import SQUARE, ClippedLoss, lookup_loss
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.targets import teacher_of
from giantstep.theory.features.conditional_features import check_resolution, kappa_rule
from giantstep.theory.features.equivalent_features import equivalent_features
from giantstep.theory.spectral_density import FINENESS

# Seconds of a point of the theory with one group of neurons: with the isotropic bulk, with a
# trained one (which also needs setting up), and with another loss than the square: a smooth one,
# and one with a corner, which needs finer rules.
POINT_SECONDS, TRAINED_POINT_SECONDS = 2e-4, 4e-4
SMOOTH_POINT_SECONDS, CORNER_POINT_SECONDS = 0.04, 0.15
TRAINED_SECONDS = 0.3
# Seconds of a protocol of a map, prepared and solved with an isotropic and with a trained bulk.
MAP_POINT_SECONDS = 0.03
# Seconds of a gradient step that the theory follows, on two rules: of smooth functions, of those
# with kinks, and with the whole covariance that a batch gives to the rows.
SMOOTH_STEP_SECONDS, KINKED_STEP_SECONDS, COVARIANCE_STEP_SECONDS = 3e-3, 1.5e-2, 0.3
# MiB of a trained bulk or a convex loss, and of each point.
TRAINED_MEMORY, POINT_MEMORY = 600.0, 0.015
# Points that a search for the best ridge takes as long as, for the square loss and for others.
_SEARCH, _CONVEX_SEARCH = 20, 28
# Learning rates that a search for the best tries, likewise. Each is a theory to prepare, which for
# the square loss takes as long as so many points.
_RATES, _CONVEX_RATES, _POINTS_PER_RATE = 41, 20, 100
# Seconds of a node over kappa at a point of a spectrum with one group of neurons, the share that
# the square of the number of groups adds, the points that the search for the bulk takes, and the
# factor of a trained bulk.
_NODE_SECONDS, _GROUPS_SHARE, _EDGE_POINTS, _TRAINED_FACTOR = 1e-6, 0.12, 1400, 1.6


def theory_points(grid: Grid, optimal: bool) -> int:
    """Count the points that are solved, those of the search for the best ridge included."""
    return len(grid.alpha) * (len(grid.ridge) + (search_points(grid.loss) if optimal else 0))


def search_points(loss: str) -> int:
    """Count the points of a search for the best ridge, at one sample complexity."""
    return _SEARCH if loss == SQUARE else _CONVEX_SEARCH


def optimum_points(loss: str, best_ridge: bool) -> int:
    """Count the points of a search for the best learning rate, at one ridge or the best."""
    if loss == SQUARE:
        return _RATES * _POINTS_PER_RATE * (2 if best_ridge else 1)
    return _CONVEX_RATES * (_CONVEX_SEARCH if best_ridge else 1)


def theory_seconds(problem: Problem, points: int, loss: str, bulk: str) -> float:
    """Estimate the seconds of one core."""
    return steps_seconds(problem, bulk) + _points_seconds(problem, points, loss, bulk)


def rates_seconds(problem: Protocol, rates: int, points: int, loss: str, bulk: str) -> float:
    """Estimate the seconds of the theory after each step, at several learning rates."""
    solved = _points_seconds(problem, problem.steps * points, loss, bulk)
    return rates * (steps_seconds(problem, bulk) + solved)


def steps_seconds(problem: Problem, bulk: str = ISOTROPIC) -> float:
    """Estimate the seconds of following gradient steps, where one formula does not give them."""
    if not isinstance(problem, Protocol):
        return 0.0
    if bulk == TRAINED:
        return problem.steps * COVARIANCE_STEP_SECONDS
    if problem.as_in_paper:
        return 0.0
    kinked = lookup(problem.activation).kinks or (
        teacher_of(problem.target) is None and lookup(problem.target).kinks
    )
    return problem.steps * (KINKED_STEP_SECONDS if kinked else SMOOTH_STEP_SECONDS)


def _points_seconds(problem: Problem, points: int, loss: str, bulk: str) -> float:
    pairs = group_count(problem) ** 2
    if loss != SQUARE:
        return points * pairs * _convex_point_seconds(loss)
    if bulk == ISOTROPIC:
        return points * pairs * POINT_SECONDS
    return TRAINED_SECONDS + points * pairs * TRAINED_POINT_SECONDS


def _convex_point_seconds(loss: str) -> float:
    found = lookup_loss(loss)
    cornered = isinstance(found, ClippedLoss) and found.inverse_curvature == 0
    return CORNER_POINT_SECONDS if cornered else SMOOTH_POINT_SECONDS


def map_seconds(points: int) -> float:
    """Estimate the seconds of one core for protocols, with both bulks."""
    return points * MAP_POINT_SECONDS


def theory_memory(points: int, loss: str, bulk: str) -> float:
    """Estimate the MiB, beside the process itself."""
    plain = loss == SQUARE and bulk == ISOTROPIC
    return (0.0 if plain else TRAINED_MEMORY) + points * POINT_MEMORY


@cache
def spectrum_seconds(problem: Problem, points: int, bulk: str, dimension: float) -> float:
    """Estimate the seconds of one core.

    Raises
    ------
    InvalidParametersError
        If the features vary on too small a scale for a spectrum.
    """
    srf = equivalent_features(problem, dimension)
    check_resolution(problem, srf)
    nodes = kappa_rule(srf, FINENESS)[0].size
    seconds = nodes * _NODE_SECONDS * (1 + _GROUPS_SHARE * group_count(problem) ** 2)
    seconds *= _EDGE_POINTS + points
    return seconds if bulk == ISOTROPIC else _TRAINED_FACTOR * seconds
