"""Libraries that only a part of the package needs, and the extra that installs each."""

from __future__ import annotations

from importlib.util import find_spec

EXTRAS = {"bokeh": "explore", "pydantic": "workflow"}
EXTRAS |= dict.fromkeys(("matplotlib", "netCDF4"), "figures")


class MissingExtraError(ModuleNotFoundError):
    """A library is missing that an extra of the package installs."""


def require(library: str) -> None:
    """Check that a library is installed.

    Raises
    ------
    MissingExtraError
        With the extra that installs it.
    """
    if find_spec(library) is None:
        how = f'pip install ".[{EXTRAS[library]}]" in a clone of giantstep'
        raise MissingExtraError(f"this needs {library}, which is not installed: {how}")
