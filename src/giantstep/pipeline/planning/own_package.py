"""The package that computes, and the workflow: the project's own, where it holds them."""

from __future__ import annotations

from pathlib import Path

_LOADED = Path(__file__).parents[2]
_RULES = Path("workflow", "scripts")


def installed_folder() -> Path:
    """Return the folder that holds workflow/ and profiles/: the package's, or that of its clone."""
    return _LOADED if (_LOADED / _RULES).is_dir() else _LOADED.parents[1]


def code_folder(root: Path) -> Path:
    """Return the folder that holds a project's workflow/; its own, or else the installed one."""
    return root if (root / _RULES).is_dir() else installed_folder()


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
    """Read all modules of a package, by their paths in it; a wheel's also holds the workflow."""
    paths = {path.relative_to(package): path for path in package.rglob("*.py")}
    return {name: path.read_bytes() for name, path in paths.items() if name.parts[0] != "workflow"}
