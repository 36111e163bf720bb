"""Thresholds of statistical tests, from the rate of false alarms that they may have.

Seeds are fixed, so a test that passes goes on passing. The rate is the chance that it fails after a
harmless change that draws other random numbers.
"""

from scipy import stats


def largest_z(count: int, replicates: int, rate: float = 0.01) -> float:
    """Return what the largest of `count` z-scores exceeds, in size, with chance `rate` at most.

    Each standard error comes from `replicates` values, so a z-score follows Student's law. The
    z-scores need not be independent (union bound).
    """
    return float(stats.t.isf(rate / (2 * count), replicates - 1))
