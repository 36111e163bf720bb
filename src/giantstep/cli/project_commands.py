"""Commands on a project: `giantstep init` is `run_init`, and so on, which may return a code."""

from __future__ import annotations

import argparse
import secrets
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from filelock import FileLock, Timeout

from giantstep.cli.output import contents
from giantstep.problems.sizes import SEED
from giantstep.validation import RefusalError, check_value
from giantstep.workflow.archive import read_archive, write_archive
from giantstep.workflow.config import figure_names, load_config
from giantstep.workflow.figure_plan import FigurePlan
from giantstep.workflow.missing import missing_jobs, summarise_jobs
from giantstep.workflow.new_project import create_project, foreign_drawings
from giantstep.workflow.open_figure import made_figures, open_figure
from giantstep.workflow.plan import ForeignPackageError, Plan, make_plan
from giantstep.workflow.prune import plans_of_all, remove, unreferenced
from giantstep.workflow.results import check_made_from
from giantstep.workflow.scores import score_summary
from giantstep.workflow.summaries import redraw, summary_path, write_summary
from giantstep.workflow.verify import (
    damaged_files,
    differences,
    drawn_otherwise,
    parts,
    sample,
)

# What a run holds (workflow/Snakefile).
_LOCK = ".snakemake/run.lock"


def run_init(arguments: argparse.Namespace) -> None:
    """Write a project, and say how to make its figure."""
    for path in create_project(arguments.folder, arguments.figure):
        print(arguments.folder / path)
    made = f"figures/{arguments.figure}.pdf"
    print(f"\ncd {arguments.folder} && snakemake --cores all     # makes {made}")


def run_open(arguments: argparse.Namespace) -> None:
    """Print what a figure's file holds: every variable, with its symbol and its equation."""
    print(*contents(open_figure(arguments.figure, arguments.project)), sep="\n")


def run_scores(arguments: argparse.Namespace) -> None:
    """Print, as a table in Markdown, how far theory and simulations of figures are apart."""
    if not (names := arguments.figure or made_figures(arguments.project)):
        raise RefusalError("no figure has been made: run `snakemake --cores all` in the project")
    scores = {name: score_summary(open_figure(name, arguments.project)) for name in names}
    table = pd.concat(scores, names=["figure"]).fillna("").reset_index("figure")
    for row in [table.columns, ["---"] * table.shape[1], *table.values.tolist()]:
        print("|", " | ".join(row), "|")


def run_redraw(arguments: argparse.Namespace) -> None:
    """Draw figures again from their summaries, or first make the summaries."""
    root = Path(arguments.project)
    if arguments.keep:
        for name in arguments.figure or made_figures(root):
            write_summary(open_figure(name, arguments.project), summary_path(root, name))
    for line in redraw(root, arguments.figure):
        print(line, flush=True)


def run_explain(arguments: argparse.Namespace) -> None:
    """Print what the workflow would run, why, and at what cost."""
    root = Path(arguments.project)
    plan = make_plan(root, load_config(root, arguments.configfile))
    print(*summarise_jobs(missing_jobs(plan, arguments.figure)), sep="\n")
    unlisted = [name for name in figure_names(root) if name not in plan.config["figures"]]
    if unlisted and not arguments.figure:
        print(f"not made, because the configuration does not list them: {', '.join(unlisted)}")


def run_verify(arguments: argparse.Namespace) -> int:
    """Compute a part of a figure again; of an archive, draw it again, too."""
    if not arguments.figure.endswith(".zip"):
        return _verify_project(arguments)
    archive = Path(arguments.figure)
    with TemporaryDirectory() as folder:
        arguments.figure, arguments.project = read_archive(archive, Path(folder)), folder
        print(f"{archive}: all files are what was packed")
        own = foreign_drawings(Path(folder))
        if own and not arguments.run_drawings:
            text = f"is drawn by code of its own, {own[0]}: read it, then give --run-drawings"
            raise RefusalError(f"{archive} {text}")
        try:
            return _verify_project(arguments)
        except ForeignPackageError:
            text = "was made by other code than is loaded: unpack it, and follow its README.md"
            raise RefusalError(f"{archive} {text}") from None


