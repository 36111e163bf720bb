"""What the processes of a page are asked to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from giantstep.explore.view import View
from giantstep.validation import Interval

# Inputs over which the test errors of networks are averaged.
TEST_SAMPLES = 10_000
# Core-hours that networks, or an export, may take.
MOST_HOURS = 1.0
# How many networks are simulated: two have a standard error.
NETWORKS = Interval(2, 64, whole=True)

# An answer to a view: arrays and texts by name.
Answer = dict[str, Any]


@dataclass(frozen=True)
class NetworksTask:
    """Networks of a dimension, at the question of a view and along its x.

    Attributes
    ----------
    view : View
    dimension, networks : int
    project : Path
        Its configuration has their seed and the number of their trainings, so that a figure in it
        simulates the same networks.
    """

    view: View
    dimension: int
    networks: int
    project: Path = Path()


@dataclass(frozen=True)
class ExportTask:
    """A file to be made of what is shown; or, without a format, a figure in a project.

    Attributes
    ----------
    view : View
    name : str
        Of the figure in the project, or of the one that it would be.
    project : Path
    form : str
        Its suffix, such as png; or empty.
    networks : NetworksTask or None
        Networks beside the answer.
    simulated : dict
        What they have said last.
    """

    view: View
    name: str = "explored"
    project: Path = Path()
    form: str = ""
    networks: NetworksTask | None = None
    simulated: dict[str, Any] = field(default_factory=dict)
