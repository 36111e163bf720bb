"""The drawing of a figure, from its data: by the project's own code, or the package's."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from runpy import run_path
from typing import Any

import xarray as xr

from giantstep.figures import default, style
from giantstep.workflow.config import FIGURES

# Of a summary, the name of the data that it was made from.
SUMMARY_OF = "summary_of"


def draw_figure(
    name: str, config: Mapping[str, Any], data: xr.Dataset, paths: Iterable[str | Path], root: Path
) -> None:
    """Draw a figure, and save it in several formats; the same data make the same bytes.

    Parameters
    ----------
    name : str
    config : mapping
        Its YAML.
    data : xarray.Dataset
        Its merged file, or the summary of it.
    paths : iterable of str or Path
        Where to save it.
    root : Path
        The project's folder.
    """
    draw = load_drawing(root, name)
    made_from = " ".join(json.loads(data.attrs["made_from"]))
    software = f"giantstep {data.attrs['giantstep_version']}"
    source = data.attrs.get("source") or data.attrs[SUMMARY_OF]
    origin = config["title"], source, made_from, software
    style.draw_and_save(lambda: draw(data, dict(config)), map(Path, paths), origin)


def load_drawing(root: Path, name: str) -> Callable[[xr.Dataset, dict[str, Any]], Any]:
    """Import the function `draw(data, config)` of a figure.

    It is that of config/figures/NAME.py in the project, or else the one for learning curves and
    maps.
    """
    path = root / FIGURES / f"{name}.py"
    return run_path(str(path))["draw"] if path.is_file() else default.draw
