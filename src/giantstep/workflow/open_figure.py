"""Opening the data of a figure."""

from __future__ import annotations

import json
import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from giantstep.extras import require
from giantstep.validation import RefusalError

if TYPE_CHECKING:
    import xarray as xr

_FOLDER, _KEYS = Path("results/figures"), Path("results/keys")


def open_figure(name: str | Path, project: str | Path = ".") -> xr.Dataset:
    """Open the merged file of a figure, checked against its checksum.

    A warning tells if it was made from an earlier configuration or code, as far as the project's
    files do. A copy elsewhere may have been renamed. Of a figure that has not been made, the
    summary that giantstep ships, with a warning.

    Parameters
    ----------
    name : str or Path
        Such as "fig4"; or the path of a copy, such as "downloads/fig4.nc".
    project : str or Path
        The folder in which the workflow was run; by default the current one.

    Raises
    ------
    FileNotFoundError
        If the figure has not been made in that folder, and has no summary.
    DamagedFileError
        If the file is not as it was written, or is that of another figure.
    MissingExtraError
        If netCDF4 is not installed: pip install ".[figures]".

    Examples
    --------
    >>> import giantstep
    >>> giantstep.open_figure("fig99", project="where/nothing/was/made")
    Traceback (most recent call last):
    FileNotFoundError: there is no where/nothing/was/made/results/figures/fig99.nc: run ...
    """
    require("netCDF4")
    from giantstep.workflow import store
    from giantstep.workflow.code import installed_folder
    from giantstep.workflow.summaries import read_summary, summary_path

    if Path(name).suffix == ".nc":
        return store.read(Path(project) / name, moved=True)
    if not (path := Path(project) / _FOLDER / f"{name}.nc").exists():
        for home in (Path(project), installed_folder()):
            if (summary := summary_path(home, str(name))).exists():
                text = "without single networks, in single precision"
                warnings.warn(f"this is {summary}, which giantstep ships: {text}", stacklevel=2)
                return read_summary(summary)
        text = f"run `snakemake --cores all {_FOLDER / path.name}` in the project"
        raise FileNotFoundError(f"there is no {path}: {text}")
    data = store.read(path)
    if not _is_current(str(name), Path(project), data):
        text = f"{path} was made from an earlier configuration or code: a run makes it anew"
        warnings.warn(text, stacklevel=2)
    return data


def _is_current(name: str, project: Path, data: xr.Dataset) -> bool:
    """Check whether nothing has changed since a figure was merged, as far as files tell."""
    from giantstep.workflow.figure_plan import science

    with suppress(ImportError, RefusalError):  # without the extra `workflow`, or without a config
        from giantstep.workflow.config import FIGURES, load_yaml

        config = load_yaml(project / FIGURES / f"{name}.yaml", name)
        if json.loads(data.attrs.get("parameters", "{}")).get("figure") != science(config):
            return False
    keys = [mark.name.removeprefix("data-") for mark in (project / _KEYS / name).glob("data-*")]
    return not keys or data.attrs.get("source", "").endswith(tuple(keys))  # there is one


def made_figures(project: str | Path) -> list[str]:
    """List the figures that have been merged."""
    return sorted(path.stem for path in (Path(project) / _FOLDER).glob("*.nc"))
