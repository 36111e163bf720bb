"""Overlays that `snakemake --configfile` names are read by the project's strict reader.

Snakemake reads them before it reads the Snakefile, and would run code of an overlay that says
`__use_yte__: true`, or wait for a pipe. What it reads before overlays is the profile beside the
Snakefile: `profiles/default/config.yaml` calls `read_overlays_strictly`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from snakemake.exceptions import WorkflowError
from snakemake.settings import types

from giantstep.pipeline.planning.config import ConfigFault, InvalidConfigError, load_yaml


def read_overlays_strictly() -> None:
    """Replace Snakemake's reader of `--configfile` for the rest of the process.

    Raises
    ------
    RuntimeError
        If this version of Snakemake reads overlays in another way.
    """
    if not hasattr(types, "load_configfile"):
        raise RuntimeError("this version of Snakemake reads --configfile in another way")
    types.load_configfile = _load


def _load(path: str | Path) -> dict[str, Any]:
    try:
        overlay = load_yaml(Path(path), str(path))
        if not isinstance(overlay, dict):
            fault = ConfigFault(str(path), "", "must be a mapping with keys of the config")
            raise InvalidConfigError([fault])
        if code := sorted(str(key) for key in overlay if str(key).startswith("__")):
            keys = ", ".join(code)
            fault = ConfigFault(str(path), "", f"unknown key {keys}: templates are not allowed")
            raise InvalidConfigError([fault])
    except InvalidConfigError as error:
        raise WorkflowError(str(error)) from None
    return overlay
