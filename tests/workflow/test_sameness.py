"""Data and figures are the same bytes however the work was spread out, and in whatever order."""

import random

import pytest
import tiny


@pytest.mark.slow  # in brief: a killed run is completed on one core, see test_interruption.py
def test_one_core_in_another_order_gives_the_same_bytes_as_two(tiny_run, tmp_path):
    project = tiny.make(tmp_path / "project")
    order = [
        name
        for name in tiny.made(tiny_run)
        if name.startswith(tuple(f"results/{s}" for s in tiny.STAGES))
    ]
    random.Random(1).shuffle(order)
    for name in order[:2]:
        tiny.snakemake(project, name, cores=1)
    tiny.snakemake(project, cores=1)
    assert tiny.made(project) == tiny.made(tiny_run)
