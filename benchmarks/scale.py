"""What ten thousand shards cost besides simulating: building the DAG, and merging.

    python benchmarks/scale.py [--shards 10000] [--replicates 10000]

The DAG is that of `config/scale.yaml`, with as many replicates a job as give that many shards. The
merged replicates are copies of one, at d = 100: what merging holds does not depend on d.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from giantstep.workflow import store
from giantstep.workflow.jobs import compute
from giantstep.workflow.plan import Plan, make_plan
from giantstep.workflow.shards import with_networks

ROOT = Path(__file__).parents[1]
FOLDERS = ("Snakefile", "config", "workflow", "profiles")
MERGED = "fig2"


def workflow(folder: Path, simulation: dict[str, Any], *arguments: str) -> str:
    """Run the project's workflow, from a copy, at these sizes; give what it printed."""
    for name in FOLDERS:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        if not (folder / name).exists():
            copy(ROOT / name, folder / name)
    overlay = folder / "overlay.yaml"
    overlay.write_text(yaml.safe_dump({"simulation": simulation}))
    command = [sys.executable, "-m", "snakemake", "--cores", "1", *arguments]
    done = subprocess.run(
        [*command, "--configfile", str(overlay)], cwd=folder, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return done.stdout


def dry_run(shards: int) -> float:
    """Print and return how long a dry run takes that plans about so many shards."""
    plan = plan_of({})
    curves = sum(len(plan.figure(name).networks) for name in plan.config["figures"])
    with tempfile.TemporaryDirectory() as folder:
        sizes = {"dimension": 20_000, "networks": shards // curves, "networks_per_job": 1}
        start = time.perf_counter()
        printed = workflow(Path(folder), sizes, "--dry-run", "--quiet", "rules", "host")
        taken = time.perf_counter() - start
        print(printed)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"DAG of {shards // curves * curves} shards: {taken:.1f} s, {peak:.0f} MiB")
    return taken


def plan_of(simulation: dict[str, Any]) -> Plan:
    """Plan the figures at these sizes."""
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    config["simulation"] |= simulation
    return make_plan(ROOT, config)


def merge_again(replicates: int) -> float:
    """Print the memory and the time of merging so many replicates of a figure; return the time.

    The figure is merged twice: the first time its theory is computed, too.
    """
    sizes = {"dimension": 100, "test_samples": 1000, "networks_per_job": 10}
    curves = len(plan_of({}).figure(MERGED).networks)
    sizes["networks"] = replicates // curves
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fill(folder, plan_of(sizes))
        target = f"results/figures/{MERGED}.nc"
        workflow(folder, sizes, target)
        (folder / target).unlink()
        start = time.perf_counter()
        workflow(folder, sizes, target)
        taken = time.perf_counter() - start
        size = (folder / target).stat().st_size / 2**20
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"merging {replicates} replicates: {taken:.1f} s, {peak:.0f} MiB; file {size:.1f} MiB")
    return taken


def fill(folder: Path, plan: Plan) -> None:
    """Write shards whose replicates are copies of one."""
    for shards in plan.figure(MERGED).networks.values():
        first, task = next(iter(shards.items()))
        path = (folder / first).with_name("0-0.nc")
        store.write(compute({"/": with_networks(task, (0,))}), path)
        one = store.read(path)
        path.unlink()
        for name, task in shards.items():
            copies = np.array(task.arguments["networks"])
            shard = one.isel(network=np.zeros_like(copies)).assign_coords(network=copies)
            store.write(shard, folder / name)


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shards", type=int, default=10_000, help="in the DAG; 0 for none")
    parser.add_argument("--replicates", type=int, default=10_000, help="to merge; 0 for none")
    arguments = parser.parse_args()
    os.environ.pop("SNAKEMAKE_PROFILE", None)
    if arguments.shards:
        dry_run(arguments.shards)
    if arguments.replicates:
        merge_again(arguments.replicates)


if __name__ == "__main__":
    main()
