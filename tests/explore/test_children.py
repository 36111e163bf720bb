"""Children do the newest task, and none is left behind."""

import queue
import time

import psutil
import pytest

pytest.importorskip("bokeh")

from giantstep.explore.children import Child, FailedError


@pytest.fixture
def child():
    said = queue.Queue()
    made = Child("child_work:count", lambda number, what: said.put((number, what)))
    yield made, said
    made.stop()


def alive():
    return [p for p in psutil.Process().children(recursive=True) if p.status() != "zombie"]


def test_a_task_is_answered_and_a_failure_is_said(child):
    made, said = child
    made.ask(1, "a")
    assert [said.get(timeout=30) for _ in range(3)] == [(1, ("a", k)) for k in range(3)]
    made.ask(2, "fail")
    number, failure = said.get(timeout=30)
    assert number == 2
    assert isinstance(failure, FailedError)
    assert "by zero" in str(failure)


def test_of_a_flood_of_tasks_the_newest_is_answered_even_if_one_hangs(child):
    made, said = child
    made.ask(0, "sleep")
    time.sleep(0.3)
    for number in range(1, 2000):
        made.ask(number, str(number))
    numbers = {said.get(timeout=30)[0]}
    while 1999 not in numbers:
        numbers.add(said.get(timeout=30)[0])
    assert 0 not in numbers
    assert len(numbers) < 100


def test_what_is_cancelled_or_stopped_has_no_process_any_more(child):
    made, said = child
    before = len(alive())
    made.ask(0, "sleep")
    time.sleep(0.2)
    assert len(alive()) > before
    made.cancel()
    assert len(alive()) <= before + 1  # that from which children are made
    made.ask(1, "a")
    said.get(timeout=30)
    made.stop()
    made.ask(2, "a")
    assert len(alive()) <= before + 1
