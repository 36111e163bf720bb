"""Versions of the libraries that results come from."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version

COMPUTING = ("numpy", "scipy", "xarray", "netcdf4")
DRAWING = "matplotlib"
_SEPARATOR = "; "


def library_versions(names: Iterable[str] = COMPUTING) -> str:
    """List the versions of libraries that are installed."""
    return " ".join(f"{name} {version(name)}" for name in names)


def join_versions(several: Iterable[str]) -> str:
    """Join what results say of their libraries: each set of versions once."""
    return _SEPARATOR.join(sorted({one for text in several for one in split_versions(text)}))


def split_versions(text: str) -> list[str]:
    """List the sets of versions in what a result says of its libraries."""
    return text.split(_SEPARATOR) if text else []
