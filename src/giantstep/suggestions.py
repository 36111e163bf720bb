"""What somebody may have meant who misspelt a command, a flag or a name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

_NAMES = re.compile(r"(?:one|some) of (.+)")
# Flags of other commands.
_ELSEWHERE = {"--samples": "giantstep plan splits samples between steps and readout"}
# Flags by the symbols that papers have for them.
_MEANT = {"--eta": "--learning-rate", "--lr": "--learning-rate", "--n0": "--alpha0"}


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the end of a message: a name that is close to a word, or nothing.

    Examples
    --------
    >>> did_you_mean("--lerning-rate", ["--learning-rate", "--ridge"])
    '; did you mean --learning-rate?'
    """
    if word in _ELSEWHERE:
        return f"; {_ELSEWHERE[word]}"
    known = list(known)
    if (meant := _MEANT.get(word)) in known:
        return f"; did you mean {meant}?"
    close = get_close_matches(word, known, n=1, cutoff=0.6)
    return f"; did you mean {close[0]}?" if close else ""


def names_allowed(allowed: str) -> list[str]:
    """List the names in what a value must be: `one of tanh, erf, huber:DELTA with DELTA > 0`."""
    found = _NAMES.search(allowed)
    words = found[1].split(", ") if found else []
    return [word for word in words if re.fullmatch(r"\w+", word)]
