"""Opening the data of a figure."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from giantstep.pipeline.planning.layout import STAGES
from giantstep.pipeline.storage import netcdf


def open_figure(name: str, project: str | Path = ".") -> xr.Dataset:
    """Open the merged file of a figure, checked against its checksum.

    Parameters
    ----------
    name : str
        Such as "fig4".
    project : str or Path
        The folder in which the workflow was run; by default the current one.

    Raises
    ------
    FileNotFoundError
        If the figure has not been made in that folder.
    DamagedFileError
        If the file is not as it was written.
    """
    stage = STAGES["merge"]
    (file,) = stage.paths(name)
    path, folder = Path(project) / file, Path(project) / stage.folder
    if path.parent != folder or not path.is_file():
        made = sorted(found.stem for found in folder.glob("*.nc"))
        raise FileNotFoundError(
            f"there is no {path}: run `snakemake --cores all {file}` in the project, or name a"
            f" figure that has been made: {', '.join(made) or 'none'}"
        )
    return netcdf.read(path)
