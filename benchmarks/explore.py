"""How long the explorer takes from a drag of a slider to the redrawn curve, in Chromium.

One group of neurons, one step, 113 points, late is the 95th percentile: from the input event of the
slider to the frame that shows the answer. Also the time from the start of the command to the first
picture in a browser that is open already: Python's start, the server's, and the loading of the
page. PYTHONPATH=tests tests/explore/browser/chromium.sh run python benchmarks/explore.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time

import numpy as np
from browsers import chromium
from selenium import webdriver

DRAGS = 200
# Moves a slider by one step at a time, as soon as the last answer is drawn.
DRAG = """
const [count, done] = arguments;
const slider = document.getElementById('learning_rate-slider');
const before = window.latencies.length;
let moved = 0;
const timer = setInterval(() => {
  if (window.latencies.length - before < moved) return;
  if (moved === count) { clearInterval(timer); done(window.latencies.slice(before)); return; }
  moved += 1;
  slider.value = 200 + moved;
  slider.dispatchEvent(new Event('input'));
}, 2);
"""


def first_picture(driver: webdriver.Chrome, address: str) -> None:
    """Open the page, and wait until it shows an answer."""
    driver.get(address)
    while not driver.execute_script("return document.documentElement.dataset.done"):
        time.sleep(0.005)


def business() -> float:
    """Return how much longer than its work a loop takes here, for what else the machine does."""
    started, worked = time.perf_counter(), time.process_time()
    while time.process_time() - worked < 0.3:
        pass
    return (time.perf_counter() - started) / 0.3


def main() -> None:
    """Print the times."""
    print(f"other work on this machine makes everything {business():.1f} times as slow")
    with tempfile.TemporaryDirectory() as folder:
        driver = chromium(folder)
        started = time.perf_counter()
        command = [sys.executable, "-m", "giantstep", "explore", "--no-browser"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        try:
            address = server.stdout.readline().split()[0]
            first_picture(driver, address)
            print(f"start to first picture   {time.perf_counter() - started:.2f} s")
            driver.set_script_timeout(300)
            for bulk in ("isotropic", "trained"):
                first_picture(driver, f"{address}?target=sin&bulk={bulk}")
                latencies = np.array(driver.execute_async_script(DRAG, DRAGS))
                median, late = np.percentile(latencies, (50, 95))
                print(
                    f"drag to redrawn curve, {bulk} bulk: {median:.0f} ms median, "
                    f"{late:.0f} ms late"
                )
        finally:
            driver.quit()
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
