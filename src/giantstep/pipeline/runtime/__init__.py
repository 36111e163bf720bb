"""How runs and their jobs behave: locks, checksums, signals, logs. Start with `job`."""
