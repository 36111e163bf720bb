"""How runs and their jobs behave: locks, checksums, signals and logs. Start with `job`."""
