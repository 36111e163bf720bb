"""What somebody may have meant who misspelt a command, a flag or a name."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

# Flags by the symbols that papers have for them.
_MEANT = {"--eta": "--learning-rate", "--lr": "--learning-rate", "--n0": "--alpha0"}


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the end of a message: a name that is close to a word, or nothing.

    Examples
    --------
    >>> did_you_mean("--lerning-rate", ["--learning-rate", "--ridge"])
    '; did you mean --learning-rate?'
    >>> did_you_mean("--loss", ["--plot", "--ridge"])
    ''
    """
    known = list(known)
    if (meant := _MEANT.get(word)) in known:
        return f"; did you mean {meant}?"
    # Without their dashes, which all flags share.
    letters = {name.lstrip("-"): name for name in known}
    close = get_close_matches(word.lstrip("-"), letters, n=1, cutoff=0.6)
    return f"; did you mean {letters[close[0]]}?" if close else ""
