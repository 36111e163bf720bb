"""What the command line accepts: only the flags of the command that is given are made."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from textwrap import fill
from typing import NoReturn

from giantstep import __version__
from giantstep.cli.commands import (
    OUTPUT,
    Command,
    add_arguments,
    commands,
    question_of,
)
from giantstep.cli.values import RANGES, protected
from giantstep.suggestions import did_you_mean


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments of a command line."""
    known = commands()
    given = next((word for word in argv if not word.startswith("-")), None)
    parser, own = make_parser(given)
    if given is not None and own is None:
        names = ", ".join(known)
        parser.error(f"there is no command {given!r}{did_you_mean(given, known)} ({names})")
    if own is not None:
        _check_flags(own, argv)
    return parser.parse_args([protected(argument) for argument in argv])


def make_parser(
    given: str | None,
) -> tuple[argparse.ArgumentParser, argparse.ArgumentParser | None]:
    """Make the parser of all commands, and of the arguments of the one that is given, if it is."""
    parser = _Parser(
        prog="giantstep",
        description="Networks with one hidden layer after large steps: theory and simulation.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"giantstep {__version__}")
    several = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    own = None
    for name, command in commands().items():
        made = several.add_parser(name, help=command.text, allow_abbrev=False)
        if name == given:
            own = made
            _fill(own, command)
    return parser, own


def _fill(parser: argparse.ArgumentParser, command: Command) -> None:
    """Give the parser of a command its help and its arguments."""
    parser.description = f"{command.text[0].upper()}{command.text[1:]}."
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    ranges = ""
    if command.question:
        ranges = f"{fill(RANGES, 79)}\n\n"
        _add_question(parser, command)
    else:
        add_arguments(parser, command.takes)
    parser.epilog = f"{ranges}example:\n  {parser.prog} {command.example}"


def _add_question(parser: argparse.ArgumentParser, command: Command) -> None:
    """Add the flags of a question: of its problem, its parameters, its limits and its output."""
    # Only here: all that knows of problems takes a while.
    from giantstep.cli.flags import add_flag
    from giantstep.cli.problem_flags import add_problem

    question = question_of(command)
    if not question.data:
        add_problem(parser, question.ignored)
    group = parser.add_argument_group("the question")
    for of in question.takes:
        if of.name not in command.fixed:
            add_flag(group, of)
    add_arguments(group, [*question.data, *command.takes])
    group = parser.add_argument_group("the output")
    # A map has its own --show.
    add_arguments(group, [one for one in OUTPUT if one != "shown" or "show" not in command.takes])


def _check_flags(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    """Refuse unknown flags, with those that may have been meant, before any other fault.

    No flag is short for a longer one: where a command has no --alpha, that would set --alpha0.
    """
    flags = [flag for action in parser._actions for flag in action.option_strings]
    given = (word.partition("=")[0] for word in argv if re.match("--[a-z]", word))
    unknown = [word for word in given if word not in flags]
    if refused := [f"there is no {word}{did_you_mean(word, flags)}" for word in unknown]:
        parser.error("; ".join(refused))


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one message, without the usage."""

    def error(self, message: str) -> NoReturn:
        message = re.sub(r"argument (--[\w-]+)(/-[\w-]+)*:", r"argument \1:", message)
        self.exit(2, f"{self.prog}: error: {message}\nSee {self.prog} --help\n")
