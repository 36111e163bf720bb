"""The style of all figures: sizes, colours, markers, matplotlib settings, and saving."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from io import BytesIO
from numbers import Real
from pathlib import Path
from typing import Any
from warnings import catch_warnings, filterwarnings

import matplotlib
import numpy as np
from matplotlib import rc_context, rc_params_from_file
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

from giantstep.files import beside
from giantstep.problems.bulk_kind import ISOTROPIC, TRAINED

# Figures have the width in inches at which they are printed: over the paper's two columns, or one.
TEXT_WIDTH, COLUMN_WIDTH = 6.75, 3.25
# Height over width of a panel, by the number of panels in a row.
PANEL_RATIOS = {1: 0.78, 2: 0.62, 3: 0.84}

# How something is drawn: matplotlib's options.
Look = dict[str, Any]
_STYLE = Path(__file__).with_name("giantstep.mplstyle")
_STATED = rc_params_from_file(_STYLE, use_default_template=False)
COLOURS: tuple[str, ...] = tuple(_STATED["axes.prop_cycle"].by_key()["color"])
# Of numbers in their order, as in a ramp from dark to light.
RAMP, RAMP_END = "viridis", 0.8
# Of the theory and the networks of a bulk, where no parameter has the colours; and without a step.
BULK_COLOURS = {ISOTROPIC: COLOURS[0], TRAINED: COLOURS[2]}
NO_STEP = "#6e6e6e"
# They vary with the colour.
MARKERS = ("o", "s", "^", "D", "v", "P")
# A marker's face has this share of its colour, so that its error bar is seen on it.
FACE = 0.35

# Each line style has one meaning in all figures. Solid: theory for d -> infinity; that of the
# isotropic bulk is pale beside that of the trained bulk. Dashed: theory at the dimension of the
# simulations. Simulated points are never joined.
FINITE_SIZE: Look = {"linestyle": (0, (3.5, 1.5)), "linewidth": 0.8}
_BULK_LINES: dict[str, Look] = {ISOTROPIC: {"linewidth": 2.2, "alpha": 0.4}, TRAINED: {}}
# The bounds on the test error, equations (26) and (27).
BOUNDS: dict[str, Look] = {
    "upper_bound": {"color": "0.25", "linestyle": (0, (5, 1.5, 1, 1.5)), "linewidth": 1.0},
    "lower_bound": {"color": "0.25", "linestyle": (0, (4, 1.5, 1, 1.5, 1, 1.5)), "linewidth": 1.0},
}
# The best that any method can do with all samples, and the best known that is fast.
BEST_POSSIBLE: dict[str, Look] = {
    "bayes_optimal_error": {"linestyle": (0, (6, 1, 1, 1, 1, 1, 1, 1)), "linewidth": 0.9},
    "amp_error": {"linestyle": (0, (1, 1)), "linewidth": 0.9},
}
# The best linear predictor, or the best of another low degree.
REFERENCE: Look = {"color": "black", "linestyle": (0, (1, 1.2)), "linewidth": 0.9}
# The bulk of a spectrum, between its edges.
BULK: Look = {"color": "0.85", "linewidth": 0, "zorder": 1}
# Zero, and slopes to compare with.
GUIDE: Look = {"color": "0.6", "linewidth": 0.7, "zorder": 1}
# The target function.
TARGET: Look = {"color": "0.75", "linewidth": 2.4, "zorder": 1}
# Markers of networks that differ from those beside them as the legend says.
OPEN: Look = {"markerfacecolor": "white"}
# An optimum.
STAR: Look = {"marker": "*", "markersize": 8, "linestyle": "none", "zorder": 4}
STAR |= {"markeredgecolor": "black", "markeredgewidth": 0.4}


# The names that formats have for dates, which are left out, and for source, results and software.
_DATES = {".pdf": ("CreationDate", "ModDate"), ".svg": ("Date",), ".png": ()}
_ORIGINS = {
    ".pdf": ("Subject", "Keywords", "Creator"),
    ".svg": ("Source", "Description", "Creator"),
    ".png": ("Source", "Results", "Software"),
}


def settings() -> AbstractContextManager[None]:
    """Draw and save in this style on matplotlib's own defaults, whatever the user has set."""
    return rc_context(fname=_STYLE)


