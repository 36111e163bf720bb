"""Seeds of random streams: each follows from the root seed and a problem's parameters."""

from __future__ import annotations

from numpy.random import SeedSequence

from giantstep.problems.canonical import digest
from giantstep.problems.problem import Problem


def problem_seed(root: int, problem: Problem) -> SeedSequence:
    """Derive the seed of a problem's random streams from the root seed and its parameters."""
    return SeedSequence(root, spawn_key=(int(digest(problem)[:16], 16),))
