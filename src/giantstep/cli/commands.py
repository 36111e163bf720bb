"""The commands: a question each, and those on saved answers and on projects.

A module of `questions` that declares a question is a command, without a line here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import giantstep.questions
from giantstep.cli.values import named_values, reader
from giantstep.validation import read_whole_number

if TYPE_CHECKING:
    from giantstep.questions.declaration import Question

# Of drawings.
PICTURES = (".pdf", ".svg", ".png")
# Of commands that have no place in the list.
_LAST = 99
# What makes a question of a function.
_DECLARED = ("question", "declare")


class Command(NamedTuple):
    """One command.

    Attributes
    ----------
    text, example : str
        What it does, and what may follow its name: for the help.
    arguments : sequence of (tuple of str, dict)
        Names and options of its own arguments, as argparse takes them.
    question : str
        Of which it takes the parameters as flags; empty for commands on answers and projects.
    fixed : tuple of str
        Parameters of the question that are no flags, since the command sets them.
    """

    text: str
    example: str
    arguments: Any = ()
    question: str = ""
    fixed: tuple[str, ...] = ()


@cache
def commands() -> dict[str, Command]:
    """List all commands by name; no question is imported."""
    ordered = sorted(_questions(), key=lambda one: (one["place"], one["command"]))
    questions = {
        one["command"]: Command(one["text"], "", _OWN.get(one["command"], ()), one["name"])
        for one in ordered
    }
    return questions | _OTHERS


def question_of(command: Command) -> Question:
    """Import the question of a command, and return what it declares."""
    from giantstep.questions.declaration import declaration_of  # only here: it takes a while
    from giantstep.questions.task import question_named

    return declaration_of(question_named(command.question))


def _questions() -> Iterator[dict[str, Any]]:
    """Read the literals of all declarations of questions, and the names of their functions."""
    for path in Path(giantstep.questions.__path__[0]).glob("*.py"):
        source = path.read_text("utf-8")
        if not any(f"@{name}(" in source for name in _DECLARED):  # to parse it would take a while
            continue
        for function in ast.parse(source).body:
            for call in getattr(function, "decorator_list", ()):
                if isinstance(call, ast.Call) and getattr(call.func, "id", "") in _DECLARED:
                    yield {"place": _LAST, "name": getattr(function, "name", ""), **_literals(call)}


def _literals(call: ast.Call) -> dict[str, Any]:
    stated = {str(one.arg): one.value for one in call.keywords}
    return {name: one.value for name, one in stated.items() if isinstance(one, ast.Constant)}


def _argument(*names: str, **options: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    return names, options


_FILE: dict[str, Any] = {"type": Path, "metavar": "FILE"}
_COUNT: dict[str, Any] = {"type": reader(read_whole_number), "metavar": "COUNT"}
_CERTIFICATE = _argument(
    "--certificate", action="store_true", help="add the accuracy of each point"
)
_INPUTS = _argument("X", type=Path, help="inputs, a row for each sample, in a file of numpy.save")
_FEATURES = _argument(
    "Phi", type=Path, help="features, a row for each sample, in a file of numpy.save"
)
_LABELS = _argument("y", type=Path, help="their labels, likewise")
# Arguments of a command besides the parameters of its question.
_OWN = {
    "theory": [_CERTIFICATE],
    "sweep": [_CERTIFICATE],
    "data": [_INPUTS, _LABELS],
    "features": [_FEATURES, _LABELS],
}
_AXIS: dict[str, Any] = {"type": named_values, "required": True, "metavar": "NAME=RANGE"}
_AXIS |= {"help": "such as alpha0=0.1:10:80log"}
_SHOWN = (
    "a gain, as of `giantstep sweep`, or a variable of its answer, such as test_error (default"
    " gain_over_linear)"
)
_MAP = [
    _argument("--x", **_AXIS),
    _argument("--y", **_AXIS),
    _argument("--show", default="gain_over_linear", metavar="NAME", help=_SHOWN),
]
_PLOT = "draw the answer, into FILE (.pdf, .svg or .png; default the command's name, .png)"
DRAWING = [
    _argument("--show", metavar="NAME", help="the variable to draw"),
    _argument("--plot", nargs="?", const=True, **_FILE, help=_PLOT),
]
_ANSWER = _argument("file", type=Path, help="an answer that -o file.nc has written")
_PORT = _argument("--port", default=0, **_COUNT, help="port on 127.0.0.1 (default any free one)")
_NO_BROWSER = _argument("--no-browser", action="store_true", help="print the address alone")
_FOLDER = _argument("folder", type=Path, help="a new folder, or an empty one")
_FROM_HELP = "a figure of giantstep to begin with, such as fig2 (default a smaller example)"
_FROM: dict[str, Any] = {"dest": "figure", "default": "example", "metavar": "FIGURE"}
_FIGURE = _argument("figure", help="name of a figure, such as fig2")
_FIGURES = _argument("figure", nargs="*", help="names of figures, such as fig2 (default all)")
_VERIFIED = _argument("figure", help="name of a figure, such as fig2; or an archive, fig2.zip")
_SHARE = "how many tasks of the theory and networks: a share (5%%) or a number (3) (default 5%%)"
_SAMPLE = _argument("--sample", default="5%", metavar="SIZE", help=_SHARE)
_SEED = _argument("--seed", **_COUNT, help="seed that draws the sample (default random)")
_RUN = "run the code by which an archive's figure is drawn, if it is not giantstep's"
_RUN_DRAWINGS = _argument("--run-drawings", action="store_true", help=_RUN)
_ARCHIVE = _argument("-o", "--output", **_FILE, help="the archive (default the name, .zip)")
_YES = _argument("--yes", action="store_true", help="remove them without asking")
_PROJECT = _argument("--project", default=".", metavar="FOLDER", help="the project (default .)")
_OVERLAYS = _argument("--configfile", nargs="+", default=[], **_FILE, help="overlays of the config")
_OTHERS = {
    "map": Command(
        "a quantity over two parameters, as level lines",
        "--activation tanh --target sin --beta 1 \\\n"
        "      --x alpha0=0.1:30:10log --y learning_rate=0.1:10:10log --plot",
        _MAP,
        "sweep",
        ("gains", "classification_error", "derivatives", "zip"),
    ),
    "plot": Command(
        "draw an answer that was saved",
        "sweep.nc --show gain_over_linear --plot gain.pdf",
        [_ANSWER, *DRAWING],
    ),
    "check": Command("print the numbers in the authors' notebooks beside ours", ""),
    "explore": Command(
        "open a page in the browser whose curves follow sliders",
        "--no-browser",
        [_PORT, _NO_BROWSER, _PROJECT],
    ),
    "init": Command(
        "write a project with an example figure, for the workflow",
        "my-project --from fig2",
        [_FOLDER, _argument("--from", **_FROM, help=_FROM_HELP)],
    ),
    "open": Command("list what a figure's data hold", "fig2", [_FIGURE, _PROJECT]),
    "scores": Command(
        "print z-scores of figures' simulations against their theories",
        "fig2 fig3",
        [_FIGURES, _PROJECT],
    ),
    "explain": Command(
        "show what the workflow would run, why, and at what cost",
        "fig2",
        [_FIGURES, _PROJECT, _OVERLAYS],
    ),
    "verify": Command(
        "recompute a random part of a figure's data and compare bit for bit",
        "fig2 --sample 3",
        [_VERIFIED, _SAMPLE, _SEED, _RUN_DRAWINGS, _PROJECT, _OVERLAYS],
    ),
    "archive": Command(
        "pack a figure with its data, config and code into one file",
        "fig2 -o fig2.zip",
        [_FIGURE, _ARCHIVE, _PROJECT, _OVERLAYS],
    ),
    "prune": Command(
        "list results that no config refers to, and remove them if confirmed",
        "--project my-project",
        [_YES, _PROJECT, _OVERLAYS],
    ),
}