def _planned(arguments: argparse.Namespace) -> tuple[Plan, FigurePlan]:
    """Plan one figure of a project, be it listed or not."""
    root, name = Path(arguments.project), arguments.figure
    plan = make_plan(root, load_config(root, arguments.configfile) | {"figures": [name]})
    return plan, plan.figure(name)


def run_archive(arguments: argparse.Namespace) -> None:
    """Pack a figure that has been made from the present configuration."""
    path = arguments.output or Path(f"{arguments.figure}.zip")
    data = open_figure(arguments.figure, arguments.project)  # or says how it is made
    plan, figure = _planned(arguments)
    check_made_from(figure, data)
    if other := drawn_otherwise(figure, data, plan.root):
        raise RefusalError(_how_drawn_anew(other[0]))
    write_archive(path, figure.name, plan)
    print(f"wrote {path}: check it with `giantstep verify {path}`")


def _verify_project(arguments: argparse.Namespace) -> int:
    seed = secrets.randbelow(10**6) if arguments.seed is None else arguments.seed
    check_value("seed", seed, SEED)
    plan, figure = _planned(arguments)
    everything = parts(figure)
    chosen = sample(everything, arguments.sample, seed)
    damaged = list(damaged_files(plan.root))
    for line in damaged:
        print(line, file=sys.stderr)
    data = open_figure(figure.name, arguments.project)
    check_made_from(figure, data)
    of, drawn = (Counter(part.role for part in some) for some in (everything, chosen))
    counts = ", ".join(f"{drawn[role]} of {of[role]} {role}" for role in drawn)
    print(f"{figure.name}: recomputing {counts} (repeat with --seed {seed})", flush=True)
    differing = 0
    for part, texts in differences(data, chosen):
        print(part, file=sys.stderr, flush=True)
        for text in texts:
            print(f"{part}: {text}", flush=True)
        differing += bool(texts)
    print(f"{differing} of {len(chosen)} differ" if differing else "all are identical, bit for bit")
    other = drawn_otherwise(figure, data, plan.root)
    print("drawn again:", *(map(_how_drawn_anew, other) if other else ["the same bytes"]), sep="\n")
    return 1 if differing or damaged or other else 0


def _how_drawn_anew(path: str) -> str:
    return (
        f"{path} is damaged, or was drawn with other versions of libraries:"
        f" `snakemake --cores all --force {path}` draws it anew"
    )


def run_prune(arguments: argparse.Namespace) -> None:
    """Remove results that no config refers to, unless a run is at work."""
    root = Path(arguments.project)
    plans = plans_of_all(root, arguments.configfile)
    (root / _LOCK).parent.mkdir(exist_ok=True)
    try:
        with FileLock(root / _LOCK, timeout=0):
            _prune_results(root, plans, arguments.yes)
    except Timeout:
        raise OSError("a run is at work in this folder: wait for its end") from None


def _prune_results(root: Path, plans: list[FigurePlan], confirmed: bool) -> None:
    sizes = {path: path.lstat().st_size for path in unreferenced(root, plans)}
    for path, size in sizes.items():
        print(f"{size / 1e6:10.3f} MB  {path}")
    if not sizes:
        print("nothing to remove: a config refers to every result")
        return
    print(f"{sum(sizes.values()) / 1e6:10.3f} MB  in {len(sizes)} files that no config refers to")
    if not confirmed:
        print("Remove them? [y/N]", end=" ", flush=True)
        confirmed = sys.stdin.readline().strip().lower() in ("y", "yes")
    if confirmed:
        remove(sizes)
    print("removed" if confirmed else "nothing was removed")