def panels(count: int, more_height: float = 0, **options: Any) -> tuple[Figure, list[Axes]]:
    """Make a figure of panels, up to three in a row, four in two rows; the last may have a gap.

    Parameters
    ----------
    count : int
    more_height : float
        Inches for a legend.
    **options
        Of `Figure.subplots`, such as `sharey`.
    """
    columns = 2 if count == 4 else min(count, max(PANEL_RATIOS))
    width, rows = COLUMN_WIDTH if count == 1 else TEXT_WIDTH, math.ceil(count / columns)
    height = rows * width / columns * PANEL_RATIOS[columns]
    figure = Figure(figsize=(width, height + more_height))
    places = figure.subplots(rows, columns, squeeze=False, **options).ravel()
    for axes in places[count:]:
        axes.remove()
    return figure, list(places[:count])


def cycle(count: int, colours: Sequence[str] | None = None) -> list[Look]:
    """Return colour and marker of each of `count` curves."""
    palette = colours or COLOURS
    turns = [divmod(i, len(palette)) for i in range(count)]
    return [look(palette[i], MARKERS[(i + turn) % len(MARKERS)]) for turn, i in turns]


def looks(values: Iterable[Any], colours: Sequence[str] | None = None) -> dict[Any, Look]:
    """Return colour and marker of each different value of what sets curves apart, in order.

    Numbers, or tuples of one, have colours of a ramp, in their order.
    """
    different = list(dict.fromkeys(values))
    bare = [
        value[0] if isinstance(value, tuple) and len(value) == 1 else value for value in different
    ]
    if colours is None and all(isinstance(value, Real) for value in bare):
        ramp = matplotlib.colormaps[RAMP](np.linspace(0, RAMP_END, max(len(bare), 3)))
        colours = [to_hex(ramp[sorted(bare).index(value)]) for value in bare]
    return dict(zip(different, cycle(len(different), colours), strict=True))


def look(colour: str, marker: str = MARKERS[0]) -> Look:
    """Return a colour, and a marker with a pale face of that colour."""
    face = 1 - FACE * (1 - np.array(to_rgb(colour)))
    return {"color": colour, "marker": marker, "markerfacecolor": to_hex(tuple(face))}


def bulk_lines(bulks: Iterable[str]) -> dict[str, Look]:
    """Return how the theory of each bulk is drawn, which is plain for a bulk without another."""
    names = list(dict.fromkeys(bulks))
    return {name: _BULK_LINES[name] if len(names) > 1 else {} for name in names}


def save(figure: Figure, path: Path, origin: Iterable[str] = ()) -> None:
    """Save a figure in the format of the path's suffix; equal figures become equal bytes.

    Parameters
    ----------
    figure : Figure
    path : Path
    origin : iterable of str, optional
        What the figure shows, the name of its data, the results that these were merged from, whose
        keys cover parameters and code, and this package with its version. Goes into the file's
        metadata, by the names that its format has for these.
    """
    metadata: dict[str, Any] = dict.fromkeys(_DATES[path.suffix])
    metadata |= dict(zip(("Title", *_ORIGINS[path.suffix]), origin, strict=False))
    content = BytesIO()  # on a full disk, matplotlib's own files end in other errors
    figure.savefig(content, format=path.suffix[1:], metadata=metadata)
    path.write_bytes(content.getvalue())


def draw_and_save(draw: Callable[[], Figure], paths: Iterable[Path], origin: Iterable[str]) -> None:
    """Draw a figure once, in this style, and save it in several formats, in their order.

    Parameters
    ----------
    draw : callable
    paths : iterable of Path
    origin : iterable of str
        As in `save`.

    Raises
    ------
    UserWarning
        If the drawing does not fit on its page.
    """
    with settings(), catch_warnings():
        filterwarnings("error", message=".*layout not applied")
        figure = draw()
        for path in paths:
            with beside(path) as unfinished:
                save(figure, unfinished, origin)
