"""A folder is for one run at a time."""

import pytest

from giantstep.pipeline.runtime import run_lock


def test_a_folder_is_for_one_run_at_a_time(tmp_path):
    run_lock.acquire_run_lock(tmp_path, print)
    with pytest.raises(run_lock.AnotherRunError, match="another run is at work in this folder"):
        run_lock.acquire_run_lock(tmp_path, print)
