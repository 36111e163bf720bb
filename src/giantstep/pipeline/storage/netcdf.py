"""Result files in netCDF: written whole or not at all, and checked when read."""

from __future__ import annotations

import os
from pathlib import Path

import xarray as xr

from giantstep.pipeline.runtime.checksums import (
    DamagedFileError,
    check_seal,
    remedied,
    seal,
    set_aside,
)
from giantstep.pipeline.runtime.processes import alive
from giantstep.pipeline.runtime.signals import uninterrupted


def write(dataset: xr.Dataset, path: str | Path, name: str) -> None:
    """Write a dataset whole or not at all.

    It is written beside `path`, read back and compared, sealed, synced to the disk, and renamed.

    The same dataset makes the same bytes.

    Parameters
    ----------
    dataset : xarray.Dataset
    path : str or Path
    name : str
        What `read` expects to find: stage and key, such as `theory/KEY`.

    Raises
    ------
    DamagedFileError
        If what was written does not read back as the same dataset.
    OSError
        If it cannot be written: no room, or no permission.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    for leftover in path.parent.glob(f".{path.name}.*.part"):
        writer = leftover.name.split(".")[-2]
        if not (writer.isdigit() and alive(int(writer))):  # left by a job that was killed
            leftover.unlink(missing_ok=True)
    # The encoding of another file would cut texts to the lengths that they had in it.
    dataset = dataset.drop_encoding()
    with uninterrupted():
        try:
            _write_beside(dataset, beside)
            if not _reads_back(beside, dataset):
                raise DamagedFileError(f"{path} does not read back as it was written")
            seal(beside, name)
            beside.replace(path)
        except OSError as error:
            text = f"cannot be written ({error.strerror})"
            raise OSError(error.errno, text, str(path)) from error
        finally:
            beside.unlink(missing_ok=True)


def _write_beside(dataset: xr.Dataset, beside: Path) -> None:
    try:
        dataset.to_netcdf(beside, engine="netcdf4", format="NETCDF4")
    except Exception:
        # HDF5 does not say why. The system does, when as many bytes are written by hand.
        with beside.open("ab") as file:
            file.write(bytes(dataset.nbytes + 2**20))
            os.fsync(file.fileno())
        raise


def _reads_back(beside: Path, dataset: xr.Dataset) -> bool:
    try:
        return xr.load_dataset(beside, engine="netcdf4").identical(dataset)
    except MemoryError:
        raise
    except Exception:  # netCDF4 raises all kinds of exceptions on broken files
        return False


def read(path: str | Path, name: str | None) -> xr.Dataset:
    """Read a file that `write` made, checked against its seal.

    Parameters
    ----------
    path : str or Path
    name : str, optional
        Under which it must have been written; None for any.

    Raises
    ------
    DamagedFileError
        If the file is damaged, or another one; it is set aside, so that the next run makes it
        again.
    """
    path = Path(path)
    try:
        with remedied():
            check_seal(path, name)
    except DamagedFileError as error:
        raise DamagedFileError(
            f"{error}; it was set aside as {set_aside(path)}: run the same command again to"
            " make a new one"
        ) from error
    with uninterrupted():
        return xr.load_dataset(path, engine="netcdf4")
