"""Colours of plots in the page: those of the figures, and their counterparts on a dark ground."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import yaml

from giantstep.problems.bulk_kind import ISOTROPIC, TRAINED


class Palette(NamedTuple):
    """Colours of one theme.

    Attributes
    ----------
    curves : list of str
        Of the question, and of the pins in order.
    text, grid, muted, ground : str
    failure : str
        Of points without a solution.
    scale : float
        Of the type, which is larger for a projector.
    """

    curves: list[str]
    text: str
    grid: str
    muted: str
    ground: str
    failure: str
    scale: float = 1.0


LIGHT, DARK = "light", "dark"
with Path(__file__).with_suffix(".yaml").open(encoding="utf-8") as file:
    PALETTES = {theme: Palette(**of) for theme, of in yaml.safe_load(file).items()}
LARGE = 1.5
PALETTES |= {f"{name} large": of._replace(scale=LARGE) for name, of in PALETTES.items()}
# Dashes have the meaning that they have in the figures: theory beside that of another bulk or of
# another dimension, and the limits of errors.
BULK_DASHES: dict[str, tuple[int, ...]] = {ISOTROPIC: (), TRAINED: (5, 2)}
FINITE, LINEAR = (4, 2), (1, 2)
UPPER, LOWER = (6, 2, 1, 2), (6, 2, 1, 2, 1, 2)
