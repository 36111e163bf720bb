"""Damage to finished files: found before a run takes any of them for a result.

Snakemake sees whether a file is there, not what is in it. So what is damaged is given another name
before Snakemake looks; what of it nothing else asks for is asked for by its absence.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from giantstep.pipeline.planning.plan import Plan
from giantstep.pipeline.runtime.checksums import DamagedFileError, aside, check_seal, differing

# What is drawn from a figure's data, and the folder of lists of its hashes, by rule.
DRAWN = {
    "figures": ("figures/{}.pdf", "figures/{}.svg", "figures/{}.png"),
    "scores": ("results/scores/{}.csv",),
}
CHECKSUMS = "results/checksums/{}/{}.sha256"


def damaged(root: Path, plan: Plan) -> Iterator[Path]:
    """Give the files of a plan that are there, and not as they were written."""
    for path in sealed_files(root, plan):
        try:
            check_seal(path)
        except FileNotFoundError:
            continue
        except DamagedFileError:
            yield path
    for rule, patterns in DRAWN.items():
        for figure in plan.figures:
            listing = root / CHECKSUMS.format(rule, figure)
            files = [Path(pattern.format(figure)) for pattern in patterns]
            if listing.is_file():
                yield from differing(files, listing, root)


def lost(root: Path, plan: Plan) -> list[str]:
    """Name the files of a plan that were set aside, and not yet made again; from the root."""
    return [
        str(path.relative_to(root))
        for path in sealed_files(root, plan)
        if aside(path).exists() and not path.exists()
    ]


def sealed_files(root: Path, plan: Plan) -> list[Path]:
    """List the files of data of a plan, each once."""
    names = {f"figures/{name}.nc": None for name in plan.figures}
    names |= {file: None for figure in plan.figures.values() for file in figure.files}
    return [root / "results" / name for name in names]
