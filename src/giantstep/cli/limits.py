"""Questions whose answer would take too long, or too much memory, are refused at once."""

from __future__ import annotations

import argparse
import sys

from giantstep.questions.costs import Cost, check_cost
from giantstep.validation import Interval

LIMIT = Interval(0, infinity=True)
# What takes more seconds says so before it starts.
_LONG = 60.0


def check_limits(arguments: argparse.Namespace, cost: Cost) -> None:
    """Refuse what takes more time or memory than the flags allow.

    Raises
    ------
    CostError
    """
    check_cost(cost, arguments.max_hours, arguments.max_memory)
    if cost.seconds > _LONG:
        print(f"this takes about {cost.seconds / 60:.2g} minutes of one core", file=sys.stderr)
