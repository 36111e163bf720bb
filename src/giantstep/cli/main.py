"""The command `giantstep`: quick questions to theory and simulation, and a project's results.

Start with `main`. The commands are in `commands`, the parser in `parser`, what answers questions
in `asking`, the writing in `output`, and commands on a project's results in `project_commands`.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import os
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from giantstep.cli.commands import commands
from giantstep.cli.parser import parse
from giantstep.extras import MissingExtraError, require
from giantstep.validation import (
    Fault,
    Interval,
    InvalidParametersError,
    RefusalError,
    check_value,
)

if TYPE_CHECKING:
    import xarray as xr

# The exit code of what ends because its reader has closed the pipe, as `head` does: 128 + SIGPIPE.
UNREAD = 141
# What files may end in.
_SUFFIXES = {"output": (".nc", ".csv", ".json", ".tex"), "plot": (".pdf", ".svg", ".png")}
_PORT = Interval(0, 65535, whole=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of this process.

    Returns
    -------
    int
        The exit code: 0, 1 if `verify` finds a difference, 2 for an error, 130 if interrupted,
        141 if what reads the output closes it.
    """
    if argv is None:
        # To search all that was imported for garbage at the end would take a fifth of the time.
        atexit.register(gc.freeze)
    with warnings.catch_warnings():
        warnings.showwarning = lambda text, *_: print(text, file=sys.stderr)
        return _execute(parse(sys.argv[1:] if argv is None else argv))


def _execute(arguments: argparse.Namespace) -> int:
    """Run a command, and return the exit code."""
    try:
        code = _command(arguments)(arguments) or 0
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Python flushes once more as it ends, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNREAD
    except KeyboardInterrupt:
        return 130
    except InvalidParametersError as error:
        message = "; ".join(map(_sentence, error.faults))
    except MemoryError:
        message = "not enough memory: use a smaller dimension, or fewer points"
    except (argparse.ArgumentError, MissingExtraError, OSError, RefusalError) as error:
        message = re.sub(r"^\[Errno \d+\] ", "", str(error))
        message = re.sub(r"max_(hours|memory)=", r"--max-\1 ", message)
    print(f"giantstep {arguments.command}: error: {message}", file=sys.stderr)
    return 2


def _command(arguments: argparse.Namespace) -> Callable[[argparse.Namespace], int | None]:
    """Return what runs the command."""
    if commands()[arguments.command].question:
        return _answer
    if arguments.command in _WITHOUT_WORKFLOW:
        return _WITHOUT_WORKFLOW[arguments.command]
    require("pydantic")  # so that the advice names the extra that has all they need
    from giantstep.cli import project_commands  # only here: it takes a while to import

    return getattr(project_commands, f"run_{arguments.command}")


def _answer(arguments: argparse.Namespace) -> None:
    """Answer a question."""
    _check_files(arguments)
    from giantstep.cli.asking import answer  # likewise

    _deliver(answer(arguments), arguments)


def _check_files(arguments: argparse.Namespace) -> None:
    """Refuse files of unknown kinds before anything is computed."""
    if arguments.plot:
        require("matplotlib")
    for flag, allowed in _SUFFIXES.items():
        path = getattr(arguments, flag)
        if isinstance(path, Path) and path.suffix not in allowed:
            text = f"--{flag} {path}: must end in {', '.join(allowed)}"
            raise argparse.ArgumentError(None, text)


def _deliver(found: xr.Dataset, arguments: argparse.Namespace) -> None:
    """Print an answer or write it to a file, with its remarks on standard error; draw it."""
    for remark in found.attrs.get("remarks", "").splitlines():
        print(remark, file=sys.stderr)
    if arguments.plot:
        _draw(found, arguments, arguments.command)
    from giantstep.cli.output import FORMATS, chosen, write

    if arguments.columns:
        found = chosen(found, arguments.columns)
    if arguments.output:
        write(found, arguments.output)
    elif not arguments.plot:
        print(FORMATS[arguments.format](found), end="")


def _draw(found: xr.Dataset, arguments: argparse.Namespace, name: str) -> None:
    """Draw an answer into the file that was asked for, or into one of a name."""
    from giantstep.figures.answers import draw_answer

    path = arguments.plot if isinstance(arguments.plot, Path) else Path(f"{name}.png")
    draw_answer(found, path, getattr(arguments, "show", None))
    print(f"drawn in {path}", file=sys.stderr)


def _sentence(fault: Fault) -> str:
    """Write a fault of a flag, with the name that may have been meant."""
    from giantstep.cli.flags import spelled  # like all that knows of problems, it takes a while
    from giantstep.problems.formatting import format_value

    name = fault.name if fault.name in ("X", "Phi", "y") else spelled(fault.name)
    value = "" if fault.value is None else f" {format_value(fault.value)}"
    return f"{name}{value}: must be {fault.allowed}{fault.hint}"


def _check(arguments: argparse.Namespace) -> None:
    """Print the numbers of the authors' notebooks beside ours."""
    from giantstep.cli.check import check

    print(*check(), sep="\n")


def _explore(arguments: argparse.Namespace) -> None:
    """Serve the page of the explorer until Ctrl-C."""
    check_value("port", arguments.port, _PORT)
    require("bokeh")
    from giantstep.explore.server import serve

    serve(arguments.port, not arguments.no_browser, Path(arguments.project))


def _plot(arguments: argparse.Namespace) -> None:
    """Draw an answer that was saved."""
    require("matplotlib")
    from giantstep.cli.output import read  # only here: it takes a while

    _draw(read(arguments.file), arguments, arguments.file.stem)


# Commands that neither answer a question nor need the workflow.
_WITHOUT_WORKFLOW = {"check": _check, "explore": _explore, "plot": _plot}
