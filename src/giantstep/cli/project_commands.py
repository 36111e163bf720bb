"""Commands on a project: `giantstep init`, `open`, `scores`, `explain`, `verify`, `prune`."""

from __future__ import annotations

import argparse
import secrets
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import xarray as xr

from giantstep.cli.output import contents
from giantstep.figures import style
from giantstep.figures.answers import draw_answer
from giantstep.pipeline.planning.config import InvalidConfigError, load_config
from giantstep.pipeline.planning.figure_plan import FigurePlan
from giantstep.pipeline.planning.identities import merged_name
from giantstep.pipeline.planning.layout import STAGES
from giantstep.pipeline.planning.own_package import ForeignPackageError
from giantstep.pipeline.planning.plan import Plan, make_plan
from giantstep.pipeline.planning.traceable import UntraceableCodeError
from giantstep.pipeline.runtime.checksums import DamagedFileError, remedied
from giantstep.pipeline.runtime.drawing_code import load_drawing
from giantstep.pipeline.runtime.run_lock import RECORDS, AnotherRunError, acquire_run_lock
from giantstep.pipeline.stages.scores import score_summary
from giantstep.pipeline.storage.open_figure import open_figure
from giantstep.pipeline.upkeep.archive import ArchiveError, read_archive, write_archive
from giantstep.pipeline.upkeep.explain import NoPlanError, explain, library_notes, summarise_jobs
from giantstep.pipeline.upkeep.integrity import damaged_files
from giantstep.pipeline.upkeep.new_project import create_project
from giantstep.pipeline.upkeep.prune import plans_of_all, remove, unreferenced
from giantstep.pipeline.upkeep.verify import (
    Part,
    VerificationError,
    check_made_from,
    differences,
    parts,
    sample,
)
from giantstep.problems.sizes import SEED
from giantstep.validation import Fault, InvalidParametersError


