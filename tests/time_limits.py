"""Limits on the time of a test: what hangs fails, whether it computes or waits."""

import contextlib
import signal

CPU, WAITING = 5.0, 60.0


@contextlib.contextmanager
def at_once():
    """Fail what computes for seconds, or waits; a busy machine changes nothing."""

    def fail(number, frame):
        raise AssertionError(f"it takes more than {CPU} s of computing, or {WAITING} s in all")

    timers = {
        signal.SIGPROF: (signal.ITIMER_PROF, CPU),
        signal.SIGALRM: (signal.ITIMER_REAL, WAITING),
    }
    before = {number: signal.signal(number, fail) for number in timers}
    for timer, seconds in timers.values():
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for timer, _ in timers.values():
            signal.setitimer(timer, 0)
        for number, handler in before.items():
            signal.signal(number, handler)
