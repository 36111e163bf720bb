"""Choices that questions take. The command line lists them, so this module imports little."""

from __future__ import annotations

import math

from giantstep.validation import Interval

# The theory as d -> infinity, and at the dimension of the networks.
LIMIT, FINITE = THEORIES = ("limit", "finite")
# Gains that a sweep may add to its answer, and names of unknowns of `optimise`.
GAINS = ("gain_over_linear", "gain_over_no_step", "isotropic_deviation")
RATE, RIDGE, READOUT, BIAS = ("learning_rate", "ridge", "readout", "bias")
# The time of gradient flow, in place of a ridge.
STOP_AT = "stop_at"
# What a plan divides.
SAMPLES = "samples"
UNKNOWNS = RATE, RIDGE, STOP_AT, READOUT, BIAS
# Most core-hours, or GiB of memory, that a user may allow.
AT_MOST = Interval(0, math.inf, infinity=True)
# Number of eigenvalues at which a spectrum is computed, and of threads: more would have no work.
POINTS, THREADS = Interval(8, 50_000, whole=True), Interval(1, 1024, whole=True)
