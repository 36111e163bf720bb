"""Opening the data of a figure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from giantstep.extras import require

if TYPE_CHECKING:
    import xarray as xr

_FOLDER, _KEYS = Path("results/figures"), Path("results/keys")


def open_figure(name: str | Path, project: str | Path = ".") -> xr.Dataset:
    """Open the merged file of a figure, checked against its checksum.

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
        If netCDF4 is not installed: pip install ".[figures]".

    Examples
    --------
    >>> import giantstep
    >>> giantstep.open_figure("fig2", project="where/nothing/was/made")
    Traceback (most recent call last):
    FileNotFoundError: there is no where/nothing/was/made/results/figures/fig2.nc: run ...
    """
    require("netCDF4")
    from giantstep.workflow import store

    if Path(name).suffix == ".nc":
        if not (copy := Path(project) / name).exists():
            raise FileNotFoundError(f"there is no {copy}")
        return store.read(copy, None)
    folder = Path(project) / _FOLDER
    if not (path := folder / f"{name}.nc").exists():
        made = ", ".join(made_figures(project)) or "none"
        raise FileNotFoundError(
            f"there is no {path}: run `snakemake --cores all {_FOLDER / path.name}` in the project,"
            f" or name a figure that has been made: {made}"
        )
    return store.read(path, merged_name(str(name), project))


def made_figures(project: str | Path) -> list[str]:
    """List the figures that have been merged."""
    return sorted(path.stem for path in (Path(project) / _FOLDER).glob("*.nc"))


def merged_name(name: str, project: str | Path) -> str | None:
    """Return the name inside the file that was merged last for a figure, if a key notes it."""
    marks = [path.name for path in (Path(project) / _KEYS / name).glob("data-*")]
    return f"figures/{name}-{marks[0].removeprefix('data-')}" if len(marks) == 1 else None