def run(arguments: argparse.Namespace) -> int:
    """Run one of the commands, and return the exit code.

    Returns
    -------
    int
        0; 1 if `verify` found a difference or a damaged file; 2 after an error; 130 if interrupted.
    """
    try:
        with remedied():
            return _COMMANDS[arguments.command](arguments)
    except BrokenPipeError:  # nobody reads on: `main` ends the command
        raise
    except (
        ForeignPackageError,
        InvalidConfigError,
        InvalidParametersError,
        NoPlanError,
        VerificationError,
        ArchiveError,
        DamagedFileError,
        AnotherRunError,
        UntraceableCodeError,
        OSError,
    ) as error:
        print(f"giantstep {arguments.command}: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _init(arguments: argparse.Namespace) -> int:
    for path in create_project(arguments.folder):
        print(arguments.folder / path)
    print(f"\ncd {arguments.folder} && snakemake --cores all     # makes figures/example.pdf")
    return 0


def _open(arguments: argparse.Namespace) -> int:
    """Print what a figure's file holds: every variable, with its symbol and its equation."""
    for line in contents(open_figure(arguments.figure, arguments.project)):
        print(line)
    return 0


def _plot(arguments: argparse.Namespace) -> int:
    """Draw an answer that was saved."""
    if not arguments.file.is_file():
        raise FileNotFoundError(f"there is no {arguments.file}")
    path = Path(f"{arguments.file.stem}.png") if arguments.plot in (None, True) else arguments.plot
    with xr.open_dataset(arguments.file) as data:
        draw_answer(data.load(), path, arguments.show)
    print(f"drawn in {path}", file=sys.stderr)
    return 0


def _scores(arguments: argparse.Namespace) -> int:
    """Print, as a table in Markdown, how far theory and simulations of figures are apart."""
    stage = STAGES["merge"]
    made = sorted(path.stem for path in (Path(arguments.project) / stage.folder).glob("*.nc"))
    header = True
    for name in arguments.figure or made:
        summary = score_summary(open_figure(name, arguments.project))
        summary.insert(0, "figure", name)
        rows = summary.values.tolist()
        if header and rows:
            rows = [summary.columns, ["---"] * summary.shape[1], *rows]
            header = False
        for row in rows:
            print("|", " | ".join(row), "|")
    return 0


def _explain(arguments: argparse.Namespace) -> int:
    jobs = explain(Path(arguments.project), arguments.figure, arguments.configfile)
    notes = library_notes(Path(arguments.project), arguments.figure)
    for line in (*summarise_jobs(jobs), *notes):
        print(line)
    return 0


def _verify(arguments: argparse.Namespace) -> int:
    """Compute a part of a figure again; of an archive, check the rest, too."""
    if not arguments.figure.endswith(".zip"):
        return _verify_project(arguments)
    with TemporaryDirectory() as folder:
        archive = Path(arguments.figure)
        arguments.figure, arguments.project = read_archive(archive, Path(folder)), folder
        print(f"{archive}: all files are what was packed")
        try:
            planned = _planned(arguments)
        except ForeignPackageError:
            text = "was made by other code than is loaded: unpack it, and follow its README.md"
            raise ArchiveError(f"{archive} {text}") from None
        alike = _redrawn_alike(*planned, Path(folder))
        return _verify_project(arguments) or (0 if alike else 1)


def _redrawn_alike(figure: FigurePlan, plan: Plan, project: Path) -> bool:
    """Draw a figure again, and say whether all its drawings come out as they are."""
    source, paths = merged_name(plan.root, figure), STAGES["figures"].paths(figure.name)
    data, draw, alike = open_figure(figure.name, project), load_drawing(figure.drawing), True
    again = {Path(path): project / f"again{Path(path).suffix}" for path in paths}
    origin = figure.provenance(source)
    style.draw_and_save(lambda: draw(data, figure.config), again.values(), origin)
    for path, redrawn in again.items():
        same = redrawn.read_bytes() == (project / path).read_bytes()
        print(f"{path}: drawn again, {'the same bytes' if same else 'other bytes'}")
        alike &= same
    return alike


def _planned(arguments: argparse.Namespace) -> tuple[FigurePlan, Plan]:
    """Plan one figure of a project."""
    root, name = Path(arguments.project), arguments.figure
    config = load_config(root, arguments.configfile)
    asked: dict[str, Any] = {"figures": [name]}
    plan = make_plan(root, config | asked if isinstance(config, dict) else config)
    return plan.figures[name], plan


def _archive(arguments: argparse.Namespace) -> int:
    root = Path(arguments.project)
    path = arguments.output or Path(f"{arguments.figure}.zip")
    open_figure(arguments.figure, root)  # says what to do if it has not been made
    figure, plan = _planned(arguments)
    check_made_from(figure, plan, root)
    config = load_config(root, arguments.configfile)
    write_archive(path, figure.name, plan, config, root)
    print(f"{path}: giantstep verify {path} checks it, and so does its README.md")
    return 0


def _verify_project(arguments: argparse.Namespace) -> int:
    seed = secrets.randbelow(10**6) if arguments.seed is None else arguments.seed
    if seed not in SEED:
        raise VerificationError(f"--{Fault('seed', seed, str(SEED))}")
    root, name = Path(arguments.project), arguments.figure
    figure, plan = _planned(arguments)
    data = open_figure(name, root)
    check_made_from(figure, plan, root)
    damaged = _name_damaged(root, [plan])
    everything = parts(figure, plan)
    chosen = sample(everything, arguments.sample, seed)
    of, drawn = (Counter(part.stage for part in some) for some in (everything, chosen))
    counts = ", ".join(f"{drawn[stage]} of {of[stage]} {stage}" for stage in drawn)
    print(f"{name}: recomputing {counts} (repeat with --seed {seed})", flush=True)
    found = []
    for difference in differences(plan, data, chosen, _tell):
        print(difference, flush=True)
        found.append(difference)
    if found:
        print(f"{len({difference.part for difference in found})} of {len(chosen)} differ")
        return 1
    print("all are identical, bit for bit")
    return 1 if damaged else 0


def _name_damaged(root: Path, plans: Iterable[Plan]) -> bool:
    """Name the damaged and exchanged files of plans, as a run would; and say if there are any."""
    found = {path: error for plan in plans for path, error in damaged_files(root, plan)}
    for error in found.values():
        print(f"{error}: the next run sets it aside, and makes it again", file=sys.stderr)
    return bool(found)


def _tell(part: Part) -> None:
    print(part, file=sys.stderr, flush=True)


def _prune(arguments: argparse.Namespace) -> int:
    root = Path(arguments.project)
    plans = plans_of_all(root, arguments.configfile)
    _name_damaged(root, plans)
    left = unreferenced(root, plans)
    sizes = {path: path.lstat().st_size for path in left}
    for path, size in sizes.items():
        print(f"{size / 1e6:10.3f} MB  {path}")
    if not left:
        print("nothing to remove: a config refers to every result")
        return 0
    print(f"{sum(sizes.values()) / 1e6:10.3f} MB  in {len(left)} files that no config refers to")
    if not (arguments.yes or _confirmed()):
        print("nothing was removed")
        return 0
    acquire_run_lock(root / RECORDS, lambda text: print(text, file=sys.stderr))
    remove(left, root / "results")
    print("removed")
    return 0


def _confirmed() -> bool:
    try:
        return input("Remove them? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


_COMMANDS = {
    "init": _init,
    "open": _open,
    "plot": _plot,
    "scores": _scores,
    "archive": _archive,
    "explain": _explain,
    "verify": _verify,
    "prune": _prune,
}
