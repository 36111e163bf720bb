"""From a figure's YAML to its files: planning, stages, storage, runtime, upkeep.

Start with `planning.plan`, which turns configs into tasks, and `stages`, which computes them.
"""
