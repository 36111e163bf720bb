"""Which code draws a figure: its own beside its YAML, a module of the package, or the default."""

from __future__ import annotations

import ast
from pathlib import Path

from giantstep.pipeline.planning.config import FIGURES
from giantstep.pipeline.planning.fingerprint import module_path

# Learning curves or maps, one panel beside the other.
DEFAULT = "giantstep.figures.default"


def drawing_of(root: Path, figure: str) -> str:
    """Find the code that draws a figure.

    Parameters
    ----------
    root : Path
        The folder that holds config/.
    figure : str

    Returns
    -------
    str
        The path of config/figures/NAME.py, if there is one; otherwise the name of a module.
    """
    own = root / FIGURES / f"{figure}.py"
    if own.is_file():
        return str(own)
    module = f"giantstep.figures.{figure}"
    path = module_path(module)
    return module if path and has_draw(path.read_text(encoding="utf-8")) else DEFAULT


def has_draw(source: str) -> bool:
    """Check, without running it, that code defines `draw` or imports a function under that name.

    Raises
    ------
    SyntaxError
    """
    return any(_names_draw(node) for node in ast.parse(source).body)


def _names_draw(node: ast.stmt) -> bool:
    if isinstance(node, ast.ImportFrom):
        return any("draw" in (alias.asname, alias.name) for alias in node.names)
    return isinstance(node, ast.FunctionDef) and node.name == "draw"
