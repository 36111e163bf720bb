r"""What the first batch leaves behind in the weights: theory.md section 9, docs/trained-bulk.md.

Given the batch, a row of the bulk of a neuron whose readout is omega has covariance
`(I + omega^2 tau B)/d`, `B = (1/n0) sum y^2 x x^T`. All that the theory needs of the random matrix
B are limits of its resolvents `Z_k = 1/(1 + theta_k B)`: normalised traces of `B^j Z_k` and of
`B^j Z_k Z_l`, and forms of the same between the spike v and the unit vector across it towards the
target. One scalar equation for `f_k = tr Z_k` gives them all in closed form: those of pairs are
divided differences, exact where theta_k = theta_l. Traces are sums of positive terms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import roots_hermitenorm, roots_legendre

from giantstep.arrays import Array
from giantstep.numerics.gaussian import derivative_variance, hermite_coefficients, moments
from giantstep.numerics.newton import iterate_newton
from giantstep.numerics.quadrature import NODES, RANGE, graded_edges, split_rule, unit_edges
from giantstep.numerics.scalar_functions import ScalarFunction, lookup
from giantstep.problems.problem import noise_levels, noise_power
from giantstep.problems.protocol import Protocol
from giantstep.problems.readout import Vocabulary
from giantstep.theory.equivalent_features import equivalent_features

# Newton's method for a trace: most steps, and the relative step at which it has converged.
_MAX_ITERATIONS, _TOLERANCE = 100, 4e-15
# A coefficient of sigma below this is zero by symmetry.
_ROUNDING = 1e-12
# Panels of the rule over s are no more than this; from this sharpness down there is nothing sharp.
_MOST_PANELS, _FLATTEST = 600, 1e-2
# Beyond so many standard deviations from zero, noise is small: so many draws of it do.
_NEAR, _DRAWS = 10, 24
# Powers of y and of s = theta.x whose damped expectations are needed.
_POWERS = {"y2": (2, 0), "y4": (4, 0), "y6": (6, 0), "y2s2": (2, 2), "y4s2": (4, 2),
           "y3s": (3, 1), "y5s": (5, 1)}  # fmt: skip


class Damped(NamedTuple):
    """Expectations of powers of y and s, damped by one or two factors 1/(1 + theta f y^2/alpha0).

    Arrays of shape (S, R) or (S, R, R).
    """

    y2: Array
    y4: Array
    y6: Array
    y2s2: Array
    y4s2: Array
    y3s: Array
    y5s: Array


class Traces(NamedTuple):
    """Normalised traces of B^j Z_k, or of B^j Z_k Z_l, for j = 0, 1, 2 and, of pairs, 3."""

    powers: tuple[Array, ...]
    damped: Damped


@dataclass(frozen=True, eq=False)
class FirstBatch:
    """The first batch, as far as the trained weights remember it.

    Attributes
    ----------
    tau : float
        e^2 hcheck^2/alpha0: how strongly the bulk takes B in.
    scarcity : float
        1/alpha0.
    alignment : float
        gamma = v . theta.
    handedness : float
        +1 or -1: the sign of v along the mean of y x.
    coupling : float
        `e b3 |v~|` with that sign, b3 = E sigma He_3: a neuron's step along itself is `coupling`
        times its overlap with the spike.
    power : float
        E y^2.
    squares : Array, shape (N,)
        y^2 on the nodes of a rule over y.
    integrands : Array, shape (N, 7)
        The powers of `Damped`, times the weights of the rule.
    """

    tau: float
    scarcity: float
    alignment: float
    handedness: float
    coupling: float
    power: float
    squares: Array
    integrands: Array

    @classmethod
    def of(cls, protocol: Protocol, fineness: int = 1) -> FirstBatch:
        """Take one step on a batch.

        Parameters
        ----------
        protocol : Protocol
            With a step: alpha0 > 0.
        fineness : int
            Multiplies the number of nodes of the rule over s.
        """
        activation, target = lookup(protocol.activation), lookup(protocol.target)
        scarcity, e = 1 / protocol.alpha0, protocol.learning_rate / protocol.beta
        teacher = moments(target, 0.0, 1.0)
        power = float(teacher.second) + noise_power(protocol)
        norm = math.hypot(float(teacher.slope), math.sqrt(power * scarcity))
        h1 = float(moments(activation, 0.0, 1.0).slope)
        handedness = -1.0 if h1 < -_ROUNDING else 1.0  # as `srf` orients the spike
        b3 = math.sqrt(6) * float(hermite_coefficients(activation, 3)[3])
        b3 = 0.0 if abs(b3) < _ROUNDING else b3
        tau = e * e * derivative_variance(activation) * scarcity
        letters = max(abs(omega) for omega, _ in protocol.readout)
        sharpness = letters**2 * tau * scarcity
        y, weights = _mixed_labels(target, noise_levels(protocol), sharpness, fineness)
        return cls(
            tau=tau,
            scarcity=scarcity,
            alignment=equivalent_features(protocol).alignment,
            handedness=handedness,
            coupling=e * b3 * norm * handedness,
            power=power,
            squares=y**2,
            integrands=np.stack([y**i * weights[j] for i, j in _POWERS.values()], axis=1),
        )

    def trace(self, theta: Array) -> Array:
        """Solve `f (1 + theta E[y^2/(1 + theta f y^2/alpha0)]) = 1` for f = tr Z, shape (S, R).

        By Newton from zero: the left side is concave, and f rises to the solution.
        """
        power = self.integrands[:, 0]

        def advance(f: Array) -> tuple[Array, Array]:
            damping = self._damping(theta * f)
            gap = f * (1 + theta * (damping @ power)) - 1
            step = gap / (1 + theta * (damping**2 @ power))
            f = f - step
            return f, np.abs(step) / f

        return iterate_newton(advance, np.zeros_like(theta), _TOLERANCE, _MAX_ITERATIONS)

    def _damping(self, w: Array) -> Array:
        damping: Array = 1 / (1 + (self.scarcity * w)[..., None] * self.squares)
        return damping

    def singles(self, theta: Array) -> Traces:
        """Compute tr B^j Z_k for j = 0, 1, 2, shapes (S, R)."""
        f = self.trace(theta)
        E = self._expected(self._damping(theta * f))
        return Traces((f, f * E.y2, f * (E.y2**2 + self.scarcity * E.y4)), E)

    def _expected(self, damping: Array) -> Damped:
        return Damped(*np.moveaxis(damping @ self.integrands, -1, 0))

    def pairs(self, theta: Array, single: Traces) -> Traces:
        """Compute tr B^j Z_k Z_l for j = 0 ... 3, shapes (S, R, R)."""
        f, P, _ = single.powers
        damping = self._damping(theta * f)
        E = self._expected(damping[:, :, None] * damping[:, None])
        f_k, f_l, P_l, x = f[:, :, None], f[:, None], P[:, None], self.scarcity
        f0 = f_l / (1 + theta[:, :, None] * E.y2)
        f1 = E.y2 * f0
        f2 = E.y2 * f1 + x * f_k * f_l * E.y4
        f3 = f1 * E.y2**2 + x * f_k * (
            (2 * E.y2 * f_l + P_l) * E.y4
            + x * f_l * (theta[:, None] * f_l * E.y4**2 + E.y6)
        )  # fmt: skip
        return Traces((f0, f1, f2, f3), E)

    def forms(self, theta: Array, single: Traces) -> tuple[Array, Array]:
        """Compute forms of Z_k and of B Z_k between (v, across), shapes (S, R, 2, 2)."""
        f, P, A = single.powers
        E, x = single.damped, self.scarcity
        F = 1 / (1 + theta * E.y2s2)
        J = f * E.y3s
        H = theta * J
        return (
            self._turned(F, -F * H, P + x * F * H**2),
            self._turned(F * E.y2s2, F * J, A - x * F * H * J),
        )

    def pair_forms(self, theta: Array, single: Traces, pair: Traces) -> tuple[Array, Array, Array]:
        """Compute forms of B^j Z_k Z_l, j = 0, 1, 2, between (v, across), (S, R, R, 2, 2)."""
        # D is between the target and itself, N between it and the noise, M between that and itself,
        # in the units of `_turned`; their numbers are j.
        x, E = self.scarcity, pair.damped
        f = single.powers[0][:, :, None]
        F = 1 / (1 + theta * single.damped.y2s2)
        J = single.powers[0] * single.damped.y3s
        H = theta * J
        S_k, S_l = single.damped.y2s2[:, :, None], single.damped.y2s2[:, None]
        F_k, F_l, H_k, H_l = F[:, :, None], F[:, None], H[:, :, None], H[:, None]
        J_l, f_l, t_k, t_l = (
            J[:, None],
            single.powers[0][:, None],
            theta[:, :, None],
            theta[:, None],
        )
        f0, f1, f2, f3 = pair.powers
        both = F_k * F_l
        D0 = both * (1 + x * t_k * t_l * f0 * E.y4s2)
        D1 = both * (E.y2s2 + x * t_k * t_l * f1 * E.y4s2)
        D2 = both * (S_k * S_l + x * f0 * E.y4s2)
        C = f0 * E.y3s
        slope = x * f * f_l * E.y5s + f1 * E.y3s  # (J_k - C)/theta_l
        N1 = F_k * C - H_l * D1
        N2 = F_k * slope + J_l * D1
        M1 = f2 + x * (D1 * H_l**2 - F_k * C * (H_k + H_l))
        M2 = f3 - x * (D1 * H_l * J_l + F_k * (H_k * slope - C * J_l))
        M0 = f1 + x * (F_k * H_k**2 - t_l * D1 * H_l**2 + t_l * F_k * C * (H_k + H_l))
        N0 = -F_k * H_k - t_l * N1
        return self._turned(D0, N0, M0), self._turned(D1, N1, M1), self._turned(D2, N2, M2)

    def _turned(self, along: Array, mixed: Array, noise: Array) -> Array:
        """Turn forms between theta and the batch's noise into forms between v and across it.

        The mean of y x is `E[y s] theta` and, at right angles to it, noise of squared norm
        `E[y^2]/alpha0`. The spike is its direction, so that both pairs differ by a rotation. Of
        the form between theta and noise `mixed` is `sqrt(alpha0 E y^2)` times, of the form of the
        noise `noise` is E y^2 times.
        """
        gamma, rho = self.alignment, math.sqrt(1 - self.alignment**2)
        noise = noise / self.power
        mixed = mixed * (self.handedness * math.sqrt(self.scarcity / self.power))
        own = gamma**2 * along + 2 * gamma * rho * mixed + rho**2 * noise
        beyond = rho**2 * along - 2 * gamma * rho * mixed + gamma**2 * noise
        cross = gamma * rho * (along - noise) + (rho**2 - gamma**2) * mixed
        shape = (*own.shape, 2, 2)
        turned: Array = np.stack([own, cross, cross, beyond], axis=-1).reshape(shape)
        return turned


def _mixed_labels(
    target: ScalarFunction, levels: Vocabulary, sharpness: float, fineness: int
) -> tuple[Array, Array]:
    """Give `_labels` of labels that have noise of different variances, each with its share."""
    parts = [(*_labels(target, noise, sharpness, fineness), share) for noise, share in levels]
    return (
        np.concatenate([y for y, _, _ in parts]),
        np.hstack([share * weights for _, weights, share in parts]),
    )


def _labels(
    target: ScalarFunction, noise: float, sharpness: float, fineness: int
) -> tuple[Array, Array]:
    """Give nodes y, and weights of E[s^j g(y)], j = 0, 1, 2, that resolve 1/(1 + sharpness y^2).

    Here `y = f*(s) + noise`, s ~ N(0, 1), and g bends on the scale of y itself or, around zero, of
    `1/sqrt(sharpness)`; averaged over the noise, on the scale of that where it is larger.

    Only powers y^i s^j with an even i + j, of an odd target, are asked for: without noise half of
    the nodes do.
    """
    width, blur = 1 / math.sqrt(max(sharpness, _FLATTEST)), math.sqrt(noise)
    s, weight = split_rule(_edges(target, max(width, blur)), fineness)
    if target.parity == "odd" and noise == 0:
        s, weight = s[s > 0], 2 * weight[s > 0]
    y, weights = target.value(s), weight * s ** np.arange(3)[:, None]
    if noise == 0:
        return y, weights
    near = (np.abs(y) < _NEAR * blur) & (width < _NEAR * blur)
    parts = (
        _blurred(y[near], weights[:, near], blur, width, fineness),
        _scattered(y[~near], weights[:, ~near], blur, fineness),
    )
    return np.concatenate([part[0] for part in parts]), np.hstack([part[1] for part in parts])


def _edges(target: ScalarFunction, least: float) -> Array:
    """Give panels of s on each of which a function of f*(s) bends little.

    It bends on a scale of `least` around f* = 0, and of f* itself from there on.
    """
    grid = np.linspace(-RANGE, RANGE, 20_001)
    steepness = np.abs(target.derivative(grid))
    panels = 1 + steepness / np.maximum(np.abs(target.value(grid)) / 2, least)
    count = np.cumsum(panels) * (grid[1] - grid[0])
    wanted = np.arange(count[0], count[-1], max(1.0, (count[-1] - count[0]) / _MOST_PANELS))
    return unit_edges(np.concatenate([target.kinks, np.interp(wanted, count, grid)]))


def _scattered(y: Array, weights: Array, blur: float, fineness: int) -> tuple[Array, Array]:
    """Add noise that is small beside y, or beside what y is resolved to."""
    draws, shares = roots_hermitenorm(_DRAWS * fineness)
    noisy = np.add.outer(y, blur * draws).ravel()
    return noisy, np.multiply.outer(weights, shares / shares.sum()).reshape(3, -1)


def _blurred(
    y: Array, weights: Array, blur: float, width: float, fineness: int
) -> tuple[Array, Array]:
    """Add noise to y around zero, by the densities of what comes out."""
    reach = np.arange(-2.0 * _NEAR, 2 * _NEAR + 1)
    edges = blur * np.union1d(reach, graded_edges(0.0, width / blur))
    edges = edges[np.abs(edges) <= reach[-1] * blur]
    points, point_weights = roots_legendre(NODES * fineness)
    half = np.diff(edges)[:, None] / 2
    noisy = ((edges[1:, None] + edges[:-1, None]) / 2 + half * points).ravel()
    density = np.exp(-(((noisy - y[:, None]) / blur) ** 2) / 2) / (blur * math.sqrt(2 * math.pi))
    return noisy, (weights @ density) * (half * point_weights).ravel()
