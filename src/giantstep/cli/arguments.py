"""What the command line accepts.

To add a flag of one command: a `Flag` in the function that adds its command's. To add a command: an
entry of `COMMANDS`, and its answer in `answers`.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from textwrap import fill
from typing import Any, Literal, NamedTuple, NoReturn

from giantstep import __version__
from giantstep.cli.examples import EXAMPLES
from giantstep.cli.flags import Flag, flags_of
from giantstep.cli.limits import SIMULATION_HOURS, THEORY_HOURS
from giantstep.cli.output import FORMATS, SUFFIXES
from giantstep.cli.problem_flags import add_problem
from giantstep.cli.suggestions import did_you_mean
from giantstep.cli.values import RANGES, protected
from giantstep.problems.bulk_kind import BULKS, ISOTROPIC
from giantstep.problems.grid import Grid
from giantstep.problems.sizes import Sizes
from giantstep.questions.choices import GAINS, UNKNOWNS

OPTIMAL = "optimal"
# Of drawings.
PICTURES = (".pdf", ".svg", ".png")

_AddFlags = Callable[[argparse.ArgumentParser], None]
_GRID, _SIZES = flags_of(Grid), flags_of(Sizes)
for _name, _default in (("alpha", 1.0), ("ridge", 0.1)):
    _GRID[_name] = replace(_GRID[_name], default=(_default,))
_RIDGE_OR_OPTIMAL = replace(
    _GRID["ridge"],
    hint=tuple[float | Literal["optimal"], ...],
    text=_GRID["ridge"].text + f"; or {OPTIMAL!r}, the best at each alpha",
)


class Command(NamedTuple):
    """One command.

    Attributes
    ----------
    text : str
        What it does, for the help.
    add_flags : callable
        Adds its own flags to its parser.
    of_problem : bool
        Whether it is a question about a problem, whose flags it also has.
    """

    text: str
    add_flags: _AddFlags
    of_problem: bool = True


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments of a command line."""
    parser, commands = make_parser()
    given = next((word for word in argv if not word.startswith("-")), None)
    if given is not None and given not in commands:
        known = ", ".join(commands)
        parser.error(f"there is no command {given!r}{did_you_mean(given, commands)} ({known})")
    if given is not None:
        _check_flags(commands[given], argv)
    return parser.parse_args([protected(argument) for argument in argv])


