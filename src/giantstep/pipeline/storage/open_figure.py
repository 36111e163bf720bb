"""A figure's data, for whoever asks the next question."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from giantstep.pipeline.storage import netcdf

FIGURES = Path("results/figures")


def open_figure(name: str, project: str | Path = ".") -> xr.Dataset:
    """Open the merged file of a figure, checked against its content hash.

    Parameters
    ----------
    name : str
        Such as "fig4".
    project : str or Path
        The folder in which the workflow was run; by default the present one.

    Raises
    ------
    FileNotFoundError
        If the figure has not been made there.
    DamagedFileError
        If the file is not as it was written.
    """
    path = Path(project) / FIGURES / f"{name}.nc"
    if path.parent != Path(project) / FIGURES or not path.is_file():
        made = sorted(found.stem for found in path.parent.glob("*.nc"))
        raise FileNotFoundError(
            f"there is no {path}: run `snakemake --cores all {FIGURES}/{name}.nc` in the project,"
            f" or name one that is there: {', '.join(made) or 'none'}"
        )
    return netcdf.read(path)
