"""Fixtures that many tests read, the order of tests, and how many examples Hypothesis tries."""

import fcntl
import os
import shutil

# One thread a worker, set before numpy is loaded: cores are for workers.
for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import in_process
import installed
import pytest
import tiny
from hypothesis import settings

settings.register_profile("quick", max_examples=100, deadline=None, derandomize=True, database=None)
settings.register_profile("thorough", settings.get_profile("quick"), max_examples=300)
settings.load_profile("quick")


def pytest_collection_modifyitems(items):
    """Start with what runs the workflow, so that no worker is left with it at the end."""
    items.sort(key=lambda item: "workflow" not in item.path.parts)


@pytest.fixture(scope="session")
def once(tmp_path_factory, worker_id):
    """Make a folder once for all workers: `once(name, make)`, where `make(folder)` fills it."""
    root = tmp_path_factory.getbasetemp()
    shared = root if worker_id == "master" else root.parent

    def made(name, make):
        folder, done = shared / name, shared / f"{name}.made"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                shutil.rmtree(folder, ignore_errors=True)
                make(folder)
                done.touch()
        return folder

    return made


@pytest.fixture(scope="session")
def tiny_run(once):
    """A tiny project whose run nothing disturbed; not to be changed."""
    return once("tiny", lambda folder: tiny.snakemake(tiny.make(folder)))


@pytest.fixture(scope="session")
def undisturbed(tiny_run):
    """What is made of the figure that `tiny.alone` has by a run that nothing disturbs."""
    return {name: what for name, what in tiny.made(tiny_run).items() if "fig4" not in name}


@pytest.fixture
def project(tiny_run, tmp_path):
    """A copy of the tiny project, finished, to be changed."""
    return shutil.copytree(tiny_run, tmp_path / "project")


def run_workflow(project):
    """Let the workflow make the figures that are otherwise made in process, at the quick size."""
    drawings = [f"figures/{name}.png" for name in in_process.FIGURES]
    tiny.snakemake(tiny.copied(project), *drawings, overlay="config/quick.yaml")


@pytest.fixture(params=[in_process.make, pytest.param(run_workflow, marks=pytest.mark.slow)])
def paper(request, once):
    """A folder with the merged data of figures of the paper, not to be changed."""
    return once(f"paper by {request.param.__name__}", request.param)


@pytest.fixture(scope="session")
def wheel(once):
    """The wheel of this package."""
    return next(once("wheel", installed.build_wheel).glob("*.whl"))
