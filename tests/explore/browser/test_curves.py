"""The page of precomputed curves, opened from the disk, shows the library's numbers."""

import re
from runpy import run_path
from urllib.parse import urlencode

import numpy as np
import pytest
from browsers import show_at
from tiny import ROOT

from giantstep import Protocol, sweep

BUILT = run_path(str(ROOT / "docs/curves/build.py"))
GRID = {name: values[::3] for name, values in BUILT["GRID"].items()} | {"beta": [0.5, 2]}
TOLERANCE = 3e-4  # that the page promises
ASKED = {"activation": "relu", "target": "sign", "learning_rate": 3, "alpha0": 2, "beta": 0.5}
ASKED |= {"ridge": 0.1, "alpha": 0.1}


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("curves")
    BUILT["build"](folder, GRID)
    return (folder / "index.html").as_uri()


def opened(page, address, **query):
    page.driver.get("about:blank")
    page.driver.get(f"{address}#{urlencode(ASKED | query)}")
    page.wait_until("return document.documentElement.dataset.done")


@pytest.mark.parametrize("x", ["alpha", "alpha0", "ridge"])
def test_curves_are_the_librarys(page, address, x):
    opened(page, address, x=x, error="classification_error")
    fixed = {name: value for name, value in ASKED.items() if name not in ("alpha", "ridge")}
    values = {"alpha": ASKED["alpha"], "ridge": ASKED["ridge"]} | {x: GRID[x]}
    expected = sweep(Protocol(**fixed), bulk=BUILT["BULK"], **values)
    for name in ("test_error", "training_error", "classification_error"):
        shown = page.run("return window.curveOf(arguments[0])", name)
        shown = np.array(shown, dtype=float)  # None, a gap, is NaN
        np.testing.assert_allclose(shown, expected[name].squeeze(), rtol=TOLERANCE)


def test_what_a_pointer_reads_is_the_number_at_that_place(page, address):
    opened(page, address, error="constructor")  # unknown: the test error
    page.run(
        "const plot = document.querySelector('#plot svg'), box = plot.getBoundingClientRect();"
        "plot.dispatchEvent(new PointerEvent('pointermove', { clientX: box.right - 12 }))"
    )
    at, error = re.findall(r"α = ([\d.]+): test error ([\d.]+)", page.text("status"))[0]
    problem = Protocol(**{k: v for k, v in ASKED.items() if k not in ("alpha", "ridge")})
    found = sweep(problem, alpha=float(at), ridge=ASKED["ridge"], bulk=BUILT["BULK"])
    assert float(error) == pytest.approx(found.test_error.item(), rel=2 * TOLERANCE)


@pytest.mark.parametrize("width", [390, 1920])
def test_it_fits_and_its_controls_work(page, address, width):
    show_at(page.driver, width, 800)
    opened(page, address)
    page.find("pin").click()
    page.find("alpha0-play").click()
    page.wait_until("return document.getElementById('alpha0-value').textContent === '∞'")
    page.wait_until("return document.getElementById('alpha0-play').textContent === '▶'")
    assert page.run("return document.querySelectorAll('#pins li').length") == 1
    page.find("large").click()
    assert page.run("return document.documentElement.scrollWidth <= window.innerWidth")
    page.find("copy").click()
    assert "--alpha0 inf" in page.text("copy-command")
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
