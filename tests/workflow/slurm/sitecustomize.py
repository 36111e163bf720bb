"""What happens to simulating jobs in tests, which is otherwise a matter of chance.

Python imports this by itself where its folder is on PYTHONPATH. With GIANTSTEP_PAUSED, the name of
a file that does not exist, the first simulating job that has finished a network makes that file and
stops: what happens to it then is up to the test. With GIANTSTEP_FULL the disk is full for them all.
"""

import errno
import os
import signal
import sys
import threading
import time
from pathlib import Path


def pause(paused: Path) -> None:
    while not paused.exists():
        if any(Path("results/montecarlo").glob("*/networks0-0.nc")):
            try:
                paused.touch(exist_ok=False)
            except FileExistsError:
                return
            os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(0.001)


def no_room(descriptor: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


if sys.orig_argv[-1].endswith(".simulate.py"):
    if "GIANTSTEP_PAUSED" in os.environ:
        paused = Path(os.environ["GIANTSTEP_PAUSED"])
        threading.Thread(target=pause, args=[paused], daemon=True).start()
    if "GIANTSTEP_FULL" in os.environ:
        os.fsync = no_room
