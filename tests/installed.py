"""The package as strangers have it: a wheel in an environment that holds only what it requires."""

import importlib.metadata as metadata
import os
import subprocess
import sys
import venv
import zipfile

from packaging.requirements import Requirement
from tiny import ROOT

# Builds in a process of its own, since the build works in the folder of the sources.
BUILD = "from hatchling import build; "


def build_wheel(folder):
    """Build the wheel."""
    folder.mkdir(parents=True, exist_ok=True)
    code = f"{BUILD}build.build_wheel({str(folder)!r})"
    built = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr


def required(requirements, extras):
    """List the distributions that requirements need, and what these need, as they are installed."""
    found, waiting = {}, [(Requirement(text), extras) for text in requirements]
    while waiting:
        requirement, extras = waiting.pop()
        environments = [{"extra": extra} for extra in ("", *extras)]
        wanted = requirement.marker is None or any(map(requirement.marker.evaluate, environments))
        name, asked = requirement.name.lower(), tuple(sorted(requirement.extras))
        if wanted and (name, asked) not in found:
            try:
                found[name, asked] = metadata.distribution(name)
            except metadata.PackageNotFoundError:
                continue  # an extra that the lock leaves out
            waiting += [(Requirement(text), asked) for text in found[name, asked].requires or ()]
    return {name: found for (name, _), found in found.items()}.values()


def whole(requirements, extras):
    """Add to extras of the package those that they include."""
    own = [one for one in map(Requirement, requirements) if one.name == "giantstep"]
    included = [one for one in own if any(one.marker.evaluate({"extra": e}) for e in extras)]
    more = extras.union(*(one.extras for one in included))
    return more if more == extras else whole(requirements, more)


def install(wheel, folder, *extras):
    """Make an environment of a wheel and links to what it requires, and return its Python.

    No index is asked: the links lead to the environment that runs this.
    """
    venv.create(folder)
    (libraries,) = folder.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(libraries)
    (described,) = libraries.glob("giantstep-*.dist-info")
    needed = metadata.Distribution.at(described).requires or ()
    others = [text for text in needed if not text.startswith("giantstep")]
    for distribution in required(others, whole(needed, set(extras))):
        for file in distribution.files or ():
            link = libraries / file.parts[0]
            if link.name not in ("..", "__pycache__") and not link.exists():
                link.symlink_to(distribution.locate_file(link.name))
    return folder / "bin" / "python"


def run(python, *arguments, cwd=None, code=0):
    """Run Python there, and return what it printed."""
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "GIANTSTEP"))}
    done = subprocess.run(
        [python, *arguments],
        cwd=cwd,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert code is None or done.returncode == code, done.stdout
    return done.stdout
