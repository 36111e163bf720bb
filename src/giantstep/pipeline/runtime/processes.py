"""Processes of the system: whether they are still running."""

from __future__ import annotations


def alive(process: int) -> bool:
    """Check whether a process is running; a zombie is not."""
    import psutil  # here: only what writes needs it, not what opens a file

    try:
        return bool(psutil.Process(process).status() != psutil.STATUS_ZOMBIE)
    except (psutil.NoSuchProcess, ValueError):
        return False
    except psutil.AccessDenied:
        return True
