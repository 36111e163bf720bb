"""A server of the explorer, and Chromium without a window, for the tests of this folder.

The explorer runs in an environment that holds what its extra requires, and nothing else.
"""

import signal
import subprocess
import sys
import time

import installed
import psutil
import pytest

pytest.importorskip("selenium")

from browsers import chromium


class Explorer:
    """`giantstep explore` in a process of its own."""

    def __init__(self, project, *flags, python=sys.executable):
        command = [python, "-m", "giantstep", "explore", "--no-browser", *flags]
        self.process = subprocess.Popen(
            [*command, "--project", str(project)], stdout=subprocess.PIPE, text=True
        )
        self.address = self.process.stdout.readline().split()[0]

    def processes(self):
        """Return the processes of theory, networks and exports: those that compute."""
        below = psutil.Process(self.process.pid).children(recursive=True)
        return [one for one in below if one.is_running() and one.status() != "zombie"]

    def stop(self):
        """End it as Ctrl-C does."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(120)


class Page:
    """The page in the browser, and what a user does to it."""

    def __init__(self, driver, address):
        self.driver, self.address = driver, address

    def open(self, query=""):
        self.driver.get(f"{self.address}?{query}")
        self.settled()
        return self

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait_until(self, script, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if found := self.run(script):
                return found
            time.sleep(0.03)
        raise AssertionError(f"not within {seconds} s: {script}")

    def find(self, identity):
        return self.driver.find_element("id", identity)

    def text(self, identity):
        return self.find(identity).get_attribute("textContent").strip()

    def change(self, identity, value):
        """Type a value into a field, or choose it, and leave the field."""
        before = self.run("return window.latencies.length")
        self.run(
            "const field = document.getElementById(arguments[0]); field.value = arguments[1];"
            "field.dispatchEvent(new Event('change', { bubbles: true }))",
            identity,
            str(value),
        )
        return before

    def answered(self, before):
        """Wait for the answer to a change."""
        self.wait_until(f"return window.latencies.length > {before}")
        self.settled()

    def settled(self):
        """Wait until nothing is computed."""
        self.wait_until("return document.documentElement.dataset.done !== undefined")

    def curve(self, name=""):
        """Return the x and the test errors that are drawn of a question."""
        return self.run(
            "const plot = Bokeh.documents[0].get_model_by_name('plot').children[0];"
            "const drawn = plot.renderers.find((one) => one.name === arguments[0]);"
            "const { x, test_error } = drawn?.data_source.data ?? {};"
            "return x ? [Array.from(x), Array.from(test_error)] : null",
            name and f"{name}:",
        )


@pytest.fixture(scope="session")
def explorer(once, wheel, tmp_path_factory):
    project = tmp_path_factory.mktemp("project")
    (project / "config/figures").mkdir(parents=True)
    alone = once("alone", lambda folder: installed.install(wheel, folder, "explore"))
    made = Explorer(project, python=alone / "bin/python")
    made.project = project
    yield made
    made.stop()


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    made = chromium(tmp_path_factory.mktemp("chromium"), logs=True)
    yield made
    made.quit()


@pytest.fixture
def page(driver, explorer):
    return Page(driver, explorer.address)
