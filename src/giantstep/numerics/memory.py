"""How the process keeps memory that arrays have freed."""

from __future__ import annotations

import numpy as np

# Bytes; glibc follows blocks of up to 32 MiB.
_LARGEST = 32_000_000


def keep_freed_memory() -> None:
    """Have glibc keep freed memory for the next array, instead of giving it back to the system.

    It gives back what is larger than the largest block that was ever freed. Getting that memory
    again, page by page, takes longer than computing on it. Elsewhere nothing happens.
    """
    np.empty(_LARGEST, dtype=np.uint8)
