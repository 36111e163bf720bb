"""The theory beside the usual way of solving the same equations; ratios, in one run.

The usual way: damping 1/2 on all overlaps until none moves by 1e-4, each expectation by
`scipy.integrate.quad` over kappa around a Gauss-Hermite rule of 19 nodes over z, traces over the
spectrum of one random matrix of dimension 2000.

    python benchmarks/theory.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad
from table import processor_seconds
from threadpoolctl import threadpool_limits

from giantstep import Protocol, SpikedFeatures
from giantstep.problems.grid import Grid
from giantstep.theory.features.conditional_features import conditional_features
from giantstep.theory.first_layer.equivalent_features import equivalent_features
from giantstep.theory.readout.solve import solve

PROTOCOL = Protocol("tanh", "sin", learning_rate=3, alpha0=20, beta=1)
POINTS = ((0.5, 0.1), (1.5, 0.1), (3.0, 0.1))  # alpha, ridge at which the usual way is timed


class UsualWay:
    """State evolution as published notebooks do it, for one group of neurons."""

    def __init__(self, srf: SpikedFeatures, dimension: int = 2000) -> None:
        (self.c,), (self.r,), *_ = srf.groups
        self.gamma, self.beta = srf.alignment, srf.beta
        self.rho = np.sqrt(1 - self.gamma**2)
        self.z, weights = np.polynomial.hermite_e.hermegauss(19)
        self.weights = weights / np.sqrt(2 * np.pi)
        width = round(self.beta * dimension)
        bulk = np.random.default_rng(0).standard_normal((width, dimension))
        gram = bulk @ bulk.T * self.c / dimension
        self.spectrum = np.linalg.eigh(gram)[0]

    def features(self, kappa: float) -> tuple[float, float, float, float, float]:
        """mu0, mu1, mu2^2, h and h_z at one kappa."""
        values = np.tanh(self.r * kappa + np.sqrt(self.c) * self.z)
        mu0 = float(self.weights @ values)
        mu1 = float(self.weights @ (self.z * values)) / np.sqrt(self.c)
        mu2 = float(self.weights @ values**2) - mu0**2 - self.c * mu1**2
        target = np.sin(self.gamma * kappa + self.rho * self.z)
        return mu0, mu1, mu2, float(self.weights @ target), float(self.weights @ (self.z * target))

    def expect(self, integrand: Callable[..., float]) -> float:
        """E integrand(kappa, mu0, mu1, mu2^2, h, h_z)."""

        def weighted(kappa: float) -> float:
            density = np.exp(-(kappa**2) / 2) / np.sqrt(2 * np.pi)
            return integrand(kappa, *self.features(kappa)) * density

        return float(quad(weighted, -10, 10)[0])

    def solve(self, alpha: float, ridge: float) -> tuple[NDArray[np.float64], int]:
        """Iterate (m, zeta, psi, q1, q2, V1, V2) from ones; give them, and the iterations."""
        overlaps, ratio, beta, c = np.ones(7), alpha / self.beta, self.beta, self.c
        for iteration in range(1, 5000):
            m, zeta, psi, q1, q2, V1, V2 = overlaps

            def V(mu1: float, mu2: float, V1: float = V1, V2: float = V2) -> float:
                return 1 + mu1**2 * V1 + mu2 * V2

            def v(k, mu0, mu1, mu2, h, hz, m=m, zeta=zeta, psi=psi, q1=q1, q2=q2):  # type: ignore[no-untyped-def]
                M = mu0 * m + k * mu1 * zeta
                second = 0.5 * (1 - np.exp(-2 * self.rho**2) * np.cos(2 * self.gamma * k))
                return second + M**2 - 2 * M * h - 2 * mu1 * psi * hz + mu1**2 * q1 + mu2 * q2

            a, b, w, e = self.expect, np.mean, ratio, self.spectrum
            V1_hat = w * a(lambda k, m0, m1, m2, h, hz: m1**2 / V(m1, m2))
            V2_hat = w * a(lambda k, m0, m1, m2, h, hz: m2 / V(m1, m2))
            psi_hat = w * a(lambda k, m0, m1, m2, h, hz: m1 * hz / V(m1, m2))
            zeta_hat = w * a(
                lambda k, m0, m1, m2, h, hz: k * m1 * (h - m0 * m - k * m1 * zeta) / V(m1, m2)
            )
            q1_hat = w * a(lambda *x: x[2] ** 2 * v(*x) / V(x[2], x[3]) ** 2)
            q2_hat = w * a(lambda *x: x[3] * v(*x) / V(x[2], x[3]) ** 2)
            top = a(lambda k, m0, m1, m2, h, hz: m0 * (h - k * m1 * zeta) / V(m1, m2))
            bottom = a(lambda k, m0, m1, m2, h, hz: m0**2 / V(m1, m2))
            resolvent = 1 / (ridge + V2_hat + V1_hat * e)
            one, two = q1_hat + beta * psi_hat**2, q2_hat + beta * c * zeta_hat**2
            T22, T21, T20 = (b(e**k * resolvent**2) for k in (2, 1, 0))
            new = np.array([
                top / bottom,
                beta * c * b(resolvent) * zeta_hat,
                beta * b(e * resolvent) * psi_hat,
                T22 * one + T21 * two,
                T21 * one + T20 * two,
                b(e * resolvent),
                b(resolvent),
            ])  # fmt: skip
            moved = (overlaps + new) / 2
            if np.max(np.abs(moved - overlaps)) < 1e-4:
                return moved, iteration
            overlaps = moved
        raise RuntimeError("the usual way did not settle")


def residual(srf: SpikedFeatures, alpha: float, ridge: float, V1: float, V2: float) -> float:
    """Relative residual of the equations for V1, V2 in the limit, at any V1, V2."""
    f, (c,), beta = conditional_features(srf), srf.groups.c, srf.beta
    w = f.weight / (1 + f.mu1[0] ** 2 * V1 + f.mu2_squared[0] * V2)
    V1_hat, V2_hat = alpha / beta * np.sum(w * f.mu1[0] ** 2), alpha / beta * w @ f.mu2_squared[0]
    a, b = beta * c * (ridge + V2_hat) * V1_hat, ridge + V2_hat + c * V1_hat * (1 - beta)
    q = 2 / (b + np.sqrt(b**2 + 4 * a))
    return float(max(abs(V2 / q - 1), abs(V1 / (c * q / (1 + beta * c * q * V1_hat)) - 1)))


def main() -> None:
    """Print the comparison."""
    srf = equivalent_features(PROTOCOL)
    start = time.perf_counter()
    usual = UsualWay(srf)
    preparation = time.perf_counter() - start
    print(f"usual way: one eigendecomposition {preparation:.1f} s, not counted below")
    seconds, worst = [], 0.0
    for alpha, ridge in POINTS:
        start = time.process_time()
        overlaps, iterations = usual.solve(alpha, ridge)
        seconds.append(time.process_time() - start)
        worst = max(worst, residual(srf, alpha, ridge, overlaps[5], overlaps[6]))
        print(f"  alpha {alpha}: {seconds[-1]:.2f} s, {iterations} iterations")

    axes = np.geomspace(0.1, 10, 100), np.geomspace(1e-4, 10, 100)
    grid = Grid(tuple(axes[0]), tuple(axes[1]))
    ours = processor_seconds(lambda: solve(PROTOCOL, grid)) / 10_000
    solution = solve(PROTOCOL, grid)
    largest = max(
        residual(srf, a, r, solution.V1[i, j, 0, 0], solution.V2[i, j, 0])
        for i, a in list(enumerate(grid.alpha))[::9]
        for j, r in list(enumerate(grid.ridge))[::9]
    )
    print(f"per point: usual {np.mean(seconds):.2f} s, giantstep {ours * 1e6:.1f} us on 10,000")
    print(f"{np.mean(seconds) / ours:,.0f} times less")
    print(f"largest residual: usual {worst:.1e}, giantstep {largest:.1e}")
    print(f"residuals {worst / largest:,.0f} times as small")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
