"""The style of all figures: sizes, colours, markers, matplotlib settings, and saving."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from matplotlib import rc_context, rcdefaults, rcParams
from matplotlib.figure import Figure

from giantstep.pipeline.planning.provenance import Provenance

# The paper's text and column widths, in inches; height over width of one panel.
TEXT_WIDTH, COLUMN_WIDTH = 6.75, 3.25
PANEL_RATIO = 0.78

# Ordered by lightness, to be told apart in grey and by the colour-blind.
COLOURS = ("#0b1d51", "#7b2d8b", "#d1495b", "#edae49", "#2a9d8f", "#8d99ae")
# They vary with the colour.
MARKERS = ("o", "s", "^", "D", "v", "P")
DASHED, DOTTED = (0, (4, 2)), (0, (1, 1))
# They vary with the colour where there are no markers.
LINES = ("-", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (5, 2, 1, 2, 1, 2)), (0, (2, 2)))

# Theory at the dimension of the simulations, beside that of the limit.
FINITE_SIZE: dict[str, Any] = {"linestyle": (0, (3.5, 1.5)), "linewidth": 0.8}
# The bounds on the test error, equations (26) and (27).
BOUNDS: dict[str, dict[str, Any]] = {
    "upper_bound": {"color": COLOURS[2], "linestyle": DASHED},
    "lower_bound": {"color": COLOURS[4], "linestyle": DOTTED},
}
# An optimum.
STAR: dict[str, Any] = {
    "marker": "*",
    "markersize": 8,
    "markeredgecolor": "black",
    "markeredgewidth": 0.4,
    "linestyle": "none",
    "zorder": 4,
}


@contextmanager
def settings() -> Iterator[None]:
    """Draw and save in this style on matplotlib's own defaults, whatever the user has set."""
    with rc_context():
        rcdefaults()
        rcParams.update(_house())  # type: ignore[arg-type]
        yield


def _house() -> dict[str, Any]:
    return {
        "font.family": "STIXGeneral",
        "mathtext.fontset": "stix",
        "font.size": 9,
        "axes.labelsize": 9,
        "axes.titlesize": 9,
        "legend.fontsize": 8,
        "xtick.labelsize": 8,
        "ytick.labelsize": 8,
        "axes.linewidth": 0.6,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "lines.linewidth": 1.2,
        "lines.markersize": 2.8,
        "errorbar.capsize": 1.6,
        "legend.frameon": False,
        "legend.handlelength": 1.6,
        "figure.constrained_layout.use": True,
        "savefig.dpi": 300,
        "pdf.fonttype": 42,  # fonts, so that text can be searched
        "svg.fonttype": "path",
        "svg.hashsalt": "giantstep",
    }


def size(columns: float, rows: int = 1) -> tuple[float, float]:
    """Return width and height in inches: of several columns across the text, or of one column."""
    width = TEXT_WIDTH if columns > 1 else COLUMN_WIDTH
    return width, width / columns * PANEL_RATIO * rows


def cycle(count: int, colours: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """Return colour and marker of each of `count` curves."""
    palette = colours or COLOURS
    return [
        {"color": palette[i % len(palette)], "marker": MARKERS[i % len(MARKERS)]}
        for i in range(count)
    ]


def save(figure: Figure, path: Path, origin: Provenance | None = None) -> None:
    """Save a figure in the format of the path's suffix; equal figures become equal bytes.

    Parameters
    ----------
    figure : Figure
    path : Path
    origin : Provenance, optional
        Goes into the file's metadata, by the names that its format has for it.
    """
    timeless: dict[str, dict[str, Any]] = {
        ".pdf": {"CreationDate": None, "ModDate": None},
        ".svg": {"Date": None},
        ".png": {},
    }
    named = _metadata(path.suffix, origin) if origin else {}
    figure.savefig(path, metadata=timeless[path.suffix] | named)


def _metadata(suffix: str, origin: Provenance) -> dict[str, Any]:
    software, results = f"giantstep {origin.version}", " ".join(origin.results)
    if suffix == ".pdf":
        named = {"Subject": origin.source, "Keywords": results, "Creator": software}
    elif suffix == ".svg":
        named = {"Source": origin.source, "Description": results, "Creator": software}
    else:
        named = {"Source": origin.source, "Results": results, "Software": software}
    return {"Title": origin.title} | named
