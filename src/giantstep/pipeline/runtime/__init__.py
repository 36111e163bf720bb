"""How runs and their jobs behave: locks, seals, signals and logs. Start with `job`."""
