"""Summaries of figures, small enough to come with the repository: all but single networks.

They are compressed netCDF in single precision, `figures/data/NAME.nc.gz`, which xarray reads.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import xarray as xr

from giantstep.figures import style
from giantstep.files import beside
from giantstep.validation import RefusalError
from giantstep.workflow.config import FIGURES, load_yaml
from giantstep.workflow.drawing import load_drawing

SUMMARIES = Path("figures/data")
# Of a summary, the name inside the merged file that it was made from.
_SOURCE = "summary_of"
_SMALLER = {np.dtype(np.float64): np.float32, np.dtype(np.int64): np.int32}


def summary_path(root: Path, name: str) -> Path:
    """Return the place of a figure's summary."""
    return root / SUMMARIES / f"{name}.nc.gz"


def write_summary(data: xr.Dataset, written: str, path: Path) -> None:
    """Write what a figure's drawing needs of its merged file, whose name inside is `written`."""
    single = [
        name
        for name, values in data.data_vars.items()
        if "training" in values.dims or ("network" in values.dims and "index" not in values.dims)
    ]
    kept = data.drop_vars(single).drop_encoding()
    for name, values in kept.variables.items():
        kept[name] = values.astype(_SMALLER.get(values.dtype, values.dtype), keep_attrs=True)
    kept.attrs = data.attrs | {_SOURCE: written, "root_seed": str(data.attrs["root_seed"])}
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
    RefusalError
        If a figure has no summary.
    """
    known = sorted(path.name.removesuffix(".nc.gz") for path in (root / SUMMARIES).glob("*.nc.gz"))
    for name in names or known:
        if name not in known:
            text = f"one of those with a summary in {SUMMARIES}: {', '.join(known) or 'none'}"
            raise RefusalError(f"there is no summary of {name}: it must be {text}")
        data = read_summary(summary_path(root, name))
        path = root / "figures" / f"{name}.png"
        _draw(data, root, path)
        yield f"{path}: from the summary of {data.attrs[_SOURCE]}"


def _draw(data: xr.Dataset, root: Path, path: Path) -> None:
    """Draw a figure, and save it in all formats; `path` is that of the PNG."""
    draw = load_drawing(root, path.stem)
    config = load_yaml(root / FIGURES / f"{path.stem}.yaml", path.stem)
    origin = style.Provenance(
        config["title"],
        data.attrs[_SOURCE],
        " ".join(json.loads(data.attrs["made_from"])),
        f"giantstep {data.attrs['giantstep_version']}",
    )
    paths = [path.with_suffix(f".{suffix}") for suffix in ("png", "svg", "pdf")]
    style.draw_and_save(lambda: draw(data, config), paths, origin)
