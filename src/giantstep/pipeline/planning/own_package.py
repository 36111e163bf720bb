"""The package that computes is the project's own, where the project holds one."""

from __future__ import annotations

from pathlib import Path

_LOADED = Path(__file__).parents[2]


class ForeignPackageError(RuntimeError):
    """The package that is loaded is not the one in the project's folder."""


def check_own_package(root: Path) -> None:
    """Check that the loaded package is that in src/ of a project, or an exact copy of it.

    Parameters
    ----------
    root : Path
        The project's folder; a project without src/giantstep uses the package that is installed.

    Raises
    ------
    ForeignPackageError
    """
    own = root / "src" / _LOADED.name
    if not own.is_dir() or own.resolve() == _LOADED.resolve() or _code(own) == _code(_LOADED):
        return
    raise ForeignPackageError(
        f"the code that is loaded, {_LOADED}, is not the project's, {own.resolve()}: install the"
        f" project in its own environment, or set PYTHONPATH={own.resolve().parent}"
    )


def _code(package: Path) -> dict[Path, bytes]:
    """Read all modules of a package, by their paths in it."""
    return {path.relative_to(package): path.read_bytes() for path in package.rglob("*.py")}
