"""The explorer as a user drives it, in Chromium."""

import base64
import json
from urllib.parse import urlsplit

import numpy as np
import pytest
import xarray as xr
import yaml
from browsers import show_at

from giantstep import Protocol, solve
from giantstep.explore.presets import PRESETS

TABS = ("curve", "function", "spectrum", "map")


def requests(driver):
    """Return the hosts that the browser has asked since the last call."""
    hosts = set()
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            hosts.add(urlsplit(message["params"]["request"]["url"]).hostname)
        if message["method"] == "Network.webSocketCreated":
            hosts.add(urlsplit(message["params"]["url"]).hostname)
    return hosts - {None}


LOOKS = [
    *((tab, *look) for look in ((390, 844, "light"), (1920, 1080, "large")) for tab in TABS),
    ("curve", 390, 844, "large"),
    ("curve", 1440, 860, "light"),
    ("map", 1024, 860, "dark"),
]


@pytest.mark.parametrize(("tab", "width", "height", "theme"), LOOKS)
def test_each_tab_shows_an_answer_and_fits(page, tab, width, height, theme):
    show_at(page.driver, width, height)
    page.open(f"tab={tab}")
    if theme == "large":
        page.find("large").click()
        page.find("help").click()
    if theme == "dark":
        page.find("theme").click()
        page.wait_until("return document.documentElement.dataset.theme === 'dark'")
    page.settled()
    assert page.text("status")
    assert page.run("const e = document.documentElement; return e.scrollWidth <= e.clientWidth")
    for fitting in ("header", "#answer", "aside"):
        measured = f"const e = document.querySelector('{fitting}');"
        page.wait_until(f"{measured} return e.scrollWidth <= e.clientWidth + 1")
    errors = [e for e in page.driver.get_log("browser") if e["level"] == "SEVERE"]
    assert not errors
    page.run("localStorage.clear()")
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_dragged_slider_moves_the_curve_to_what_the_library_solves(page):
    page.open("target=sin")
    for position in (300, 420, 512):
        page.run(
            "const s = document.getElementById('learning_rate-slider'); s.value = arguments[0];"
            "s.dispatchEvent(new Event('input'))",
            position,
        )
    page.wait_until("return document.getElementById('title').textContent.includes('η̃ = 5.12')")
    page.settled()
    x, y = page.curve()
    protocol = Protocol("tanh", "sin", learning_rate=5.12, alpha0=10, beta=1)
    expected = solve(protocol, np.array(x), 1.0).test_error.values
    np.testing.assert_allclose(y, expected, rtol=1e-9)


def test_pins_stay_while_the_question_changes_and_survive_a_reload(page):
    page.open("target=sin&ridge=0.5")
    _, first = page.curve()
    page.find("pin-name").send_keys("ten")
    page.find("pin").click()
    page.wait_until("return location.search.includes('pin=ten')")
    before = page.change("alpha0", "∞")
    page.answered(before)
    page.wait_until("return document.getElementById('title').textContent.includes('α₀ = ∞')")
    assert page.curve("ten")[1] == first
    page.wait_until("return location.search.includes('alpha0=inf')")
    page.driver.refresh()
    page.settled()
    assert page.find("alpha0").get_attribute("value") == "∞"
    assert page.find("ridge").get_attribute("value") == "0.5"
    assert page.curve("ten")[1] == first
    assert page.curve()[1] != first


def test_a_bad_value_is_answered_at_its_field_and_keeps_the_curve(page):
    page.open()
    _, before = page.curve()
    page.change("learning_rate", "-1")
    page.wait_until("return document.getElementById('learning_rate-note').textContent")
    assert "a number from 0 to 1e+12" in page.text("learning_rate-note")
    assert page.find("learning_rate").get_attribute("aria-invalid") == "true"
    assert page.curve()[1] == before
    page.change("learning_rate", "3")
    page.wait_until("return !document.getElementById('learning_rate-note').textContent")


def test_a_slow_map_shows_what_is_known_and_gives_way_to_a_newer_question(page):
    page.driver.get(f"{page.address}?tab=map&target=sign&loss=hinge")
    page.wait_until("return document.getElementById('spinner')?.hidden === false")
    page.wait_until("return /^(5|9|17) × /.test(document.getElementById('status').textContent)")
    page.answered(page.change("loss", "square"))
    assert page.text("status").startswith("33 × 33")
    assert page.find("spinner").get_attribute("hidden")


def test_networks_appear_with_scores_and_end_with_another_question(page, explorer):
    page.open("stop=2")
    page.run("document.getElementById('networks-dimension').value = '80'")
    page.run("document.getElementById('networks-count').value = '5'")
    page.find("networks-start").click()
    page.wait_until("return document.documentElement.dataset.networks === 'done'")
    assert "z" in page.text("networks-note")
    page.run("document.getElementById('networks-dimension').value = '700'")
    page.run("document.getElementById('networks-count').value = '40'")
    page.find("networks-start").click()
    page.wait_until("return document.documentElement.dataset.networks === 'running'")
    page.change("alpha0", "3")
    page.wait_until("return document.documentElement.dataset.networks === 'none'")
    assert page.find("networks-start").text == "Simulate"


def test_a_tab_that_is_refused_has_the_answer_of_no_other(page):
    page.open("stop=2&covariance=power:0.45")
    page.find("tab-spectrum").click()
    page.wait_until("return document.getElementById('status').textContent.includes('in spectrum')")
    page.run("document.querySelector('[data-format=csv]').click()")
    page.wait_until("return document.getElementById('export-note').textContent.includes('take')")


