"""Chromium without a window, as the tests and the benchmark of the explorer drive it."""

import os

from selenium import webdriver

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run"
    " --disable-background-networking --disable-component-update --disable-sync"
).split()


def chromium(folder, width=1440, height=900, logs=False):
    """Start Chromium with a folder for its files; `logs` keeps what it asks of the network."""
    options = webdriver.ChromeOptions()
    options.binary_location = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    for flag in (*FLAGS, f"--window-size={width},{height}", f"--user-data-dir={folder}"):
        options.add_argument(flag)
    if logs:
        options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    service = webdriver.ChromeService(os.environ.get("CHROMEDRIVER", "/usr/bin/chromedriver"))
    return webdriver.Chrome(options=options, service=service)


def show_at(driver, width, height, scale=1.0):
    """Give the page a size in CSS pixels, and each of them so many dots."""
    size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
