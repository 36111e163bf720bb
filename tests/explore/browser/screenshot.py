"""The picture of the explorer in the documentation: three first batches, networks beside one.

make screenshot
"""

import tempfile
import time
from pathlib import Path
from urllib.parse import quote

from browsers import chromium, show_at
from conftest import Explorer, Page

PICTURE = Path(__file__).parents[3] / "docs/static/explorer.png"
SHARED = "target=sin&ridge=0.1"
BATCHES = ("4", "inf")


def main():
    pins = [f"pin={quote(f'batch {a}|{SHARED}&alpha0={a}'.replace('inf|', '∞|'))}" for a in BATCHES]
    with tempfile.TemporaryDirectory() as folder:
        explorer, driver = Explorer(folder), chromium(folder)
        try:
            show_at(driver, 1280, 760, scale=1.1)
            page = Page(driver, explorer.address)
            page.open("&".join([SHARED, "alpha0=10", "start=0.2", *pins]))
            page.find("networks-start").click()
            page.wait_until("return document.documentElement.dataset.networks === 'done'")
            page.run("document.activeElement.blur()")
            time.sleep(0.5)
            driver.save_screenshot(str(PICTURE))
        finally:
            driver.quit()
            explorer.stop()
    print(f"{PICTURE}: {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
