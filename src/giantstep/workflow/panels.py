"""From a panel of a figure's YAML to the combinations of its lists, and to their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from giantstep.problems.combinations import combinations
from giantstep.problems.formatting import format_value
from giantstep.problems.grid import merged_axis, spaced_axis
from giantstep.problems.sizes import Sizes
from giantstep.validation import InvalidParametersError, shown
from giantstep.workflow.config import CONFIG, Faults
from giantstep.workflow.config_models import MAP, Config, Simulation, kind_of

# Where what a panel of curves does not set is set: the place, and its file if not the figure's.
_ELSEWHERE = {name: (f"simulation.{name}", CONFIG) for name in Simulation.model_fields}
_ELSEWHERE |= {"alpha": ("simulation.alpha or spectrum.alpha", "")}


@dataclass(frozen=True)
class Panel:
    """A panel of a figure, and what holds for all panels.

    Attributes
    ----------
    name : str
    given : mapping
        Its YAML.
    figure : mapping
        The figure's YAML.
    config : Config
    faults : Faults
        Of the figure.
    """

    name: str
    given: Mapping[str, Any]
    figure: Mapping[str, Any]
    config: Config
    faults: Faults

    def add_fault(self, field: str, problem: str) -> None:
        """Add a fault of one field, or if it is empty of the whole panel."""
        self.faults.add(f"panels.{self.name}.{field}".rstrip("."), problem)

    @contextmanager
    def collect(self) -> Iterator[None]:
        """Add what is refused to the faults; sizes of curves may be those of the main file."""
        elsewhere = {} if kind_of(self.given) is MAP else _ELSEWHERE
        try:
            yield
        except InvalidParametersError as error:
            for fault in error.faults:
                problem = f"{shown(fault.value)} must be {fault.allowed}"
                own = f"panels.{self.name}.{fault.name}", ""
                place = own if fault.name in self.given else elsewhere.get(fault.name, own)
                self.faults.add(place[0], problem, place[1])

    @property
    def simulated_alphas(self) -> tuple[float, ...]:
        """The sample complexities at which networks are simulated."""
        return merged_axis(self.figure.get("simulation", {}).get("alpha", ()))

    @property
    def spectrum_alphas(self) -> list[float]:
        """The sample complexity of the spectra, if there are any."""
        return [float(self.figure["spectrum"]["alpha"])] if "spectrum" in self.figure else []

    def theory_axis(self, name: str) -> tuple[float, ...]:
        """Return the values of an axis of the theory, none if it is not given."""
        axis = self.figure.get("theory", {}).get(name)
        return spaced_axis(**axis) if axis else ()

    def sizes(self, fields: Mapping[str, Any]) -> Sizes:
        """Return the sizes of the simulations of a curve: the panel's own, or the config's."""
        default = self.config.simulation
        names = "dimension", "trainings", "test_samples"
        return Sizes(**{name: fields.get(name, getattr(default, name)) for name in names})

    def combinations(self, names: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the name and the fields of each curve: all combinations of the panel's lists.

        Parameters
        ----------
        names : list of str
            The fields that say what a curve is, in the order in which lists vary.
        """
        fields = {name: self.given[name] for name in names}
        lists = {name: value for name, value in fields.items() if isinstance(value, list)}
        for chosen in combinations(lists):
            label = ",".join(f"{name}={format_value(entry)}" for name, entry in chosen.items())
            yield f"{self.name}:{label}" if label else self.name, fields | chosen