def _check_flags(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    """Refuse unknown flags, with those that may have been meant, before any other fault."""
    flags = [flag for action in parser._actions for flag in action.option_strings]
    given = (word.partition("=")[0] for word in argv if re.match("--[a-z]", word))
    unknown = [word for word in given if not any(flag.startswith(word) for flag in flags)]
    if unknown:
        parser.error(
            "; ".join(f"there is no {word}{did_you_mean(word, flags)}" for word in unknown)
        )


def make_parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """Make the parser of all commands, and the parsers of each."""
    parser = _Parser(
        prog="giantstep",
        description="Two-layer networks after one gradient step: theory and simulation.",
    )
    parser.add_argument("--version", action="version", version=f"giantstep {__version__}")
    several = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    parsers: dict[str, argparse.ArgumentParser] = {}
    for name, command in COMMANDS.items():
        description = command.text[0].upper() + command.text[1:] + "."
        epilog = f"example:\n  giantstep {name} {EXAMPLES[name]}"
        if command.of_problem:
            epilog = f"{fill(RANGES, 79)}\n\n{epilog}"
        own = several.add_parser(
            name,
            help=command.text,
            description=description,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if command.of_problem:
            add_problem(own)
        command.add_flags(own)
        if command.of_problem:
            _add_output(own)
        parsers[name] = own
    return parser, parsers


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one message, without the usage."""

    def error(self, message: str) -> NoReturn:
        message = re.sub(r"argument (--[\w-]+)(/-[\w-]+)*:", r"argument \1:", message)
        if found := re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message):
            message += did_you_mean(found[1], re.findall(r"[\w-]+", found[2]))
        self.exit(2, f"{self.prog}: error: {message}\nSee {self.prog} --help\n")


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the output")
    group.add_argument(
        "--format", choices=FORMATS, default="csv", help="what is printed (default csv)"
    )
    group.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help=f"write the answer to a file instead; its suffix says how: {', '.join(SUFFIXES)}",
    )
    _add_plot(group)


def _add_plot(parser: Any) -> None:
    with suppress(argparse.ArgumentError):  # a map has its own
        parser.add_argument("--show", metavar="NAME", help="the variable to draw")
    parser.add_argument(
        "--plot",
        type=Path,
        nargs="?",
        const=True,
        metavar="FILE",
        help="draw the answer, into FILE (.pdf, .svg or .png; default the command's name, .png)",
    )


def _add_theory(parser: argparse.ArgumentParser) -> None:
    _add_grid(parser, _GRID | {"ridge": _RIDGE_OR_OPTIMAL})
    _add_approximation(parser)
    Flag("certificate", bool, False, "add columns on the accuracy of each point").add_to(parser)
    _max_hours(THEORY_HOURS).add_to(parser)


def _add_sweep(parser: argparse.ArgumentParser) -> None:
    _add_theory(parser)
    parser.add_argument(
        "--gains",
        nargs="+",
        choices=GAINS,
        default=[],
        help="what to add: the share of the test error of the best linear predictor, or of the"
        " network without a step, that is saved; the relative deviation of the isotropic bulk",
    )


def _add_map(parser: argparse.ArgumentParser) -> None:
    _add_grid(parser, _GRID | {"ridge": _RIDGE_OR_OPTIMAL})
    _add_approximation(parser)
    group = parser.add_argument_group("the map")
    for axis, example in (("x", "alpha0=0.1:10:80log"), ("y", "learning_rate=0.1:10:80log")):
        group.add_argument(
            f"--{axis}", required=True, metavar="NAME=RANGE", help=f"such as {example}"
        )
    group.add_argument(
        "--show",
        default=GAINS[0],
        metavar="NAME",
        help=f"test_error, another variable of `giantstep theory`, or {', '.join(GAINS)} (default"
        f" {GAINS[0]})",
    )
    _max_hours(THEORY_HOURS).add_to(parser)


def _add_optimise(parser: argparse.ArgumentParser) -> None:
    _add_grid(parser, _GRID | {"ridge": _RIDGE_OR_OPTIMAL})
    _add_approximation(parser)
    parser.add_argument(
        "--over",
        nargs="+",
        choices=UNKNOWNS,
        default=UNKNOWNS[:1],
        help="what is optimised, alone or jointly (default learning_rate; --ridge optimal adds"
        " ridge)",
    )
    _max_hours(THEORY_HOURS).add_to(parser)


def _add_learned_function(parser: argparse.ArgumentParser) -> None:
    _add_grid(parser, _GRID)
    _add_approximation(parser)
    text = "projections of the input on the target's direction (default 121 from -3 to 3)"
    Flag("s", tuple[float, ...], None, text).add_to(parser, required=False)
    _max_hours(THEORY_HOURS).add_to(parser)


def _add_bounds(parser: argparse.ArgumentParser) -> None:
    _max_hours(THEORY_HOURS).add_to(parser)


def _add_features(parser: argparse.ArgumentParser) -> None:
    text = "dimension of the inputs, which smaller steps need, >= 2 (default the limit)"
    Flag("dimension", float, math.inf, text).add_to(parser, several=True)
    _max_hours(THEORY_HOURS).add_to(parser)


def _add_spectrum(parser: argparse.ArgumentParser) -> None:
    _GRID["alpha"].add_to(parser)
    _add_approximation(parser)
    Flag("points", int, 200, "number of eigenvalues to print the density at").add_to(parser)
    Flag("x", tuple[float, ...], None, "these eigenvalues instead, each > 0").add_to(
        parser, required=False
    )
    _max_hours(THEORY_HOURS).add_to(parser)


def _add_simulation(parser: argparse.ArgumentParser) -> None:
    _add_grid(parser, _GRID)
    _add_networks(parser)


def _add_comparison(parser: argparse.ArgumentParser) -> None:
    _add_grid(parser, _GRID)
    _add_bulk(parser)
    _add_networks(parser)


def _add_networks(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("sizes")
    replace(_SIZES["dimension"], default=500).add_to(group, several=True)
    for flag in (
        *(flag for name, flag in _SIZES.items() if name != "dimension"),
        Flag("networks", int, 8, "independent networks, >= 1"),
        Flag("threads", int, 1, "threads, >= 1; results do not depend on them"),
        Flag("seed", int, 0, "seed of all random numbers, >= 0"),
        _max_hours(SIMULATION_HOURS),
    ):
        flag.add_to(group)
    text = "refuse what would hold more GiB of memory than this (default that of this machine)"
    Flag("max_memory", float, None, text).add_to(group, required=False)


def _add_approximation(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say what the theory approximates: the bulk, and the dimension."""
    _add_bulk(parser)
    text = "dimension of the inputs, >= 2; the default is the limit of the paper"
    Flag("dimension", float, math.inf, text).add_to(parser, several=True)


def _add_bulk(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--bulk",
        choices=BULKS,
        nargs="+",
        default=[ISOTROPIC],
        help="bulk of the first layer: isotropic as in the paper, or as trained by the first batch"
        f" (default {ISOTROPIC})",
    )


def _max_hours(default: float) -> Flag:
    return Flag("max_hours", float, default, "refuse what would take more core-hours than this")


def _add_grid(parser: argparse.ArgumentParser, flags: dict[str, Flag]) -> None:
    group = parser.add_argument_group("the grid")
    for flag in flags.values():
        flag.add_to(group, several=True)


def _add_saved(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="an answer that -o file.nc has written")
    _add_plot(parser)


def _add_explore(parser: argparse.ArgumentParser) -> None:
    Flag("port", int, 0, "port on 127.0.0.1; 0 is any that is free").add_to(parser)
    Flag("no_browser", bool, False, "print the address, and open no browser").add_to(parser)
    _add_project(parser)


def _add_init(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="a new folder, or an empty one")


def _add_open(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("figure", help="name of a figure, such as fig2")
    _add_project(parser)


def _add_scores(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "figure", nargs="*", help="names of figures, such as fig2 (default all that were made)"
    )
    _add_project(parser)


def _add_explain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("figure", nargs="*", help="names of figures, such as fig2 (default all)")
    _add_project(parser)
    _add_overlays(parser)


def _add_verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("figure", help="name of a figure, such as fig2; or an archive, fig2.zip")
    parser.add_argument(
        "--sample",
        default="5%",
        metavar="SIZE",
        help="how many theory points and networks: a share (5%%) or a number (3) (default 5%%)",
    )
    Flag("seed", int, None, "seed that draws the sample (default random)").add_to(parser, False)
    _add_project(parser)
    _add_overlays(parser)


def _add_archive(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("figure", help="name of a figure that has been made, such as fig2")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="the archive to write (default the figure's name, .zip)",
    )
    _add_project(parser)
    _add_overlays(parser)


def _add_prune(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="remove them without asking")
    _add_project(parser)
    _add_overlays(parser, "; results that one refers to are kept")


def _add_project(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--project",
        default=".",
        metavar="FOLDER",
        help="folder of the project (default the current one)",
    )


def _add_overlays(parser: argparse.ArgumentParser, further: str = "") -> None:
    parser.add_argument(
        "--configfile",
        type=Path,
        nargs="+",
        default=[],
        metavar="OVERLAY",
        help="overlays of config/config.yaml, as for snakemake" + further,
    )


COMMANDS = {
    "theory": Command("errors and overlaps on a grid, by the theory", _add_theory),
    "simulate": Command("errors of trained networks: means and standard errors", _add_simulation),
    "compare": Command("theory, networks and z-scores of the same points", _add_comparison),
    "sweep": Command("errors over all combinations of any parameters", _add_sweep),
    "map": Command("a quantity over two parameters, as level lines", _add_map),
    "optimise": Command("the parameters with the least test error", _add_optimise),
    "spectrum": Command("density of the eigenvalues of Phi^T Phi", _add_spectrum),
    "bounds": Command("bounds on the error at the best ridge", _add_bounds),
    "srf": Command("the spiked random features that a protocol is equivalent to", _add_features),
    "learned-function": Command(
        "mean output of the network along the target", _add_learned_function
    ),
    "plot": Command("draw an answer that was saved", _add_saved, of_problem=False),
    "explore": Command(
        "open a page in the browser whose curves follow sliders", _add_explore, of_problem=False
    ),
    "init": Command(
        "write a project with an example figure, for the workflow", _add_init, of_problem=False
    ),
    "open": Command("list what a figure's data hold", _add_open, of_problem=False),
    "scores": Command(
        "print z-scores of figures' simulations against their theories",
        _add_scores,
        of_problem=False,
    ),
    "explain": Command(
        "show what the workflow would run, why, and at what cost", _add_explain, of_problem=False
    ),
    "verify": Command(
        "recompute a random part of a figure's data and compare bit for bit",
        _add_verify,
        of_problem=False,
    ),
    "archive": Command(
        "pack a figure with its data, config and code into one file",
        _add_archive,
        of_problem=False,
    ),
    "prune": Command(
        "list results that no config refers to, and remove them if confirmed",
        _add_prune,
        of_problem=False,
    ),
}
