"""Replicates are split over files so that those which exist are used, whatever the length."""

from hypothesis import given
from hypothesis import strategies as st

from giantstep.workflow.shards import block_length, split, stored_blocks

LENGTHS = st.integers(1, 20)
BLOCKS = st.builds(lambda first, more: range(first, first + more + 1), LENGTHS, st.integers(0, 9))


@given(st.integers(1, 60), LENGTHS, st.lists(BLOCKS, max_size=5))
def test_blocks_hold_each_replicate_once_and_follow_one_another(networks, length, stored):
    blocks = split(networks, length, stored)
    held = [k for block in blocks for k in block]
    assert held == list(range(networks))
    assert all(b in stored or len(b) <= length for b in blocks)


@given(LENGTHS, LENGTHS, LENGTHS, LENGTHS)
def test_more_replicates_in_shards_of_another_length_leave_those_that_are_stored(
    networks, more, length, other
):
    stored = split(networks, length)
    assert split(networks + more, other, stored)[: len(stored)] == stored
    # A job of a cluster plans again when some of the planned shards are stored.
    planned = split(networks + more, other, stored)
    assert split(networks + more, other, planned) == planned


@given(st.floats(0.01, 1e5))
def test_a_block_takes_a_minute_or_is_one_network(seconds):
    length = block_length(seconds)
    assert length == 1 or 30 < length * seconds <= 60
    assert length & (length - 1) == 0


def test_only_shards_count_as_stored(tmp_path):
    for name in ("0-3.nc", "4-7.nc.damaged", ".part-12-4-7.nc", "notes.nc"):
        (tmp_path / name).touch()
    assert stored_blocks(tmp_path) == [range(0, 4)]
    assert stored_blocks(tmp_path / "missing") == []
