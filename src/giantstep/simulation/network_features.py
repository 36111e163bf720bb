"""Features of samples: of an actual network, or the Gaussian ones of Result 3.2."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator

from giantstep.arrays import Array, Reals
from giantstep.numerics.gaussian import moments
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.spiked_features import Groups
from giantstep.simulation.arithmetic import ROWS, Precision
from giantstep.simulation.replicates import Replicate
from giantstep.simulation.samples import TRAINING, Samples, draw_samples, stream


class NetworkFeatures:
    """The features of one network, without the factor 1/sqrt(p).

    They are sigma(b + W x), or Gaussian given kappa. Fitting to them with p times the ridge yields
    the readout over sqrt(p).

    Parameters
    ----------
    replicate : Replicate
    precision : type
        float32 or float64, in which they are computed.
    """

    def __init__(self, replicate: Replicate, precision: Precision) -> None:
        self.replicate, self.layer, self.precision = replicate, replicate.layer, precision
        self.activation = lookup(replicate.problem.activation)
        self.weights = self.layer.weights.astype(precision, copy=False).T
        self.bias = self.layer.bias.astype(precision)

    def draw(self, rows: int, *path: int) -> tuple[Samples, Reals]:
        """Draw a block of samples from the network's stream at `path`, with their features.

        Gaussian ones draw more from the block's stream.
        """
        of, layer = self.replicate, self.layer
        rng = stream(of.seed, of.network, *path)
        samples = draw_samples(of.problem, layer.directions, rows, rng)
        features: Reals = samples.inputs.astype(self.precision, copy=False) @ self.weights
        if layer.conditional is not None:
            return samples, self._conditional(layer.conditional, features, samples, rng)
        features += self.bias
        features[...] = self.activation.value(features)
        return samples, features

    def training_set(self, training: int, count: int) -> tuple[Array, Array]:
        """Draw features, shape (count, p), and labels of a training set of `simulate`."""
        blocks = range(math.ceil(count / ROWS))
        drawn = [self.draw(ROWS, TRAINING, training, block) for block in blocks]
        labels = np.concatenate([samples.labels for samples, _ in drawn])[:count]
        return np.concatenate([features for _, features in drawn], dtype=float)[:count], labels

    def _conditional(
        self, groups: Groups, products: Reals, samples: Samples, rng: Generator
    ) -> Reals:
        """Compute mu0(kappa) + mu1(kappa) W x + mu2(kappa) xi, theory.md section 3."""
        kappa = samples.inputs @ self.layer.spike
        noise = rng.standard_normal(products.shape, np.float32)
        for g, (c, u, _, b) in enumerate(zip(*groups, strict=True)):
            of_group = self.layer.member == g
            at_kappa = moments(self.activation, b + u * kappa, float(np.sqrt(c)))
            slope, rest = at_kappa.slope / np.sqrt(c), np.sqrt(at_kappa.residual)
            bulk = products[:, of_group] - np.outer(kappa, self.layer.strengths[of_group])
            values = at_kappa.mean[:, None] + slope[:, None] * bulk
            products[:, of_group] = values + rest[:, None] * noise[:, of_group]
        return products
