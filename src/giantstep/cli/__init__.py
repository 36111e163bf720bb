"""The command `giantstep`. Start with `main`. The parser is in `parser`, answers in `asking`."""
