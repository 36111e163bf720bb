"""Work for the children of the tests."""

import time


def count(task, say):
    """Say numbers: at once, or after a sleep that nothing interrupts."""
    if task == "fail":
        raise ZeroDivisionError("by zero")
    if task == "sleep":
        time.sleep(60)
    for number in range(3):
        say((task, number))
