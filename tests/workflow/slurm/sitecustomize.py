"""What happens to simulating jobs in tests, which is otherwise a matter of chance.

Python imports this by itself where its folder is on PYTHONPATH. With GIANTSTEP_PAUSED, the name of
a file that does not exist, the first simulating job that starts makes that file and stops: what
happens to it then is up to the test. With GIANTSTEP_FULL the disk is full for them all.
"""

import errno
import os
import signal
import sys
import threading
import time
from pathlib import Path


def pause(paused: Path) -> None:
    try:
        paused.touch(exist_ok=False)
    except FileExistsError:
        return
    time.sleep(0.3)  # less than the shortest job takes
    os.kill(os.getpid(), signal.SIGSTOP)


def no_room(descriptor: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


# The script of a job, whose preamble names its rule.
script = Path(sys.orig_argv[-1])
if script.name.endswith(".compute.py") and "montecarlo" in script.read_text(errors="replace"):
    if "GIANTSTEP_PAUSED" in os.environ:
        paused = Path(os.environ["GIANTSTEP_PAUSED"])
        threading.Thread(target=pause, args=[paused], daemon=True).start()
    if "GIANTSTEP_FULL" in os.environ:
        os.fsync = no_room
