"""Statistics of replicates on two levels: networks, and training sets of each network."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array


class Summary(NamedTuple):
    """Mean over all replicates, its standard error, and the variance on each level.

    Attributes
    ----------
    mean : Array
    stderr : Array
        From the spread of the networks' means, which are independent; NaN for a single network.
    network_variance, training_variance : Array
        Unbiased variance components; the first may be negative by chance. Each is NaN if its
        level has a single replicate.
    """

    mean: Array
    stderr: Array
    network_variance: Array
    training_variance: Array


def summarise(values: Array) -> Summary:
    """Summarise replicates of shape (networks, trainings, ...)."""
    networks, trainings = values.shape[:2]
    missing = np.full(values.shape[2:], np.nan)
    means = values.mean(axis=1)
    spread = means.var(axis=0, ddof=1) if networks > 1 else missing
    within = values.var(axis=1, ddof=1).mean(axis=0) if trainings > 1 else missing
    stderr = np.sqrt(spread / networks)
    return Summary(means.mean(axis=0), stderr, spread - within / trainings, within)
