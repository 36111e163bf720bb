r"""The variances V1, V2 of Result 3.3: the one non-linear solve, theory.md sections 4 and 5.

The unknowns are divided by a `scale`, so that the ridgeless limit below the interpolation
threshold, where V1 and V2 diverge like 1/ridge, is an ordinary point: with W = scale V and hats
times 1/scale the equations keep their form, `1 + V` becoming `scale + W` and `ridge` becoming
`ridge/scale`. Everywhere else the scale is 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from giantstep.activations import Array
from giantstep.features import ConditionalFeatures
from giantstep.protocol import SpikedFeatures

# Relative residual, and relative error of V as the next Newton step tells it, at which a point is
# done; and what rounding may leave of both where Newton can no longer improve them.
TOLERANCE, STEP_TOLERANCE = 1e-13, 1e-9
ACCEPTED, STEP_ACCEPTED = 1e-10, 1e-6
MAX_ITERATIONS = 200
SHORTEST = 1e-4


@dataclass(frozen=True)
class Resolvent:
    """Solution of the non-linear part at S grid points.

    Attributes
    ----------
    alpha, scale : Array, shape (S,)
        Sample complexity, and the scale of all that follows.
    V, V_hat : Array, shape (S, 2)
        (V1, V2) times the scale, and their hats over it.
    T : Array, shape (S, 2, 2)
        ((T22, T21), (T21, T20)) = -d(V1, V2)/d(V1_hat, ridge + V2_hat), times the scale squared.
    contraction : Array, shape (S, N)
        1/(1 + V(kappa)), over the scale.
    residual : Array, shape (S,)
        Largest relative residual of the two equations.
    error : Array, shape (S,)
        Relative size of the next Newton step; infinite where the solution is (no ridge, and as
        many samples as features).
    iterations : integer array, shape (S,)
    """

    alpha: Array
    scale: Array
    V: Array
    V_hat: Array
    T: Array
    contraction: Array
    residual: Array
    error: Array
    iterations: NDArray[np.int64]

    @property
    def converged(self) -> NDArray[np.bool_]:
        """Where both equations hold, at a point."""
        return (self.residual <= ACCEPTED) & (self.error <= STEP_ACCEPTED)


def variances(V1_hat: Array, L: Array, c: float, beta: float) -> tuple[Array, Array]:
    """Map the hats to (V1, V2) and to T = -d(V1, V2)/d(V1_hat, L), `L = ridge + V2_hat`.

    The resolvent of theory.md section 4 for one group: q solves `q (L + c M(q)) = 1`, a quadratic
    whose positive root is taken without cancellation (section 5's g(s) is c V1_hat q); then
    equation (19)'s traces follow as sums of positive terms.

    Returns
    -------
    V : Array, shape (S, 2)
    T : Array, shape (S, 2, 2)
    """
    a, b = beta * c * L * V1_hat, L + c * V1_hat * (1 - beta)
    root = np.sqrt(b**2 + 4 * a)
    with np.errstate(divide="ignore", invalid="ignore"):
        q = np.where(b >= 0, 2 / (b + root), (root - b) / (2 * a))
    shrink = 1 / (1 + beta * c * q * V1_hat)  # (I + beta D V1_hat)^-1, D = c q
    V1 = c * q * shrink
    slope = L + c * V1_hat * shrink**2
    T20 = q / slope
    T21 = V1 * shrink / slope
    T22 = beta * V1**2 + c * shrink**2 * T21
    T = np.stack([np.stack([T22, T21], axis=-1), np.stack([T21, T20], axis=-1)], axis=-2)
    return np.stack([V1, q], axis=-1), T


def _largest(pairs: Array) -> Array:
    largest: Array = np.max(np.abs(pairs), axis=-1)
    return largest


@dataclass(frozen=True)
class _Step:
    """The residual of the equations at some V (S points), and the Newton step from there."""

    V_hat: Array
    T: Array
    contraction: Array
    gap: Array
    newton: Array

    @property
    def norm(self) -> Array:
        return _largest(self.gap)

    @property
    def length(self) -> Array:
        return _largest(self.newton)


class _Equations:
    """V = variances(hats(V)) on S points, in the logarithms of V.

    In logarithms the map is monotone with row sums of its Jacobian below one, so that the Newton
    matrix I - J is never singular and the residual can always be decreased.
    """

    def __init__(
        self, features: ConditionalFeatures, srf: SpikedFeatures, alpha: Array, ridge: Array
    ) -> None:
        self.c, self.beta = srf.bulk_variance, srf.beta
        # Squared coefficients of V1 and V2 in V(kappa), and their pairwise products.
        self.coefficients = np.stack([features.mu1**2, features.mu2_squared])
        m1, m2 = self.coefficients
        self.weighted = (self.coefficients * features.weight).T
        self.products = np.stack([m1 * m1, m1 * m2, m1 * m2, m2 * m2]) * features.weight
        self.ratio = alpha / self.beta
        self.scale = np.where((ridge == 0) & (alpha < self.beta), 0.0, 1.0)
        self.ridge = np.where(self.scale == 0, 1.0, ridge)

    def start(self) -> Array:
        """Solve the equations with hats of a data set without noise in the features."""
        hats = np.broadcast_to(self.ratio[:, None], (self.ratio.size, 2))
        V, _ = variances(hats[:, 0], self.ridge + hats[:, 1], self.c, self.beta)
        log_V: Array = np.log(V)
        return log_V

    def step(self, log_V: Array, at: NDArray[np.int64]) -> _Step:
        """Evaluate the equations at the points `at` of the batch."""
        V, ratio = np.exp(log_V), self.ratio[at]
        contraction = 1 / (self.scale[at, None] + V @ self.coefficients)
        V_hat = ratio[:, None] * (contraction @ self.weighted)
        mapped, T = variances(V_hat[:, 0], self.ridge[at] + V_hat[:, 1], self.c, self.beta)
        slopes = (contraction**2 @ self.products.T).reshape(-1, 2, 2) * ratio[:, None, None]
        jacobian = (T @ slopes) * V[:, None, :] / mapped[:, :, None]
        gap = log_V - np.log(mapped)
        return _Step(V_hat, T, contraction, gap, -solve_two(np.eye(2) - jacobian, gap))


def solve_two(matrix: Array, vector: Array) -> Array:
    """Solve 2 x 2 systems, shapes (S, 2, 2) and (S, 2); singular ones give no finite number."""
    (a, b), (c, d) = np.moveaxis(matrix, (-2, -1), (0, 1))
    x, y = np.moveaxis(vector, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        solution: Array = np.stack([d * x - b * y, a * y - c * x], -1) / (a * d - b * c)[..., None]
    return solution


def solve_resolvent(
    features: ConditionalFeatures, srf: SpikedFeatures, alpha: Array, ridge: Array
) -> Resolvent:
    """Solve equations (18)-(20) for V1, V2 and their hats at all points at once, by Newton.

    A step that does not lower the residual is shortened; a point that is done, or whose residual
    cannot be lowered, leaves the batch. `Resolvent.converged` says which points may be used.

    Parameters
    ----------
    features : ConditionalFeatures
    srf : SpikedFeatures
        The bulk variance and the width.
    alpha, ridge : Array, shape (S,)
        The points; alpha > 0, ridge >= 0.
    """
    equations = _Equations(features, srf, alpha, ridge)
    log_V = equations.start()
    everywhere = np.arange(alpha.size)
    state = equations.step(log_V, everywhere)
    norm, newton = state.norm, state.newton
    length = np.ones(alpha.size)
    iterations = np.zeros(alpha.size, dtype=np.int64)
    active = everywhere
    while active.size and iterations.max() < MAX_ITERATIONS:
        trial = log_V[active] + length[active, None] * newton[active]
        with np.errstate(all="ignore"):  # a wild trial is not better, and is shortened
            state = equations.step(trial, active)
        better = state.norm < norm[active]
        taken = active[better]
        log_V[taken] = trial[better]
        norm[taken], newton[taken] = state.norm[better], state.newton[better]
        length[taken] = 1.0
        length[active[~better]] /= 4
        iterations[active] += 1
        far = _largest(newton[active]) > STEP_TOLERANCE
        active = active[((norm[active] > TOLERANCE) | far) & (length[active] > SHORTEST)]
    state = equations.step(log_V, everywhere)
    return Resolvent(
        alpha=alpha,
        scale=equations.scale,
        V=np.exp(log_V),
        V_hat=state.V_hat,
        T=state.T,
        contraction=state.contraction,
        residual=state.norm,
        error=np.where((ridge == 0) & (alpha == srf.beta), np.inf, state.length),
        iterations=iterations,
    )
