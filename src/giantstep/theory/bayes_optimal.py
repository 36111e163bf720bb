"""The best prediction from all samples: docs/best-possible.md.

After Barbier, Krzakala, Macris, Miolane, Zdeborova, PNAS 116, 5451 (2019), for Gaussian inputs and
labels that depend on one direction, which is uniform on the sphere.
"""

from __future__ import annotations

import math
from functools import cache, cached_property

import numpy as np
import scipy  # whose modules are imported when they are first used

from giantstep.arrays import Array
from giantstep.numerics.function_table import ScalarFunction
from giantstep.numerics.gaussian import moments
from giantstep.numerics.quadrature import graded_edges, split_rule, unit_edges
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.problem import LabelLevels, Problem, label_levels
from giantstep.problems.targets import teacher_of
from giantstep.theory.label_channel import Channel, exact_channel, noisy_channel
from giantstep.validation import InvalidParametersError, refusal

# Number of overlaps at which the channel is averaged, denser near q = 0. Beyond the largest that
# its rules resolve, the average follows a power of 1 - q.
_NODES = 64
# Values of ln sqrt(1 - q) between which fixed points are searched for.
_SOUGHT = -np.concatenate([[0.0], np.geomspace(1e-7, 14, 20_000)])
# Below this a mean square is rounding.
_ZERO = 1e-9
# Most Hermite coefficients of labels that are tried for the generative exponent.
_LARGEST_EXPONENT = 6


class StateEvolution:
    """The overlap that samples of a channel make possible, as a fixed point.

    With `x = ln sqrt(1 - q)`, R the mean square of `E[z | y, omega] - omega` over 1 - q, and alpha
    samples over d, fixed points are `q = alpha R`, and the free entropy of an overlap is the
    integral of `alpha R - q` over x, down from q = 0.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    @cached_property
    def _information(self) -> scipy.interpolate.CubicSpline:
        """R over the square root of -x."""
        roots = np.linspace(0, math.sqrt(-math.log(self._channel.smallest)), _NODES)
        R = [self._channel.explained(1, -math.expm1(-2 * root**2)) for root in roots]
        # R is a function of q, so that its slope by the root is zero at q = 0.
        return scipy.interpolate.CubicSpline(roots, R, bc_type=((1, 0.0), "not-a-knot"))

    @cached_property
    def generative_exponent(self) -> float:
        """The least k for which E[He_k(z) | y] is not zero; infinity beyond 6."""
        orders = range(1, _LARGEST_EXPONENT + 1)
        return next((k for k in orders if self._channel.explained(k, 0.0) > _ZERO), math.inf)

    @cached_property
    def weak_recovery(self) -> float:
        """The samples over d beyond which an uninformed start leads to an overlap above zero."""
        known = {1: 0.0, 2: 1 / max(self._channel.explained(2, 0.0), _ZERO)}
        return known.get(int(min(self.generative_exponent, 3)), math.inf)

    @cached_property
    def _at_sought(self) -> Array:
        """R where fixed points are sought."""
        root, end, limit = np.sqrt(-_SOUGHT), self._information.x[-1], self._channel.continuous
        last, slope = self._information(end), self._information(end, 1)
        power = 1.0 if limit else -slope / (2 * end * last)
        beyond = limit + (last - limit) * np.exp(power * np.minimum(end**2 - root**2, 0))
        return np.where(root > end, beyond, self._information(np.minimum(root, end)))

    def overlaps(self, alpha: float) -> tuple[float, float]:
        """Find the squared overlaps that alpha samples over d make possible.

        Returns
        -------
        best, amp : float
            That of the best method, which maximises the free entropy; and that of AMP (approximate
            message passing) from an uninformed start. No faster method is known to do better.
        """
        if math.isinf(alpha):
            return 1.0, float(self.weak_recovery < math.inf)
        gain = alpha * self._at_sought + np.expm1(2 * _SOUGHT)
        if self.weak_recovery > 0:  # the gain vanishes at q = 0
            gain[0] = 1.0 if alpha > self.weak_recovery else -1.0
        falls = np.append(np.flatnonzero(gain <= 0), gain.size)
        entropy = np.cumsum(-np.diff(_SOUGHT) * (gain[1:] + gain[:-1]) / 2, dtype=float)
        largest = 1 + int(np.argmax(entropy)) if entropy.max() > 0 else 0
        best = int(falls[np.searchsorted(falls, largest)])
        if alpha * self._channel.continuous > 1:  # the entropy grows without bound
            best = gain.size
        return _fixed_point(gain, best), _fixed_point(gain, int(falls[0]))


def _fixed_point(gain: Array, place: int) -> float:
    """Return q between the place where the gain is no longer positive and the one before."""
    if place in (0, gain.size):
        return float(place > 0)
    share = gain[place] / (gain[place] - gain[place - 1])
    return float(-np.expm1(2 * (_SOUGHT[place] + share * (_SOUGHT[place - 1] - _SOUGHT[place]))))


def state_evolution(problem: Problem) -> StateEvolution:
    """Return the state evolution of a problem's labels.

    Raises
    ------
    InvalidParametersError
        For a target of several directions, or noise that is not covered.
    """
    if teacher_of(problem.target):
        raise _refusal("target", problem.target, "of one direction")
    if getattr(problem, "is_transfer", False):
        raise _refusal("target", problem.target, "that of all samples")
    return _state_evolution(problem.target, label_levels(problem))


def _refusal(name: str, given: object, allowed: str) -> InvalidParametersError:
    return refusal(name, given, f"{allowed}, for the best possible error")


@cache
def _state_evolution(target: str, levels: LabelLevels) -> StateEvolution:
    function, least = lookup(target), min(variance for _, variance, _ in levels)
    if not any(variance for _, variance, _ in levels):
        return StateEvolution(exact_channel(function, {s: share for s, _, share in levels}))
    if least == 0:
        raise _refusal("noise", 0.0, "above 0 where some labels have noise")
    return StateEvolution(noisy_channel(function, levels))


def prediction_error(function: ScalarFunction, q: float) -> float:
    """Compute the error of the best prediction, E Var(f(z) | omega), at a squared overlap q."""
    if q >= 1:
        return 0.0
    spread, root = math.sqrt(1 - q), math.sqrt(max(q, 1e-9))
    graded = [graded_edges(kink / root, spread / root) for kink in function.kinks]
    xi, weights = split_rule(unit_edges(np.concatenate([[0.0], *graded])))
    given = moments(function, math.sqrt(q) * xi, spread)
    return float(weights @ (given.residual + given.slope**2))
