"""Features of samples: of an actual network, or the Gaussian ones of Result 3.2."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator, SeedSequence

from giantstep.arrays import Reals
from giantstep.numerics.gaussian import moments
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.problem import Problem
from giantstep.problems.spiked_features import CONDITIONAL_GAUSSIAN, SpikedFeatures
from giantstep.simulation.arithmetic import Precision
from giantstep.simulation.first_layer import FirstLayer
from giantstep.simulation.samples import Samples, draw_samples, stream


class NetworkFeatures:
    """The features of one network, without the factor 1/sqrt(p).

    They are sigma(b + W x), or Gaussian given kappa. Fitting to them with p times the ridge yields
    the readout over sqrt(p).

    Parameters
    ----------
    problem : Problem
    layer : FirstLayer
    precision : type
        float32 or float64, in which they are computed.
    """

    def __init__(self, problem: Problem, layer: FirstLayer, precision: Precision) -> None:
        self.problem, self.layer, self.precision = problem, layer, precision
        self.activation = lookup(problem.activation)
        self.weights = layer.weights.astype(precision, copy=False).T
        self.bias = layer.bias.astype(precision)

    def draw(self, seed: SeedSequence, rows: int, *path: int) -> tuple[Samples, Reals]:
        """Draw a block of samples from the stream at `path`, and compute their features.

        Gaussian ones draw more from the block's stream.
        """
        rng, problem = stream(seed, *path), self.problem
        samples = draw_samples(problem, self.layer.directions, rows, rng)
        features: Reals = samples.inputs.astype(self.precision, copy=False) @ self.weights
        if isinstance(problem, SpikedFeatures) and problem.model == CONDITIONAL_GAUSSIAN:
            return samples, self._conditional(problem, features, samples, rng)
        if np.any(self.bias):
            features += self.bias
        self.activation.apply(features)
        return samples, features

    def _conditional(
        self, problem: SpikedFeatures, products: Reals, samples: Samples, rng: Generator
    ) -> Reals:
        """Compute mu0(kappa) + mu1(kappa) W x + mu2(kappa) xi, theory.md section 3."""
        kappa = samples.inputs @ self.layer.spike
        noise = rng.standard_normal(products.shape, np.float32)
        for g, (c, u, _, b) in enumerate(zip(*problem.groups, strict=True)):
            of_group = self.layer.member == g
            at_kappa = moments(self.activation, b + u * kappa, float(np.sqrt(c)))
            slope, rest = at_kappa.slope / np.sqrt(c), np.sqrt(at_kappa.residual)
            bulk = products[:, of_group] - np.outer(kappa, self.layer.strengths[of_group])
            values = at_kappa.mean[:, None] + slope[:, None] * bulk
            products[:, of_group] = values + rest[:, None] * noise[:, of_group]
        return products
