"""The drawing of a figure, from its merged file: by the project's own code, or the package's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from runpy import run_path
from typing import TYPE_CHECKING, Any

import xarray as xr

from giantstep import __version__
from giantstep.figures import default, style
from giantstep.workflow.config import FIGURES

if TYPE_CHECKING:
    from giantstep.workflow.figure_plan import FigurePlan


def draw_figure(
    plan: FigurePlan,
    data: xr.Dataset,
    paths: Iterable[str | Path],
    check: Callable[[], None] = lambda: None,
    root: Path = Path(),
) -> None:
    """Draw a figure, and save it in several formats; the same data make the same bytes.

    Parameters
    ----------
    plan : FigurePlan
    data : xarray.Dataset
        Its merged file.
    paths : iterable of str or Path
        Where to save it.
    check : callable, optional
        Called before a file has its name; raises if it is not to be written.
    root : Path, optional
        The project's folder.
    """
    draw, config = load_drawing(root, plan.name), dict(plan.figure.config)
    results, software = " ".join(plan.made_from), f"giantstep {__version__}"
    origin = style.Provenance(config["title"], plan.merged_name, results, software)
    style.draw_and_save(lambda: draw(data, config), map(Path, paths), origin, check)


def load_drawing(root: Path, name: str) -> Callable[[xr.Dataset, dict[str, Any]], Any]:
    """Import the function `draw(data, config)` of a figure.

    It is that of config/figures/NAME.py in the project, or else the one for learning curves and
    maps.
    """
    path = root / FIGURES / f"{name}.py"
    return run_path(str(path))["draw"] if path.is_file() else default.draw
