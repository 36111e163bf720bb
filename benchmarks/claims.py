"""Measure the quantitative claims of the README and of docs/, which docs/claims.toml lists.

    python benchmarks/claims.py                all that take seconds
    python benchmarks/claims.py speed trust    those whose name or page contains one of the words
    python benchmarks/claims.py --all          all, also the slow ones

Prints a table. The exit code is 1 if a claim fails.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import re
import shlex
import subprocess
import sys
import tomllib
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

import giantstep
from giantstep.cli import main as cli

ROOT = Path(__file__).parents[1]
NUMBER = r"(-?\d[\d,]*\.?\d*(?:e[+-]?\d+)?)"

Claim = dict[str, Any]


def claims() -> list[Claim]:
    """Read all claims."""
    found: list[Claim] = tomllib.loads((ROOT / "docs/claims.toml").read_text("utf-8"))["claim"]
    return found


def measure(claim: Claim) -> float:
    """Measure one claim: in this process, unless it is a program of its own.

    Raises
    ------
    RuntimeError
        If a command fails, or prints no number.
    """
    if code := claim.get("python"):
        names = {"np": np, "gs": giantstep}
        exec(code, names)
        return float(names["value"])
    program, *arguments = shlex.split(claim["command"])
    if program == "giantstep":
        with redirect_stdout(io.StringIO()) as printed, redirect_stderr(io.StringIO()) as errors:
            failed = cli.main(arguments)
        said = printed.getvalue(), errors.getvalue()
    else:
        done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)
        failed, said = done.returncode, (done.stdout, done.stderr)
    if failed:
        raise RuntimeError(said[1].strip().splitlines()[-1])
    return _value(claim, said[0])


def _value(claim: Claim, printed: str) -> float:
    """Find the number of a claim in what was printed: in a column, by a pattern, or the last."""
    if column := claim.get("column"):
        return float(next(csv.DictReader(io.StringIO(printed)))[column])
    found = re.findall(claim.get("number", NUMBER), printed)
    if not found:
        raise RuntimeError("it printed no number")
    return float(found[-1].replace(",", ""))


def chosen(words: list[str], everything: bool) -> list[Claim]:
    """Choose the claims that contain one of the words, and that can be measured here."""
    return [
        claim
        for claim in claims()
        if (not words or any(word in f"{claim['name']} {claim['page']}" for word in words))
        and (everything or not claim.get("slow"))
        and (ROOT / claim.get("needs", "")).exists()
    ]


def holds(claim: Claim) -> bool:
    """Measure a claim, and print a row of the table."""
    low, high = claim["bounds"]
    try:
        value = measure(claim)
        held, shown = low <= value <= high, f"{value:.6g}"
    except (Exception, SystemExit) as error:  # whatever a claim's code raises
        held, shown = False, str(error)
    verdict, bounds = "holds" if held else "FAILS", f"[{low:g}, {high:g}]"
    print(f"{verdict}  {shown:>12}  {bounds:24} {claim['page']}: {claim['name']}", flush=True)
    return held


def main() -> int:
    """Measure claims, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="what names or pages of claims contain")
    parser.add_argument("--all", action="store_true", help="also the slow ones")
    arguments = parser.parse_args()
    os.chdir(ROOT)
    some = chosen(arguments.words, arguments.all)
    if not some:
        parser.error(f"no quick claim contains {arguments.words}; --all has more")
    failed = len(some) - sum([holds(claim) for claim in some])
    print(f"{len(some)} of {len(claims())} claims measured, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
