"""Processes of the system: whether they still live."""

from __future__ import annotations

import psutil


def alive(process: int) -> bool:
    """Tell whether a process is there, and not merely not yet buried by its parent."""
    try:
        return bool(psutil.Process(process).status() != psutil.STATUS_ZOMBIE)
    except (psutil.NoSuchProcess, ValueError):
        return False
    except psutil.AccessDenied:
        return True
