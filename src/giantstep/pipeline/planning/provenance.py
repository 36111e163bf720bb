"""What a drawing says of where it comes from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Provenance:
    """The origin of a drawing.

    Attributes
    ----------
    title : str
        What the figure shows.
    source : str
        The name inside the merged file that it was drawn from: `merge/fig2-` and a hash.
    results : tuple of str
        The results that were merged, each as stage and key; their keys cover parameters and code.
    version : str
        Of this package.
    """

    title: str
    source: str
    results: tuple[str, ...]
    version: str
