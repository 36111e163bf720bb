"""Files that are whole or missing, whatever stops their writer."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a path beside `path`, with its suffix, and rename it to `path` once it is written."""
    beside = path.with_name(f".{path.stem}.part{path.suffix}")
    try:
        yield beside
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