def test_exports_are_files_and_a_figure_goes_into_the_project(page, explorer):
    page.open("stop=2&target=sin")
    page.find("export").click()
    for form, head in (("svg", b"<?xml"), ("csv", b"curve,"), ("nc", b"\x89HDF")):
        page.run("window.lastFile = null")
        page.driver.find_element("css selector", f"[data-format={form}]").click()
        found = page.wait_until("return window.lastFile")
        content = base64.b64decode(found["content"])
        assert content.startswith(head)
    data = xr.load_dataset(content_file(explorer.project, content))
    assert data.test_error.attrs or data.test_error.ndim
    page.find("figure-name").clear()
    page.find("figure-name").send_keys("mine")
    page.find("make-figure").click()
    page.wait_until("return document.getElementById('export-note').textContent.includes('mine')")
    made = yaml.safe_load((explorer.project / "config/figures/mine.yaml").read_text())
    assert made["panels"]["curve1"]["learning_rate"] == 3


def content_file(folder, content):
    path = folder / "explored.nc"
    path.write_bytes(content)
    return path


def test_copies_say_what_is_asked_but_not_while_a_field_is_refused(page):
    page.open("alpha0=inf&ridge=0.5")
    page.change("beta", "-1")
    page.wait_until("return document.getElementById('copy').disabled")
    page.answered(page.change("beta", "2"))
    page.find("copy").click()
    assert "--alpha0 inf --beta 2" in page.text("copy-command")
    assert "ridge=0.5" in page.text("copy-python")
    assert yaml.safe_load(page.text("copy-yaml"))["panels"]["explored"]["ridge"] == 0.5
    page.open("tab=spectrum")
    page.find("copy").click()
    assert page.text("copy-command").startswith("giantstep spectrum")
    assert not page.find("copy-yaml").is_displayed()


def test_a_slider_plays_to_its_end_or_until_it_is_paused(page):
    page.open("target=sin&learning_rate=9.5")
    page.find("learning_rate-play").click()
    page.wait_until("return document.getElementById('learning_rate').value === '10'")
    page.wait_until("return document.getElementById('learning_rate-play').textContent === '▶'")
    assert "η̃ = 10" in page.text("title")
    page.find("beta-play").click()
    page.find("beta-play").click()
    page.settled()
    stopped = page.find("beta").get_attribute("value")
    assert page.run("return window.latencies.length") < 200
    page.answered(page.change("noise", "0.1"))
    assert page.find("beta").get_attribute("value") == stopped


def test_a_curve_without_solutions_says_why(page):
    page.open("steps=100&bulk=isotropic")
    assert "must be so small" in page.text("status")
    assert "residual" not in page.text("status")
    page.answered(page.change("steps", "1"))
    assert "without a solution" not in page.text("status")


SHOWN = {"A spike leaves the bulk": "outside the bulk: 0.01", "A staircase": "6 points"}


@pytest.mark.parametrize("name", PRESETS)
def test_an_example_shows_something_and_has_no_faults(page, name):
    page.open()
    page.run(
        "const list = document.getElementById('preset');"
        "list.value = [...list.options].find((one) => one.text === arguments[0]).value;"
        "list.dispatchEvent(new Event('change'))",
        name,
    )
    page.wait_until("return location.search.length > 5")
    page.settled()
    assert page.text("status")
    assert SHOWN.get(name, "") in page.text("status")
    assert page.run(
        "return [...document.querySelectorAll('.note.fault')].every(n => !n.textContent)"
    )


@pytest.mark.parametrize(
    "query",
    [
        "activation=<script>window.hacked=1</script>",
        "pin=<img src=x onerror=window.hacked=1>|",
        "target=" + 3000 * "a",
    ],
)
def test_a_hostile_address_neither_hangs_nor_runs(page, query):
    page.open(query)
    assert page.run("return window.hacked === undefined")
    assert page.curve()


def test_nothing_but_this_machine_is_asked(page):
    requests(page.driver)
    for tab in TABS:
        page.open(f"tab={tab}")
    assert requests(page.driver) == {"127.0.0.1"}


def test_every_control_has_a_name_is_explained_and_is_reached_by_keys(page):
    page.open()
    page.find("help").click()
    helps = page.driver.find_elements("css selector", ".control:not([hidden]) .help")
    assert len(helps) > 10
    assert all(one.is_displayed() and one.text.endswith(".") for one in helps)
    page.find("help").click()
    script = """
      return [...document.querySelectorAll('input, select, button')]
        .filter(e => e.offsetParent !== null && !e.disabled)
        .filter(e => !(e.ariaLabel || e.textContent.trim() || (e.labels && e.labels.length)))
        .map(e => e.id || e.outerHTML)"""
    assert page.run(script) == []
    page.run("document.querySelector('[role=tab][tabindex=\"0\"]').focus()")
    page.driver.switch_to.active_element.send_keys("\ue014")  # the right arrow
    page.wait_until("return document.getElementById('tab-function').ariaSelected === 'true'")
    page.run("document.getElementById('learning_rate-slider').focus()")
    page.driver.switch_to.active_element.send_keys("\ue014")
    page.wait_until("return document.getElementById('learning_rate').value === '3.01'")
