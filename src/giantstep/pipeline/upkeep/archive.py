"""A figure in one file: drawing, data, config and code, as an RO-Crate that is a project, too.

Unpacked anywhere, the workflow finds everything made, and makes it again when asked to.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterator
from datetime import date
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import yaml

import giantstep
from giantstep.pipeline.planning.config import FIGURES, MAIN
from giantstep.pipeline.planning.figure_plan import FigurePlan
from giantstep.pipeline.planning.identities import identity, mark
from giantstep.pipeline.planning.layout import FIGURE_STAGES, STAGES
from giantstep.pipeline.planning.own_package import installed_folder
from giantstep.pipeline.planning.plan import Plan

METADATA = "ro-crate-metadata.json"
LOCK = "requirements.lock"
_PROFILE = Path("profiles/default/config.yaml")
_TYPES = {
    ".csv": "text/csv",
    ".nc": "application/x-netcdf",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".py": "text/x-python",
    ".svg": "image/svg+xml",
    ".yaml": "application/yaml",
}
_README = """\
# {title}

An archive of {name}, made by giantstep {version}: drawings, data, configuration and code.

    pip install -r requirements.lock                   # with Python 3.11 or later
    PYTHONPATH=src python -m giantstep verify {name}   # computes a random part again
    rm figures/{name}.* && snakemake --cores 1         # draws it again, to the same bytes
"""


class ArchiveError(ValueError):
    """An archive that cannot be made, or is not what was packed."""


def write_archive(path: Path, name: str, plan: Plan, config: dict[str, Any], project: Path) -> None:
    """Pack a figure that has been made.

    Parameters
    ----------
    path : Path
        Of the archive, a zip file.
    name : str
        Of the figure.
    plan : Plan
    config : dict
        The content of config/config.yaml and its overlays.
    project : Path

    Raises
    ------
    ArchiveError
        If not all of its files have been made from this configuration and code.
    """
    figure = plan.figures[name]
    contents = dict(_contents(figure, plan, config, project))
    described = _described(figure, plan, contents)
    contents[METADATA] = json.dumps(described, indent=2, ensure_ascii=False).encode() + b"\n"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(contents):
            # Without times, the same contents are the same archive.
            archive.writestr(zipfile.ZipInfo(file), contents[file], zipfile.ZIP_DEFLATED)


def read_archive(path: Path, folder: Path) -> str:
    """Unpack an archive, check every file against its checksum, and return the figure's name.

    Raises
    ------
    ArchiveError
        If it is no such archive, or a file is missing or damaged.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
        described = json.loads((folder / METADATA).read_text(encoding="utf-8"))["@graph"]
        name = next(str(entity["alternateName"]) for entity in described if entity["@id"] == "./")
        files = {entity["@id"]: entity["sha256"] for entity in described if "sha256" in entity}
    except (KeyError, OSError, StopIteration, ValueError, zipfile.BadZipFile) as error:
        raise ArchiveError(f"{path} is not an archive of a figure: {error}") from None
    for file, checksum in files.items():
        found = folder / file
        if not found.is_file() or _sha256(found.read_bytes()) != checksum:
            raise ArchiveError(f"{path}: {file} is not what was packed")
    return name


def _contents(
    figure: FigurePlan, plan: Plan, config: dict[str, Any], project: Path
) -> Iterator[tuple[str, bytes]]:
    """Yield the files of an archive: their names and contents."""
    words = {"title": figure.config["title"], "name": figure.name, "version": figure.version}
    yield "README.md", _README.format(**words).encode()
    made = [
        (mark(plan.root, figure, stage.name), *map(Path, stage.paths(figure.name)))
        for stage in FIGURE_STAGES
    ]
    needed = [files for files in made if not all((project / file).is_file() for file in files)]
    if needed:
        targets = " ".join(str(files[1]) for files in needed)
        raise ArchiveError(
            f"{project / needed[0][1]} is not there, or not of this configuration and code: run"
            f" `snakemake --cores all {targets}` first, with the same overlays"
        )
    for file in (file for files in made for file in files):
        yield str(file), (project / file).read_bytes()
    effective = config | {"figures": [figure.name]}
    yield str(MAIN), yaml.safe_dump(effective, sort_keys=False).encode()
    for suffix in (".yaml", ".py"):
        file = FIGURES / f"{figure.name}{suffix}"
        if (project / file).is_file():
            yield str(file), (project / file).read_bytes()
    yield "Snakefile", b'include: "workflow/Snakefile"\nworkflow.default_target = "all"\n'
    yield str(_PROFILE), (installed_folder() / _PROFILE).read_bytes()
    yield from _code(plan.root)
    yield LOCK, _lock(plan.root)


def _code(root: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the package and the workflow that made the figure."""
    package = Path(giantstep.__file__).parent
    inside = {package / name for name in ("workflow", "profiles")}
    for folder, place in ((package, Path("src/giantstep")), (root / "workflow", Path("workflow"))):
        for path in sorted(folder.rglob("*")):
            outside = place != Path("workflow") and inside & set(path.parents)
            if path.is_file() and path.suffix != ".pyc" and not outside:
                yield str(place / path.relative_to(folder)), path.read_bytes()


def _lock(root: Path) -> bytes:
    """Return the pinned requirements of a clone; of an installed package, what is installed."""
    lock = root / LOCK
    if lock.is_file():
        return lock.read_bytes()
    names = {(one.metadata["Name"], one.version) for one in distributions()}
    return "".join(f"{name}=={version}\n" for name, version in sorted(names)).encode()


def _described(figure: FigurePlan, plan: Plan, contents: dict[str, bytes]) -> dict[str, Any]:
    """Describe an archive as an RO-Crate, in JSON-LD."""
    files = [
        {
            "@id": file,
            "@type": "File",
            "name": file,
            "contentSize": str(len(content)),
            "encodingFormat": _TYPES.get(Path(file).suffix, "text/plain"),
            "sha256": _sha256(content),
        }
        for file, content in sorted(contents.items())
    ]
    made = [{"@id": file} for stage in FIGURE_STAGES for file in stage.paths(figure.name)]
    merged = STAGES["merge"].paths(figure.name)[0]
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": figure.config["title"],
        "alternateName": figure.name,
        "description": " ".join(figure.config.get("caption", "").split()),
        "datePublished": date.today().isoformat(),
        "license": "https://spdx.org/licenses/BSD-3-Clause",
        "hasPart": [{"@id": file["@id"]} for file in files],
        "mainEntity": {"@id": merged},
        "mentions": {"@id": "#run"},
    }
    about = {
        "@id": METADATA,
        "@type": "CreativeWork",
        "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
        "about": {"@id": "./"},
    }
    software = {
        "@id": "#giantstep",
        "@type": "SoftwareApplication",
        "name": "giantstep",
        "softwareVersion": figure.version,
        "softwareRequirements": {"@id": LOCK},
    }
    identities = {stage.name: identity(plan.root, figure, stage.name) for stage in FIGURE_STAGES}
    run = {
        "@id": "#run",
        "@type": "CreateAction",
        "instrument": {"@id": "#giantstep"},
        "object": [{"@id": str(MAIN)}, {"@id": str(FIGURES / f"{figure.name}.yaml")}],
        "result": made,
        "identifier": [f"{stage}-{found}" for stage, found in identities.items()],
        "description": "Identifiers are hashes of all that files are made from, code included.",
    }
    context = "https://w3id.org/ro/crate/1.1/context"
    return {"@context": context, "@graph": [about, root, software, run, *files]}


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
