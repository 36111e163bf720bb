"""Names that questions take. The command line lists them, so this module imports nothing."""

from __future__ import annotations

# What a sweep may add to its answer, and what `optimise` searches for.
GAINS = ("gain_over_linear", "gain_over_no_step", "isotropic_deviation")
RATE, RIDGE, READOUT, BIAS = UNKNOWNS = ("learning_rate", "ridge", "readout", "bias")
