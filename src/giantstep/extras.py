"""Libraries that only a part of the package needs, and the extra that installs each."""

from __future__ import annotations

from importlib.util import find_spec

EXTRAS = {"bokeh": "explore", "snakemake_executor_plugin_slurm": "slurm"}
EXTRAS |= dict.fromkeys(("matplotlib", "netCDF4"), "figures")
EXTRAS |= dict.fromkeys(("pandas", "pydantic", "snakemake", "yaml", "filelock"), "workflow")


class MissingExtraError(ModuleNotFoundError):
    """A library is missing that an extra of the package installs."""


def require(*libraries: str) -> None:
    """Check that libraries are installed.

    Raises
    ------
    MissingExtraError
        With the extra that installs them.
    """
    for library in libraries:
        if find_spec(library) is None:
            raise MissingExtraError(advice(library), name=library)


def advice(library: str) -> str:
    """Say how to install a library: by its extra, or by its name."""
    extra = EXTRAS.get(library)
    how = f'".[{extra}]" in a clone of giantstep' if extra else f"'{library}'"
    return f"this needs {library}, which is not installed: pip install {how}"
