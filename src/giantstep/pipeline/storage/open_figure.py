"""Opening the data of a figure."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from giantstep.extras import require
from giantstep.pipeline.planning.layout import IDENTITY, STAGES
from giantstep.pipeline.storage import large_netcdf


def open_figure(name: str | Path, project: str | Path = ".") -> xr.Dataset:
    """Open the merged file of a figure, checked against its checksum.

    Large variables are read when they are used.

    In the project, it must be the file that was made last under this name. A copy elsewhere, where
    nothing notes what was made, may have been renamed.

    Parameters
    ----------
    name : str or Path
        Such as "fig4"; or the path of a copy, such as "downloads/fig4.nc".
    project : str or Path
        The folder in which the workflow was run; by default the current one.

    Raises
    ------
    FileNotFoundError
        If the figure has not been made in that folder.
    DamagedFileError
        If the file is not as it was written, or is another one; it is set aside.
    MissingExtraError
        If netCDF4 is not installed: pip install 'giantstep[figures]'.

    Examples
    --------
    >>> import giantstep
    >>> giantstep.open_figure("fig2", project="where/nothing/was/made")
    Traceback (most recent call last):
    FileNotFoundError: there is no where/nothing/was/made/results/figures/fig2.nc: run ...
    """
    require("netCDF4")
    stage = STAGES["merge"]
    if Path(name).suffix == ".nc":
        return _open_copy(Path(project) / name)
    name = str(name)
    (file,) = stage.paths(name)
    path, folder = Path(project) / file, Path(project) / stage.folder
    if path.parent != folder or not (path.is_symlink() or path.exists()):
        made = sorted(found.stem for found in folder.glob("*.nc"))
        if path.parent != folder:
            raise FileNotFoundError(f"{name} is no name of a figure; a copy's path ends in .nc")
        raise FileNotFoundError(
            f"there is no {path}: run `snakemake --cores all {file}` in the project, or name a"
            f" figure that has been made: {', '.join(made) or 'none'}"
        )
    found = (Path(project) / IDENTITY / name).glob(f"{stage.name}-*")
    marks = [mark.name for mark in found if mark.suffix != ".damaged"]
    sealed = marks[0].replace("-", f"/{name}-", 1) if len(marks) == 1 else None
    return large_netcdf.read(path, sealed)


def _open_copy(path: Path) -> xr.Dataset:
    if not path.exists():
        raise FileNotFoundError(f"there is no {path}")
    return large_netcdf.read(path, None)
