"""The plan of one figure: all that its files are made from, but the code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from giantstep.pipeline.planning.layout import STAGES
from giantstep.pipeline.planning.tasks import Curve

if TYPE_CHECKING:
    from giantstep.figures.style import Provenance


@dataclass(frozen=True)
class FigurePlan:
    """One figure.

    Attributes
    ----------
    name : str
    config : dict
        Its YAML.
    drawing : str
        The code that draws it: a module, or the path of a file.
    curves : tuple of Curve
    sizes : dict
        Of simulations, as configured.
    root_seed : int
    versions : str
        Of the libraries, if they are to be part of all keys; otherwise empty.
    version : str
        Of this package.
    """

    name: str
    config: dict[str, Any]
    drawing: str
    curves: tuple[Curve, ...]
    sizes: dict[str, Any]
    root_seed: int
    versions: str
    version: str

    @property
    def science(self) -> dict[str, Any]:
        """The config without what only drawings and captions use."""
        return {k: v for k, v in self.config.items() if k not in ("style", "caption")}

    def provenance(self, source: str) -> Provenance:
        """Say where a drawing comes from, of which the data have the name `source` inside."""
        names = dict.fromkeys(
            f"{stage}/{key.partition('/')[0]}"
            for curve in self.curves
            for stage, keys in curve.keys.items()
            for key in keys
        )
        from giantstep.figures.style import Provenance

        return Provenance(str(self.config["title"]), source, tuple(names), self.version)

    @property
    def files(self) -> list[str]:
        """The results of its curves, as paths from the project's folder."""
        return [
            path
            for curve in self.curves
            for stage, keys in curve.keys.items()
            for key in keys
            for path in STAGES[stage].paths(key)
        ]
