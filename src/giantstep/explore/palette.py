"""Colours of plots in the page: those of the figures, and their counterparts on a dark ground."""

from __future__ import annotations

from typing import NamedTuple

from giantstep.problems.bulk_kind import ISOTROPIC, TRAINED


class Palette(NamedTuple):
    """Colours of one theme.

    Attributes
    ----------
    curves : tuple of str
        Of the question, and of the pins in order.
    text, grid, muted, ground : str
    upper, lower : str
        Of the bounds.
    scale : float
        Of the type, which is larger for a projector.
    """

    curves: tuple[str, ...]
    text: str
    grid: str
    muted: str
    ground: str
    upper: str
    lower: str
    scale: float = 1.0


LIGHT, DARK = "light", "dark"
PALETTES = {
    LIGHT: Palette(
        ("#0b1d51", "#c8404f", "#2a9d8f", "#7b2d8b", "#b97a10", "#5c6b85", "#3f7d20"),
        text="#1c2330",
        grid="#e6e8ec",
        muted="#7a8494",
        ground="#ffffff",
        upper="#d1495b",
        lower="#2a9d8f",
    ),
    DARK: Palette(
        ("#9db8ff", "#ff8fa0", "#f0bd62", "#63d2c3", "#d596e8", "#b4bfd2", "#a4d65e"),
        text="#e4e8f0",
        grid="#2a3140",
        muted="#8f9bb0",
        ground="#151a23",
        upper="#ff8fa0",
        lower="#63d2c3",
    ),
}
LARGE = 1.5
PALETTES |= {f"{name} large": of._replace(scale=LARGE) for name, of in PALETTES.items()}
# Dashes have the meaning that they have in the figures: theory beside that of another bulk or of
# another dimension, and the limits of errors.
BULK_DASHES: dict[str, tuple[int, ...]] = {ISOTROPIC: (), TRAINED: (5, 2)}
FINITE, LINEAR = (4, 2), (1, 2)
UPPER, LOWER = (6, 2, 1, 2), (6, 2, 1, 2, 1, 2)
