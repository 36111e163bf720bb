"""Summaries of figures, small enough to come with the repository: all but single readouts.

They are compressed netCDF in single precision, `figures/data/NAME.nc.gz`, which xarray reads.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import xarray as xr

from giantstep.files import beside
from giantstep.workflow.config import FIGURES, load_yaml
from giantstep.workflow.drawing import SUMMARY_OF, draw_figure
from giantstep.workflow.figure_plan import drawings

SUMMARIES = Path("figures/data")
_SMALLER = {np.dtype(np.float64): np.float32, np.dtype(np.int64): np.int32}


def summary_path(root: Path, name: str) -> Path:
    """Return the place of a figure's summary."""
    return root / SUMMARIES / f"{name}.nc.gz"


def write_summary(data: xr.Dataset, path: Path) -> None:
    """Write what a figure's drawing needs of its merged file."""
    kept = data.drop_dims("training", errors="ignore").drop_encoding()
    for name, values in kept.variables.items():
        kept[name] = values.astype(_SMALLER.get(values.dtype, values.dtype), keep_attrs=True)
    kept.attrs = data.attrs | {"root_seed": str(data.attrs["root_seed"])}
    kept.attrs[SUMMARY_OF] = kept.attrs.pop("source", "")
    content = gzip.compress(bytes(kept.to_netcdf(engine="scipy")), mtime=0)
    with beside(path) as place:
        place.write_bytes(content)


def read_summary(path: Path) -> xr.Dataset:
    """Read a summary."""
    return xr.load_dataset(path, engine="scipy")


def redraw(root: Path, names: Iterable[str]) -> Iterator[str]:
    """Draw figures from their summaries; yield a line on each.

    Raises
    ------
    OSError
        If a figure has no summary.
    """
    known = sorted(path.name.removesuffix(".nc.gz") for path in (root / SUMMARIES).glob("*.nc.gz"))
    for name in names or known:
        config = load_yaml(root / FIGURES / f"{name}.yaml", name)
        data = read_summary(summary_path(root, name))
        paths = [root / path for path in drawings(name)]
        draw_figure(name, config, data, paths, root)
        yield f"{paths[0]}: from the summary of {data.attrs[SUMMARY_OF]}"
