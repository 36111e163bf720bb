"""Values from texts that anyone may have written: an address, a field of the page, a command line.

Nothing is evaluated. A text is a number, a name that a registry knows, or a list of these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from giantstep.problems.covariance import SPECTRA
from giantstep.problems.readout import NORMAL, Vocabulary
from giantstep.validation import Fault, read_number, shown

# The longest text of a value, and the most values of the initial readout.
LONGEST, MOST_LETTERS = 200, 8

Reader = Callable[[str], Any]


def read_infinite(text: str) -> float:
    """Read a number, which may be infinite."""
    return read_number(text.replace("∞", "inf"))


def read_letters(text: str) -> Vocabulary:
    """Read values, each with its fraction: `0.5:0.3 2:0.7`; one value alone is that of all.

    Raises
    ------
    ValueError
    """
    if text == "normal":
        return NORMAL
    pairs = [word.partition(":") for word in text.replace(",", " ").split()]
    if not 0 < len(pairs) <= MOST_LETTERS:
        raise ValueError(f"{shown(text)} must be 1 to {MOST_LETTERS} values, such as 0.5:0.3 2:0.7")
    return tuple((read_number(value), read_number(share or "1")) for value, _, share in pairs)


def read_spectrum(text: str) -> str:
    """Read the name of a covariance; a page reads no files.

    Raises
    ------
    ValueError
    """
    if text not in SPECTRA:
        raise ValueError(f"{shown(text)} must be {SPECTRA}")
    return text


def read_texts(
    texts: Mapping[str, str], readers: Mapping[str, Reader]
) -> tuple[dict[str, Any], list[Fault]]:
    """Read the value of each text whose name has a reader; others are ignored.

    Parameters
    ----------
    texts : mapping
    readers : mapping
        What reads a text of this name, without spaces at its ends; it raises ValueError to refuse.
        A name is a `str`, which a registry checks later.

    Returns
    -------
    values : dict
    faults : list of Fault
        Of every text that was refused.
    """
    values: dict[str, Any] = {}
    faults: list[Fault] = []
    for name, read in readers.items():
        if (text := texts.get(name)) is None:
            continue
        try:
            if len(text) > LONGEST:
                raise ValueError(f"must be a text of {LONGEST} characters at most")
            values[name] = read(text.strip())
        except ValueError as error:
            allowed = str(error).partition("must be ")[2] or "a number"
            faults.append(Fault(name, text, allowed))
    return values, faults
