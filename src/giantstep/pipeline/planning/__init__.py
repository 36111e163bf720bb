"""From configs to tasks, the names of their results, and what they will cost. Start with `plan`."""
