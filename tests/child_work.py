"""Work for the children of the tests."""

import os
import time


def count(task, say):
    """Say numbers: at once, or after a sleep that nothing interrupts."""
    if task == "fail":
        raise ZeroDivisionError("by zero")
    if task == "exit":
        os._exit(1)
    if task == "sleep":
        time.sleep(60)
    for number in range(3):
        say((task, number))
