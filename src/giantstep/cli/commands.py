"""The commands: a question each, those of `questions.toml`, and those of `commands.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from giantstep.cli.values import named_values, reader
from giantstep.questions.table import TABLE
from giantstep.validation import read_whole_number

if TYPE_CHECKING:
    from giantstep.questions.declaration import Question

# Arguments of every question.
OUTPUT = ("format", "output", "columns", "shown", "plot")
# What reads a value, by its metavar.
_READERS: dict[str, Any] = dict.fromkeys(("FILE", "file", "folder", "X", "Phi", "y"), Path)
_READERS |= {"COUNT": reader(read_whole_number), "NAME=RANGE": named_values}
_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


class Command(NamedTuple):
    """One command.

    Attributes
    ----------
    text, example : str
        What it does, and what may follow its name: for the help.
    takes : sequence of str
        Its own arguments.
    question : str
        Of which it takes the parameters as flags; empty for commands on answers and projects.
    fixed : sequence of str
        Parameters of the question that are no flags, since the command sets them.
    """

    text: str
    example: str = ""
    takes: Sequence[str] = ()
    question: str = ""
    fixed: Sequence[str] = ()


@cache
def commands() -> dict[str, Command]:
    """List all commands by name; no question is imported."""
    further = _TABLE["further"]
    questions = {
        (name := of["command"]): Command(of["text"], of["example"], further.get(name, ()), question)
        for question, of in TABLE.items()
        if "command" in of
    }
    return questions | {name: Command(**of) for name, of in _TABLE["commands"].items()}


def add_arguments(parser: Any, names: Sequence[str]) -> None:
    """Add arguments of `commands.toml` to a parser or to one of its groups."""
    for name in names:
        options = dict(_TABLE["arguments"][name])
        if read := _READERS.get(options.get("metavar", "")):
            options["type"] = read
        parser.add_argument(*options.pop("names"), **options)


def question_of(command: Command) -> Question:
    """Import the question of a command, and return what it declares."""
    from giantstep.questions.task import question_named  # only here: it takes a while

    return question_named(command.question).declaration
