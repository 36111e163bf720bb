"""Children do the newest task, and none is left behind."""

import asyncio

import psutil
import pytest

pytest.importorskip("bokeh")

from giantstep.explore.children import Child, Failure


def asked(drive):
    """Run what drives a child in an event loop, as the server does; end the child."""

    async def run():
        said = asyncio.Queue()
        child = Child("child_work:count", lambda number, what: said.put_nowait((number, what)))
        try:
            await drive(child, lambda: asyncio.wait_for(said.get(), 30))
        finally:
            child.cancel()

    asyncio.run(run())


def alive():
    return [p for p in psutil.Process().children(recursive=True) if p.status() != "zombie"]


def test_a_task_is_answered_and_a_failure_is_said():
    async def drive(child, said):
        child.ask(1, "a")
        assert [await said() for _ in range(3)] == [(1, ("a", k)) for k in range(3)]
        child.ask(2, "fail")
        number, failure = await said()
        assert number == 2
        assert isinstance(failure, Failure)
        assert "by zero" in failure

    asked(drive)


def test_of_a_flood_of_tasks_the_newest_is_answered_even_if_one_hangs():
    async def drive(child, said):
        child.ask(0, "sleep")
        await asyncio.sleep(0.3)
        for number in range(1, 2000):
            child.ask(number, str(number))
            await asyncio.sleep(0)
        numbers = [(await said())[0]]
        while numbers[-1] != 1999:
            numbers.append((await said())[0])
        assert 0 not in numbers
        assert len(numbers) < 100

    asked(drive)


def test_a_process_that_dies_or_is_cancelled_is_replaced():
    async def drive(child, said):
        before = len(alive())
        child.ask(0, "sleep")
        await asyncio.sleep(0.2)
        assert len(alive()) > before
        child.cancel()
        assert len(alive()) <= before + 1  # that from which children are made
        child.ask(1, "exit")
        assert "has died" in str((await said())[1])
        child.ask(2, "a")
        assert await said() == (2, ("a", 0))

    asked(drive)
