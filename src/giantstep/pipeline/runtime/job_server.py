"""Jobs as copies of one process that has imported what they need.

To start Python and to import xarray, SciPy and Matplotlib takes a second, and a run has a hundred
jobs. So a run starts one process, the server, which imports all this and waits. For each job the
server copies itself (`fork`), and the copy runs the job's script.

The run hands over a job as the path of its script and one end of a pair of sockets. Into it the job
writes its exit code at its end, and then the server what it sees: the exit code, or the signal that
ended a job without a word. So jobs outlive a server that is killed, and a server does not outlive
its run.

The fork server of Python's `multiprocessing` would run the program's main file again in each job:
that of `python -m snakemake` starts another run.
"""

from __future__ import annotations

import contextlib
import gc
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

# What libraries and jobs import only when they come to use it.
LATER = (
    *("netCDF4", "psutil", "snakemake.io", "snakemake.logging"),
    *("pandas.io.formats.csvs", "pandas.io.formats.html", "xarray.computation.nanops"),
    *(f"matplotlib.{name}" for name in ("style", "backends.backend_pdf", "backends.backend_svg")),
)
# What sets the number of threads of linear algebra, when its library is loaded.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# Bytes: no path is longer, and no exit code.
_LONGEST = 4096
_LONGEST_CODE = 4


class JobServer:
    """The run's side of a server.

    Parameters
    ----------
    scripts : Path
        A folder of scripts, whose imports the server imports.
    modules : sequence of str
        Further ones to import.
    """

    def __init__(self, scripts: Path, modules: Sequence[str]) -> None:
        self._given = [str(scripts), *modules]
        self._lock = threading.Lock()
        self._server: tuple[subprocess.Popen[bytes], socket.socket] | None = None

    def start(self) -> None:
        """Start the server; otherwise the first job starts it."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            # Without -P, files in the project's folder could take the place of modules.
            python = [sys.executable, "-P", "-m", __name__]
            started = subprocess.Popen(
                [*python, str(theirs.fileno()), *self._given],
                env=os.environ | dict.fromkeys(_THREADS, "1"),
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        self._server = started, ours

    def run(self, script: str) -> None:
        """Run a script to its end; from any thread.

        Raises
        ------
        subprocess.CalledProcessError
            If it failed, or was killed: its code is minus the number of the signal; of SIGKILL, if
            the server was killed as well and nobody knows.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours:
            with theirs:
                self._hand_over(script, theirs)
            # Until all other ends are closed: then the job has ended.
            answers = list(iter(lambda: ours.recv(_LONGEST_CODE), b""))
        code = int(answers[0]) if answers else -signal.SIGKILL
        if code:
            raise subprocess.CalledProcessError(code, ["python", script])

    def stop(self) -> None:
        """End the server; what its jobs took then counts as taken by this process."""
        if self._server:
            started, control = self._server
            control.close()
            started.terminate()
            started.wait()

    def _hand_over(self, script: str, answer: socket.socket) -> None:
        with self._lock:
            for _ in range(2):
                if self._server is None:
                    self.start()
                assert self._server is not None
                try:
                    socket.send_fds(self._server[1], [script.encode()], [answer.fileno()])
                    return
                except OSError:  # it was killed
                    self.stop()
                    self._server = None
            raise RuntimeError("no process can be started that runs jobs")


def serve(control: socket.socket, scripts: Path, modules: Sequence[str]) -> None:
    """Run the jobs that a run asks for, each in a copy of this process, until the run ends.

    Parameters
    ----------
    control : socket
        From the run.
    scripts, modules
        As in `JobServer`.
    """
    interrupted = signal.signal(signal.SIGINT, signal.SIG_IGN)  # jobs decide what Ctrl-C does
    _import(scripts, modules)
    running: dict[int, socket.socket] = {}
    signal.signal(signal.SIGCHLD, lambda *_: _reap(running))
    gc.freeze()
    while True:
        script, answers, _, _ = socket.recv_fds(control, _LONGEST, 1)
        if not script:
            return
        answer = socket.socket(fileno=answers[0])
        # A job may end before it is noted as running.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        job = os.fork()
        if job == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, interrupted)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
            for of_others in (control, *running.values()):
                of_others.close()
            _run(script.decode(), answer)
        running[job] = answer
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])


def _reap(running: dict[int, socket.socket]) -> None:
    """Tell the run how jobs have ended."""
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            job, status = ended
            if answer := running.pop(job, None):
                with answer:
                    _tell(answer, os.waitstatus_to_exitcode(status))


def _tell(answer: socket.socket, code: int) -> None:
    with contextlib.suppress(OSError):  # nobody may be left to read it
        answer.send(str(code).encode())


def _run(script: str, answer: socket.socket) -> None:
    """Run a script as Python would, answer with its exit code, and end this process."""
    code = 1
    try:
        runpy.run_path(script, run_name="__main__")
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError):  # nobody may be left to read it
            sys.stdout.flush()
            sys.stderr.flush()
        _tell(answer, code & 0xFF)
        os._exit(code & 0xFF)


def _import(scripts: Path, modules: Sequence[str]) -> None:
    """Import what can be imported; a job that needs more imports it itself, or says what fails."""
    for script in sorted(scripts.glob("*.py")):
        with contextlib.suppress(Exception):
            runpy.run_path(str(script))  # without a job, it does nothing but import
    for name in modules:
        with contextlib.suppress(Exception):
            import_module(name)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])), Path(sys.argv[2]), sys.argv[3:])
