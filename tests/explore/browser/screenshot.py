"""The picture of the explorer in the documentation: three first batches, networks beside one.

make screenshot
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

from browsers import chromium, show_at

PICTURE = Path(__file__).parents[3] / "docs/static/explorer.png"
SHARED = "target=sin&ridge=0.1"
BATCHES = ("4", "inf")
DONE = "return document.documentElement.dataset.done !== undefined"
SIMULATED = "return document.documentElement.dataset.networks === 'done'"


def wait(driver, script):
    while not driver.execute_script(script):
        time.sleep(0.05)


def main():
    pins = [f"pin={quote(f'batch {a}|{SHARED}&alpha0={a}'.replace('inf|', '∞|'))}" for a in BATCHES]
    query = "&".join([SHARED, "alpha0=10", "start=0.2", *pins])
    command = [sys.executable, "-m", "giantstep", "explore", "--no-browser"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    with tempfile.TemporaryDirectory() as folder:
        driver = chromium(folder)
        try:
            show_at(driver, 1280, 760, scale=1.1)
            driver.get(f"{server.stdout.readline().split()[0]}?{query}")
            wait(driver, DONE)
            driver.find_element("id", "networks-start").click()
            wait(driver, SIMULATED)
            driver.execute_script("document.activeElement.blur()")
            time.sleep(0.5)
            driver.save_screenshot(str(PICTURE))
        finally:
            driver.quit()
            server.terminate()
            server.wait()
    print(f"{PICTURE}: {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
