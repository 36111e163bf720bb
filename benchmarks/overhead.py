"""The overhead of a run: how much of the cores' time went into anything but its jobs.

Runs the workflow in a scratch clone, and adds up the seconds of all jobs, as the files of
Snakemake's `benchmark:` have them. A job's seconds include the start of its Python.

    python benchmarks/overhead.py [--cores 2] [--configfile config/quick.yaml]
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]


def run(project: Path, cores: int, configfiles: list[str]) -> float:
    """Run the workflow of a clone; return the seconds that it takes."""
    command = [sys.executable, "-m", "snakemake", "--cores", str(cores), "--quiet", "all"]
    if configfiles:
        command += ["--configfile", *configfiles]
    started = time.monotonic()
    source = os.environ | {"PYTHONPATH": str(project / "src")}
    subprocess.run(command, cwd=project, env=source, check=True)
    return time.monotonic() - started


def job_seconds(project: Path) -> dict[str, list[float]]:
    """List the seconds of all jobs, by their rules."""
    seconds = defaultdict(list)
    for path in sorted((project / "logs").rglob("*.tsv")):
        with path.open(encoding="utf-8") as file:
            (measured,) = csv.DictReader(file, delimiter="\t")
        seconds[path.relative_to(project / "logs").parts[0]].append(float(measured["s"]))
    return seconds


def main() -> None:
    """Print the seconds of each rule, and the share of the cores' time that is overhead."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--configfile", nargs="+", default=["config/quick.yaml"])
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder:
        project = Path(folder) / "clone"
        subprocess.run(["git", "clone", "-q", ROOT, project], check=True)
        wall = run(project, arguments.cores, arguments.configfile)
        seconds = job_seconds(project)
    for rule, taken in seconds.items():
        print(f"{rule:12} {len(taken):5} jobs  {sum(taken):8.1f} s")
    share = 1 - sum(map(sum, seconds.values())) / (arguments.cores * wall)
    print(f"{wall:.1f} s on {arguments.cores} cores; {share:.0%} of their time in no job")


if __name__ == "__main__":
    main()
