"""The function that draws a figure, from a module of the package or a file of the project.

It runs code that no import statement names. The plan knows that code, and makes it part of what a
figure is made from (`planning.job_code`).
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any


def load_drawing(drawing: str) -> Callable[..., Any]:
    """Import the code that draws a figure, and return its function `draw(data, config)`.

    Parameters
    ----------
    drawing : str
        As `planning.drawing.drawing_of` returns it.
    """
    if not drawing.endswith(".py"):
        return import_module(drawing).draw  # type: ignore[no-any-return]
    spec = spec_from_file_location("drawing", drawing)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.draw  # type: ignore[no-any-return]
