"""A figure in one file: drawing, data, config and code, as an RO-Crate that is a project, too.

Unpacked anywhere, the workflow finds everything made, and makes it again when asked to.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator
from datetime import date
from importlib.metadata import distributions
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

import yaml

from giantstep.files import beside
from giantstep.validation import RefusalError
from giantstep.workflow.code import PACKAGE, installed_folder, sha256
from giantstep.workflow.config import FIGURES, MAIN
from giantstep.workflow.figure_config import files_of
from giantstep.workflow.figure_plan import FigurePlan
from giantstep.workflow.plan import Plan

METADATA = "ro-crate-metadata.json"
LOCK = "requirements.lock"
_PROFILE = "profiles/default/config.yaml"


def write_archive(path: Path, name: str, plan: Plan) -> None:
    """Pack a figure that has been made.

    Parameters
    ----------
    path : Path
        Of the archive, a zip file.
    name : str
        Of the figure.
    plan : Plan
        Of the project in whose folder it was made.

    Raises
    ------
    RefusalError
        If not all of its files have been made from this configuration and code.
    """
    figure = plan.figure(name)
    contents = dict(_contents(figure, plan))
    described = _described(figure, contents)
    contents[METADATA] = json.dumps(described, indent=2, ensure_ascii=False).encode() + b"\n"
    with beside(path) as place, zipfile.ZipFile(place, "w") as archive:
        # In this order, unpacking makes nothing older than what it is made from.
        for file, content in contents.items():
            # Without times, the same contents are the same archive.
            archive.writestr(zipfile.ZipInfo(file), content, zipfile.ZIP_DEFLATED)


def read_archive(path: Path, folder: Path) -> str:
    """Unpack an archive, check every file against its checksum, and return the figure's name.

    A file that it does not list is not unpacked.

    Raises
    ------
    FileNotFoundError
    RefusalError
        If it is no such archive, or a file in it is missing or damaged.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            described = json.loads(archive.read(METADATA))["@graph"]
            name = next(str(one["alternateName"]) for one in described if one["@id"] == "./")
            checksums = {one["@id"]: one["sha256"] for one in described if "sha256" in one}
            archive.extractall(folder, checksums)
    except FileNotFoundError:
        raise
    except Exception as error:  # whatever a file may hold
        raise RefusalError(f"{path} is not an archive of a figure: {error!r}") from error
    for file, checksum in checksums.items():
        if sha256((folder / file).read_bytes()) != checksum:
            raise RefusalError(f"{path}: {file} is not what was packed")
    return name


def _contents(figure: FigurePlan, plan: Plan) -> Iterator[tuple[str, bytes]]:
    """Yield the files of an archive: their names and contents."""
    config, root, home = figure.config, plan.root, installed_folder()
    made = [*figure.marks.values(), figure.merged, *figure.outputs]
    if missing := [file for file in made if not (root / file).is_file()]:
        raise RefusalError(
            f"{root / missing[0]} is not there, or not of this configuration and code: run"
            f" `snakemake --cores all {' '.join(figure.outputs)}` first, with the same overlays"
        )
    words = {"title": config["title"], "name": figure.name, "version": version_of("giantstep")}
    readme = (home / "workflow/archive/README.md").read_text("utf-8")
    yield "README.md", readme.format(**words).encode()
    effective = {**plan.config, "figures": [figure.name]}
    yield str(MAIN), yaml.safe_dump(effective, sort_keys=False).encode()
    own = [f"{FIGURES}/{figure.name}.yaml", *figure.drawing, *files_of(config)]
    yield "Snakefile", (home / "workflow/project/Snakefile").read_bytes()
    yield _PROFILE, (home / _PROFILE).read_bytes()
    yield from _code(root / LOCK)
    for file in dict.fromkeys([*own, *made]):
        yield file, (root / file).read_bytes()


def _code(lock: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the package and the workflow that made the figure, and what they need."""
    workflow = installed_folder() / "workflow"
    for folder, place in ((PACKAGE, Path("src/giantstep")), (workflow, Path("workflow"))):
        for path in sorted(folder.rglob("*")):
            inside = PACKAGE / "project" in path.parents and folder == PACKAGE
            if path.is_file() and path.suffix != ".pyc" and not inside:
                yield str(place / path.relative_to(folder)), path.read_bytes()
    installed = {f"{one.metadata['Name']}=={one.version}\n" for one in distributions()}
    yield LOCK, lock.read_bytes() if lock.is_file() else "".join(sorted(installed)).encode()


def _described(figure: FigurePlan, contents: dict[str, bytes]) -> dict[str, Any]:
    """Describe an archive as an RO-Crate, in JSON-LD."""
    template = installed_folder() / "workflow/archive" / METADATA
    crate: dict[str, Any] = json.loads(template.read_text("utf-8"))
    _, root, software, run = crate["@graph"]
    config = figure.config
    root |= {
        "name": config["title"],
        "alternateName": figure.name,
        "description": " ".join(config["caption"].split()),
        "datePublished": date.today().isoformat(),
        "hasPart": _references(contents),
        "mainEntity": {"@id": figure.merged},
    }
    software["softwareVersion"] = version_of("giantstep")
    run |= {
        "object": _references([str(MAIN), f"{FIGURES}/{figure.name}.yaml"]),
        "result": _references([figure.merged, *figure.outputs]),
        "identifier": [Path(mark).name for mark in figure.marks.values()],
    }
    crate["@graph"] += [
        {"@id": file, "@type": "File", "sha256": sha256(content)}
        for file, content in contents.items()
    ]
    return crate


def _references(files: Iterable[str]) -> list[dict[str, str]]:
    return [{"@id": file} for file in files]
