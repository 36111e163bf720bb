"""The command `giantstep`. Start with `main`."""
