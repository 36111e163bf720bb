"""A problem: the protocol or spiked random features, and what the two have in common."""

from __future__ import annotations

from giantstep.numerics.scalar_functions import BINARY
from giantstep.problems.covariance import THEORY
from giantstep.problems.losses import FLOW, KNOWN_LOSSES, is_square, lookup_loss
from giantstep.problems.protocol import ANY_LABELS, Protocol
from giantstep.problems.readout import Vocabulary
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.problems.targets import teacher_of
from giantstep.validation import check_value, refusal

Problem = Protocol | SpikedFeatures


# What labels are made of: the target's sign in them, the variance of the noise, and the share.
LabelLevels = tuple[tuple[int, float, float], ...]


def noise_levels(problem: Problem) -> Vocabulary:
    """Return the variances of the label noise, each with the fraction of labels that have it."""
    outliers = problem.outlier_fraction
    levels = (problem.noise, 1 - outliers), (problem.outlier_variance, outliers)
    return tuple(level for level in levels if level[1] > 0)


def noise_power(problem: Problem) -> float:
    """Return the variance of the label noise over all labels: Delta of theory.md section 1."""
    return sum(variance * fraction for variance, fraction in noise_levels(problem))


def label_levels(problem: Problem) -> LabelLevels:
    """List what labels are made of."""
    flips = problem.label_flips
    signs = ((1, 1 - flips), (-1, flips)) if flips > 0 else ((1, 1.0),)
    return tuple(
        (sign, variance, share * fraction)
        for sign, share in signs
        for variance, fraction in noise_levels(problem)
    )


def label_agreement(problem: Problem) -> float:
    """Return the mean sign of the target in a label: 1, or less if some are reversed."""
    return 1 - 2 * problem.label_flips


def check_theory_of_loss(problem: Problem, loss: str) -> None:
    """Refuse a loss for which the target, or the inputs, have no theory.

    Raises
    ------
    InvalidParametersError
    """
    if problem.has_covariance and loss == FLOW:
        raise refusal("loss", loss, f"another, without stop_at, {THEORY}")
    if not is_square(loss) and teacher_of(problem.target):
        raise refusal("loss", loss, "square in the theory of targets of several directions")


def check_loss(problem: Problem, loss: str) -> None:
    """Refuse an unknown loss, and one that needs labels of +1 and -1 where the labels are others.

    Raises
    ------
    InvalidParametersError
    """
    check_value("loss", loss, KNOWN_LOSSES)
    binary = problem.target in BINARY and noise_power(problem) == 0
    if lookup_loss(loss).margin and not binary:
        raise refusal("loss", loss, ANY_LABELS)
