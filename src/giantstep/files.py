"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# How the names of files begin that are being written.
UNFINISHED = ".part-"


@contextmanager
def beside(path: Path) -> Iterator[Path]:
    """Give a place beside a file: what is written there takes the file's name at the end.

    If anything is raised, as on a full disk, the file is what it was before.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "answer.csv")
    ...     with beside(path) as place:
    ...         _ = place.write_text("alpha")
    ...     path.read_text()
    'alpha'
    """
    path = path.resolve()  # a link stays one
    path.parent.mkdir(parents=True, exist_ok=True)
    place = path.with_name(f"{UNFINISHED}{os.getpid()}-{path.name}")
    try:
        yield place
        with place.open("rb") as file:
            os.fsync(file.fileno())
        place.replace(path)
    finally:
        place.unlink(missing_ok=True)
