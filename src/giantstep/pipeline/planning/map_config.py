"""From a panel of a figure's YAML to a map over two parameters."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from giantstep.pipeline.planning.config_models import MapPanel
from giantstep.pipeline.planning.figure_spec import FigureSpec, MapSpec
from giantstep.pipeline.planning.tasks import MapTask
from giantstep.problems.grid import Grid, spaced_axis
from giantstep.problems.protocol import Protocol, theory_faults
from giantstep.validation import InvalidParametersError

_POINT = ("alpha", "ridge")
# Numbers of a protocol that a panel may hold, and a map may vary.
_NUMBERS = ("learning_rate", "alpha0", "beta", "noise")
_OPTIONAL = ("noise",)


def read_map(spec: FigureSpec, name: str, panel: MapPanel) -> None:
    """Add the map of a panel, or its faults."""
    place = f"panels.{name}"
    axes = {}
    for axis in ("y", "x"):
        ((parameter, spaced),) = getattr(panel, axis).items()
        if parameter not in (*_POINT, *_NUMBERS):
            known = ", ".join((*_POINT, *_NUMBERS))
            spec.add_fault(f"{place}.{axis}", f"{parameter} must be one of {known}")
        axes[parameter] = spaced_axis(**spaced.model_dump())
    given = spec.config["panels"][name]
    for parameter in (*_POINT, *_NUMBERS):
        if parameter in given and parameter in axes:
            spec.add_fault(f"{place}.{parameter}", "must be left out: it is an axis of the map")
        if parameter not in (*given, *axes, *_OPTIONAL):
            spec.add_fault(place, f"missing key {parameter!r}")
    if len(axes) < 2:
        spec.add_fault(f"{place}.y", "must be another parameter than x")
    if not any(fault.path.startswith(place) for fault in spec.faults):
        _add_map(spec, name, given, axes)


def _add_map(
    spec: FigureSpec, name: str, given: dict[str, Any], axes: dict[str, tuple[float, ...]]
) -> None:
    """Add a map whose corners, and so all its points, are allowed."""
    of_problem = {field.name for field in fields(Protocol)}
    corners = [
        {name: values[end] for name, values in axes.items()} | _fixed(given) for end in (0, -1)
    ]
    try:
        problems = [
            Protocol(**{key: value for key, value in corner.items() if key in of_problem})
            for corner in corners
        ]
        for corner in corners:
            Grid((corner["alpha"],), (corner["ridge"],))
        if faults := theory_faults(problems[0]):
            raise InvalidParametersError(faults)
    except InvalidParametersError as error:
        spec.add_faults(name, error, f"panels.{name}")
        return
    (y, y_values), (x, x_values) = axes.items()
    point = corners[0]["alpha"], corners[0]["ridge"]
    task = MapTask(problems[0], x, x_values, y, y_values, *point)
    spec.curves.append(MapSpec(name, name, task))


def _fixed(panel: dict[str, Any]) -> dict[str, Any]:
    """Return what a panel says of a protocol, or of the point at which it is solved."""
    return {key: value for key, value in panel.items() if key not in ("x", "y", "show", "title")}
