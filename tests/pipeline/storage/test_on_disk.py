"""Parts of a simulation become one only if they belong together."""

import numpy as np
import pytest
import xarray as xr

from giantstep.pipeline.stages.join_lines import join_lines
from giantstep.pipeline.storage.on_disk import join_on_disk, scratch_file


def part(*networks):
    """Some networks, with a measurement at two values of alpha."""
    values = np.outer(networks, [1.0, 10.0])
    coords = {"network": list(networks), "alpha": [0.5, 1.0]}
    found = xr.Dataset({"simulated_m": (("network", "alpha"), values)}, coords)
    return found.assign_attrs(libraries="numpy 2")


def join(tmp_path, *parts, size=3):
    return join_on_disk(iter(parts), "network", size, scratch_file(tmp_path))


def test_parts_are_joined_in_order(tmp_path):
    whole = join(tmp_path, part(0, 1), part(4))
    assert whole.load().drop_attrs().identical(part(0, 1, 4).drop_attrs())


@pytest.mark.parametrize(
    ("last", "fault"),
    [
        (part(4).drop_vars("simulated_m"), "other variables"),
        (part(4).assign(simulated_q=1.0), "other variables"),
        (part(4).assign_coords(alpha=[0.5, 2.0]), "other variables or coordinates"),
        (part(1), "ascending order"),
        (part(4, 5), "4 of 3"),
    ],
)
def test_parts_that_do_not_belong_together_are_refused(tmp_path, last, fault):
    with pytest.raises(ValueError, match=fault):
        join(tmp_path, part(0, 1), last)


def test_no_parts_at_all_are_refused(tmp_path):
    with pytest.raises(ValueError, match="0 of 3"):
        join(tmp_path)


def test_what_waits_on_the_disk_is_read_once_when_it_is_used(tmp_path, monkeypatch):
    coords = {"network": range(3), "index": range(2**18), "curve": "a"}
    values = {"simulated_eigenvalue": (("network", "index"), np.ones((3, 2**18)))}
    line = join(tmp_path, xr.Dataset(values, coords, {"libraries": "numpy 2"}))
    real, read = np.fromfile, []
    monkeypatch.setattr(np, "fromfile", lambda *given: read.append(given[2]) or real(*given))
    eigenvalues = join_lines([line])["simulated_eigenvalue"].load()
    assert sum(read) == eigenvalues.size
