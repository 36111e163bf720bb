"""Choices that questions take. The command line lists them, so this module imports little."""

from __future__ import annotations

import math

from giantstep.validation import Interval

# What a sweep may add to its answer, and what `optimise` searches for.
GAINS = ("gain_over_linear", "gain_over_no_step", "isotropic_deviation")
RATE, RIDGE, READOUT, BIAS = ("learning_rate", "ridge", "readout", "bias")
# The time of gradient flow, in place of a ridge.
STOP_AT = "stop_at"
# What a plan divides.
SAMPLES = "samples"
UNKNOWNS = RATE, RIDGE, STOP_AT, READOUT, BIAS
# Of core-hours, and of GiB of memory.
LIMIT = Interval(0, math.inf, infinity=True)
# Of eigenvalues at which a spectrum is computed, and of threads: more find nothing to do.
POINTS, THREADS = Interval(8, 50_000, whole=True), Interval(1, 1024, whole=True)
