"""Names that questions take, in a module that is imported at once: the command line lists them."""

from __future__ import annotations

# What a sweep may add to its answer, and what `optimise` searches for.
GAINS = ("gain_over_linear", "gain_over_no_step", "isotropic_deviation")
RATE, RIDGE, READOUT, BIAS = UNKNOWNS = ("learning_rate", "ridge", "readout", "bias")
