"""Files are written whole or not at all."""

import errno

import pytest

from giantstep.files import beside


def test_what_fails_to_be_written_leaves_the_file_and_nothing_beside_it(tmp_path):
    path = tmp_path / "answer.csv"
    path.write_text("before")

    def fill():
        with beside(path) as place:
            place.write_text("half of")
            raise OSError(errno.ENOSPC, "full")

    with pytest.raises(OSError, match="full"):
        fill()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
