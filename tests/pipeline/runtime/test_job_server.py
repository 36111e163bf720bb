"""A server runs each job in a copy of itself, says how it ended, and ends with its run."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from subprocess import CalledProcessError
from types import SimpleNamespace

import psutil
import pytest
from snakemake.script import PythonScript

from giantstep.pipeline.planning.plan import Plan
from giantstep.pipeline.runtime import run_start
from giantstep.pipeline.runtime.job_server import JobServer


@pytest.fixture
def server(tmp_path):
    """A server that has imported what one script imports."""
    folder = tmp_path / "scripts"
    folder.mkdir()
    (folder / "all.py").write_text("import fractions\n")
    (folder / "broken.py").write_text("import fractions, nothing_of_this_name\n")
    started = JobServer(folder, ["colorsys", "nothing_of_this_name"])
    yield started
    started.stop()


@pytest.fixture
def run(server, tmp_path):
    """Run a job of the server's that consists of some code."""

    def job(code):
        path = tmp_path / f"job{len(list(tmp_path.iterdir()))}.py"
        path.write_text(code)
        server.run(str(path))

    return job


def becomes_true(condition):
    """Wait until something is true."""
    for _ in range(1000):
        if condition():
            return True
        time.sleep(0.01)
    return False


def gone(process):
    """Wait until there is no such process, not even a zombie."""
    return becomes_true(lambda: not psutil.pid_exists(int(process)))


def test_a_job_is_a_copy_that_has_imported_what_scripts_import(run, tmp_path):
    run(f"""
import os, sys
from pathlib import Path
assert __name__ == "__main__"
assert {{"fractions", "colorsys"}} <= set(sys.modules)
Path({str(tmp_path / "of-one")!r}).write_text(f"{{os.getppid()}} {{os.getpid()}}")
""")
    run(f"import os; open({str(tmp_path / 'of-other')!r}, 'w').write(str(os.getppid()))")
    server, job = (tmp_path / "of-one").read_text().split()
    assert (tmp_path / "of-other").read_text() == server != str(os.getpid())
    assert gone(job)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import sys; sys.exit(130)", 130),
        ("import sys; sys.exit('in words')", 1),
        ("1 / 0", 1),
        ("import os; os.kill(os.getpid(), 9)", -9),
        ("import os; os.kill(os.getpid(), 15)", -15),
    ],
)
def test_how_a_job_ended_is_reported(run, code, expected):
    run("import sys; sys.exit()")
    with pytest.raises(CalledProcessError) as error:
        run(code)
    assert error.value.returncode == expected


def test_jobs_run_at_the_same_time(run, tmp_path):
    code = (
        "import time\nfrom pathlib import Path\n"
        "Path({!r}).touch()\n"
        "while not Path({!r}).exists(): time.sleep(0.01)\n"
    )
    one, other = str(tmp_path / "one"), str(tmp_path / "other")
    waiting = threading.Thread(target=run, args=[code.format(one, other)])
    waiting.start()
    assert becomes_true((tmp_path / "one").exists)
    run(code.format(other, one))
    waiting.join(10)
    assert not waiting.is_alive()


def test_a_server_that_is_killed_takes_no_job_with_it_and_another_takes_its_place(run, tmp_path):
    go = tmp_path / "go"
    code = (
        "import os, sys, time\nfrom pathlib import Path\n"
        f"Path({str(tmp_path / 'server')!r}).write_text(str(os.getppid()))\n"
        f"Path({str(tmp_path / 'started')!r}).touch()\n"
        f"while not Path({str(go)!r}).exists(): time.sleep(0.01)\n"
        "sys.exit(3)\n"
    )
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(run, code)
        assert becomes_true((tmp_path / "started").exists)
        os.kill(server := int((tmp_path / "server").read_text()), signal.SIGKILL)
        assert becomes_true(lambda: psutil.Process(server).status() == psutil.STATUS_ZOMBIE)
        go.touch()
        with pytest.raises(CalledProcessError) as error:
            waiting.result(10)
    assert error.value.returncode == 3
    run("pass")


def test_a_server_ends_with_its_run(tmp_path):
    code = (
        "import os\nfrom pathlib import Path\n"
        "from giantstep.pipeline.runtime.job_server import JobServer\n"
        "server = JobServer(Path('.'), [])\nserver.start()\n"
        "print(server._server[0].pid, flush=True)\nos._exit(0)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert gone(ran.stdout)


@pytest.mark.parametrize("here", [True, False])
def test_a_run_on_one_machine_forks_its_own_jobs_and_no_others(monkeypatch, tmp_path, here):
    ran = []
    started = SimpleNamespace(start=list, stop=list, run=lambda path: ran.append(("forked", path)))
    monkeypatch.setattr(run_start, "JobServer", lambda *given: started)
    monkeypatch.setattr(
        PythonScript, "execute_script", lambda self, path, edit=False: ran.append(("started", path))
    )
    workflow = SimpleNamespace(local_exec=here, scheduling_settings=SimpleNamespace())
    run_start.fork_jobs(workflow, Plan(tmp_path, {}, {}))
    for own in ("workflow/rules/../scripts/merge.py", "scripts/of_another_workflow.py"):
        script = SimpleNamespace(is_local=True, local_path=str(tmp_path / own))
        PythonScript.execute_script(script, own)
    assert [how for how, _ in ran] == ["forked" if here else "started", "started"]
