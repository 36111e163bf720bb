"""The command `giantstep`. Start with `main`. Flags are in `arguments`, answers in `answers`."""
