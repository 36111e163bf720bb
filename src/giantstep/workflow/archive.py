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
from mimetypes import MimeTypes
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
# The most bytes that are unpacked.
_LARGEST = 10**9
_PROFILE = Path("profiles/default/config.yaml")
_TYPES = MimeTypes()  # Python's own, on any machine
_TYPES.add_type("application/yaml", ".yaml")
_README, _CRATE = (Path("workflow/archive", name) for name in ("README.md", METADATA))
_SNAKEFILE = Path("workflow/project/Snakefile")


class ArchiveError(RefusalError):
    """An archive that cannot be made, or is not what was packed."""


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
    ArchiveError
        If not all of its files have been made from this configuration and code.
    """
    figure = plan.figure(name)
    contents = dict(_contents(figure, plan))
    described = _described(figure, contents)
    contents[METADATA] = json.dumps(described, indent=2, ensure_ascii=False).encode() + b"\n"
    with beside(path) as place, zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        # In this order, unpacking makes nothing older than what it is made from.
        for file, content in contents.items():
            # Without times, the same contents are the same archive.
            archive.writestr(zipfile.ZipInfo(file), content, zipfile.ZIP_DEFLATED)


def read_archive(path: Path, folder: Path) -> str:
    """Unpack an archive, check every file against its checksum, and return the figure's name.

    Nothing is unpacked of an archive that is too large, or has files that it does not list.

    Raises
    ------
    ArchiveError
        If it is no such archive, a file is missing or damaged, or has no checksum.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            packed = archive.namelist()
            name, checksums = _listed(archive)
            archive.extractall(folder)
    except ArchiveError:
        raise
    except Exception as error:  # whatever else a file may hold
        raise ArchiveError(f"{path} is not an archive of a figure: {error!r}") from error
    for file, checksum in checksums.items():
        found = folder / file
        if file not in packed or not found.is_file() or sha256(found.read_bytes()) != checksum:
            raise ArchiveError(f"{path}: {file} is not what was packed")
    return name


def _listed(archive: zipfile.ZipFile) -> tuple[str, dict[str, str]]:
    """Return the name of the figure, and the checksum of each file that an archive lists."""
    size = sum(member.file_size for member in archive.infolist())
    if size > _LARGEST:
        text = f"{size / 1e9:.1f} GB unpacked, and {_LARGEST / 1e9:g} GB is the most that is read"
        raise ArchiveError(f"{archive.filename}: {text}")
    described = json.loads(archive.read(METADATA))["@graph"]
    name = next(str(entity["alternateName"]) for entity in described if entity["@id"] == "./")
    checksums = {str(one["@id"]): one["sha256"] for one in described if "sha256" in one}
    if unlisted := sorted({*archive.namelist()} - {*checksums, METADATA}):
        text = f"{unlisted[0]} was not packed with the rest: it has no checksum"
        raise ArchiveError(f"{archive.filename}: {text}")
    return name, checksums


def _contents(figure: FigurePlan, plan: Plan) -> Iterator[tuple[str, bytes]]:
    """Yield the files of an archive: their names and contents."""
    config = figure.figure.config
    words = {"title": config["title"], "name": figure.name, "version": version_of("giantstep")}
    yield "README.md", (installed_folder() / _README).read_text("utf-8").format(**words).encode()
    marks = list(figure.marks.values())
    made = [*marks, figure.merged, *figure.outputs]
    missing = [file for file in made if not (plan.root / file).is_file()]
    if missing:
        targets = [file for file in missing if file not in marks] or figure.drawings[:1]
        raise ArchiveError(
            f"{plan.root / missing[0]} is not there, or not of this configuration and code: run"
            f" `snakemake --cores all {' '.join(targets)}` first, with the same overlays"
        )
    effective = {**plan.config, "figures": [figure.name]}
    yield str(MAIN), yaml.safe_dump(effective, sort_keys=False).encode()
    of_figure = (str(FIGURES / f"{figure.name}.yaml"), *figure.drawing, *files_of(config))
    for file in dict.fromkeys(of_figure):
        yield file, (plan.root / file).read_bytes()
    yield "Snakefile", (installed_folder() / _SNAKEFILE).read_bytes()
    yield str(_PROFILE), (installed_folder() / _PROFILE).read_bytes()
    yield from _code(plan.root)
    for file in made:
        yield file, (plan.root / file).read_bytes()


def _code(root: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the package and the workflow that made the figure, and what they need."""
    own = root / "workflow"
    workflow = own if own.is_dir() else installed_folder() / "workflow"
    for folder, place in ((PACKAGE, Path("src/giantstep")), (workflow, Path("workflow"))):
        for path in sorted(folder.rglob("*")):
            inside = PACKAGE / "project" in path.parents and folder == PACKAGE
            if path.is_file() and path.suffix != ".pyc" and not inside:
                yield str(place / path.relative_to(folder)), path.read_bytes()
    lock = root / LOCK
    installed = {f"{one.metadata['Name']}=={one.version}\n" for one in distributions()}
    yield LOCK, lock.read_bytes() if lock.is_file() else "".join(sorted(installed)).encode()


def _described(figure: FigurePlan, contents: dict[str, bytes]) -> dict[str, Any]:
    """Describe an archive as an RO-Crate, in JSON-LD."""
    files = [
        {
            "@id": file,
            "@type": "File",
            "name": file,
            "contentSize": str(len(content)),
            "encodingFormat": _TYPES.guess_type(file)[0] or "text/plain",
            "sha256": sha256(content),
        }
        for file, content in sorted(contents.items())
    ]
    crate: dict[str, Any] = json.loads((installed_folder() / _CRATE).read_text("utf-8"))
    _, root, software, run = crate["@graph"]
    root |= {
        "name": figure.figure.config["title"],
        "alternateName": figure.name,
        "description": " ".join(figure.figure.config.get("caption", "").split()),
        "datePublished": date.today().isoformat(),
        "hasPart": _references(sorted(contents)),
        "mainEntity": {"@id": figure.merged},
    }
    software["softwareVersion"] = version_of("giantstep")
    run |= {
        "object": _references([MAIN, FIGURES / f"{figure.name}.yaml"]),
        "result": _references([figure.merged, *figure.outputs]),
        "identifier": [Path(mark).name for mark in figure.marks.values()],
    }
    crate["@graph"] += files
    return crate


def _references(files: Iterable[str | Path]) -> list[dict[str, str]]:
    return [{"@id": str(file)} for file in files]
