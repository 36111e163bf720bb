"""The command `giantstep explore`."""

from __future__ import annotations

import argparse
from pathlib import Path

from giantstep.extras import require
from giantstep.validation import Interval, InvalidParametersError, interval_faults

PORT = Interval(0, 65535, whole=True)


def run(arguments: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C, and return the exit code.

    Raises
    ------
    InvalidParametersError
        For a port that is none, or taken.
    MissingExtraError
        If what the extra `explore` installs is missing.
    """
    if faults := interval_faults(vars(arguments), {"port": PORT}):
        raise InvalidParametersError(faults)
    require("bokeh")
    from giantstep.explore.server import serve  # only here: it is an optional extra

    serve(arguments.port, not arguments.no_browser, Path(arguments.project))
    return 0
