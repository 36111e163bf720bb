"""A rule over intervals of positive numbers, for functions that vary most at their ends."""

from __future__ import annotations

import numpy as np

from giantstep.arrays import Array

# Where the ratio of an interval's ends is larger, the logarithms of points are denser towards the
# ends; beyond the second ratio, intervals are divided.
_WIDE, _WIDEST = 1e3, 1e8
# Intervals begin at this fraction of their end at least.
_SMALLEST = 1e-24
# Least number of points in an interval.
_LEAST = 8


def interval_rule(intervals: Array, points: int) -> tuple[Array, Array]:
    """Distribute points over intervals, shape (B, 2), with weights dx.

    They are denser towards the ends, and geometric where an interval (nearly) reaches zero.
    """
    parts = []
    for low, high in intervals:
        low, middle = max(low, _SMALLEST * high), high / _WIDEST
        parts += [(low, middle), (middle, high)] if low < middle else [(low, high)]
    each = max(_LEAST, points // len(parts))
    angle = (np.arange(each) + 0.5) * np.pi / each
    place, weight = (1 - np.cos(angle)) / 2, np.sin(angle) * np.pi / (2 * each)
    x, dx = [], []
    for low, high in parts:
        narrow, ratio = low * _WIDE > high, high / low
        x.append(low + (high - low) * place if narrow else low * ratio**place)
        dx.append(weight * (high - low if narrow else x[-1] * np.log(ratio)))
    return np.concatenate(x), np.concatenate(dx)
