"""Gaussian inputs and labels that resemble given samples: docs/data.md."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.scalar_functions import CLASS
from giantstep.problems.protocol import Protocol

# Eigenvalues of less relative size are taken as this.
_SINGULAR = 1e-6


def gaussian_model(protocol: Protocol, inputs: Array, labels: Array) -> Protocol:
    """State a protocol for Gaussian inputs with the covariance of samples, and labels like theirs.

    Labels of +1 and -1 are those of two classes, each Gaussian, with one covariance. Others are a
    cubic polynomial of their linear regression, and noise. Powers of components along the
    eigenvectors of the covariance are without what a finite number of samples adds to them.

    Parameters
    ----------
    protocol : Protocol
        Its target is ignored.
    inputs : Array, shape (M, d)
        Centred; M > d + 1.
    labels : Array, shape (M,)

    Raises
    ------
    InvalidParametersError
        If there is no such problem: of classes that are too far apart, or very large labels.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.choice([-1.0, 1.0], 5000)
    >>> inputs = rng.normal(size=(5000, 3)) + np.outer(labels, [1, 0, 0])
    >>> model = gaussian_model(Protocol("tanh", "linear", 1, alpha0=1, beta=1), inputs, labels)
    >>> model.target, model.inputs[:11]
    ('class', 'mixture:1.0')
    """
    count, d = inputs.shape
    slope, covariance = labels @ inputs / count, inputs.T @ inputs / count
    unexplained = (count - d - 1) / count
    if np.all(np.abs(labels) == 1):
        share = max(1 - labels.mean() ** 2, 1 / count)
        mean = slope / share  # half the difference of the means
        values, slopes, _ = _whitened(covariance - share * np.outer(mean, mean), mean, inputs)
        powers = np.maximum(unexplained * slopes**2 - 1 / (share * count), 0)
        norm = math.sqrt(powers.sum())
        covariance = _pairs(values, powers)
        return replace(protocol, target=CLASS, inputs=f"mixture:{norm!r}", covariance=covariance)
    values, slopes, whitened = _whitened(covariance, slope, inputs)
    noise = max(labels.var() - slopes @ slopes, 0.0) / unexplained
    powers = np.maximum(slopes**2 - noise / count, 0)
    projection = whitened @ (np.sign(slopes) * np.sqrt(powers))
    s, centred = projection / (projection.std() or 1.0), labels - labels.mean()
    second, third = np.mean(centred * (s**2 - 1)) / 2, np.mean(centred * (s**3 - 3 * s)) / 6
    noise = max(noise - 2 * second**2 - 6 * third**2, 0.0)
    slope = math.sqrt(powers.sum())
    coefficients = labels.mean() - second, slope - 3 * third, second, third
    target = "polynomial:" + ",".join(repr(float(c)) for c in coefficients)
    return replace(protocol, target=target, noise=noise, covariance=_pairs(values, powers))


def _whitened(covariance: Array, slope: Array, inputs: Array) -> tuple[Array, Array, Array]:
    """Return eigenvalues, and slope and inputs along the eigenvectors, over their roots."""
    values, vectors = np.linalg.eigh(covariance)
    values = np.maximum(values, _SINGULAR * values.mean())
    whitening = vectors / np.sqrt(values)
    return values, slope @ whitening, inputs @ whitening


def _pairs(values: Array, powers: Array) -> tuple[tuple[float, float], ...]:
    """Put weights beside the eigenvalues; all are alike if labels do not depend on the inputs."""
    weights = powers if powers.any() else np.ones_like(powers)
    return tuple(zip(values.tolist(), weights.tolist(), strict=True))
