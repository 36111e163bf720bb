"""The command `giantstep`. Start with `main`; flags are in `arguments`, answers in `queries`."""
