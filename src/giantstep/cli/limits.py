"""Questions whose answer would take too long, or too much memory, are refused at once."""

from __future__ import annotations

import argparse
import os
import sys

from giantstep.cli.flags import Flag
from giantstep.validation import Interval

LIMIT = Interval(0, infinity=True)
# Core-hours that an answer may take unless --max-hours says otherwise.
THEORY_HOURS, SIMULATION_HOURS = 0.05, 1.0
# What takes more seconds says so before it starts.
_LONG = 60.0


def limit_flags(trains: bool) -> list[Flag]:
    """Make the flags of the limits of a question, which may train networks."""
    hours = SIMULATION_HOURS if trains else THEORY_HOURS
    flags = [Flag("max_hours", float, hours, "refuse what would take more core-hours than this")]
    if trains:
        text = "refuse what would hold more GiB of memory than this (default that of this machine)"
        flags.append(Flag("max_memory", float, None, text))
    return flags


def check_cost(arguments: argparse.Namespace, seconds: float, memory: float) -> None:
    """Refuse what takes more core-seconds or MiB of memory than is allowed.

    Raises
    ------
    argparse.ArgumentError
    """
    hours, gib = seconds / 3600, memory / 1024
    most = getattr(arguments, "max_memory", None)
    limit = (
        os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30 if most is None else most
    )
    if gib > limit:
        whose = "this machine has" if most is None else "--max-memory is"
        raise argparse.ArgumentError(
            None,
            f"this needs about {gib:,.3g} GiB of memory, and {whose} {limit:,.3g}: it must be"
            " smaller, or --max-memory larger",
        )
    if hours > arguments.max_hours:
        raise argparse.ArgumentError(
            None,
            f"this takes about {hours:,.3g} core-hours, more than {arguments.max_hours:g}: it must"
            " be smaller, or --max-hours larger",
        )
    if seconds > _LONG:
        print(f"this takes about {seconds / 60:.2g} minutes of one core", file=sys.stderr)
