"""The build of flit_core, with the workflow and its profiles inside the package of a wheel.

`giantstep init` makes projects that run them where there is no clone. An editable installation uses
those of the clone.
"""

import contextlib
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from flit_core import buildapi
from flit_core.buildapi import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

FILES = ("pyproject.toml", "README.md", "LICENSE")
INSIDE = ("workflow", "profiles")


def build_wheel(
    wheel_directory: str,
    config_settings: object = None,
    metadata_directory: object = None,
) -> str:
    """Build a wheel of a copy of the sources, in which workflow and profiles are in the package."""
    ignored = shutil.ignore_patterns("__pycache__")
    target = str(Path(wheel_directory).absolute())
    with TemporaryDirectory() as copy:
        for name in FILES:
            shutil.copy(name, copy)
        package = shutil.copytree("src", Path(copy, "src"), ignore=ignored) / "giantstep"
        for name in INSIDE:
            shutil.copytree(name, package / name, ignore=ignored)
        with contextlib.chdir(copy):
            return buildapi.build_wheel(target)
