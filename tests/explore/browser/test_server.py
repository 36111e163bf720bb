"""The server: for this machine alone, and without a process left behind."""

import subprocess
import sys
import time

import psutil
import pytest
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.ioloop import IOLoop
from tornado.websocket import websocket_connect


def within(seconds, condition):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.1)
    return False


@pytest.fixture
def own_explorer(explorer, tmp_path):
    made = type(explorer)(tmp_path)
    yield made
    made.stop()


def test_it_listens_on_this_machine_alone(explorer):
    listening = [
        c.laddr.ip
        for c in psutil.Process(explorer.process.pid).net_connections()
        if c.status == psutil.CONN_LISTEN
    ]
    assert listening == ["127.0.0.1"]


@pytest.mark.parametrize("origin", ["http://example.org", "http://127.0.0.1:1", "null"])
def test_foreign_origins_are_refused(explorer, origin):
    address = explorer.address.replace("http", "ws") + "ws"
    request = HTTPRequest(address, headers={"Origin": origin})
    with pytest.raises(HTTPClientError, match="403"):
        IOLoop().run_sync(lambda: websocket_connect(request, subprotocols=["bokeh", "x"]))


def test_the_server_starts_without_what_only_its_processes_need():
    imported = "import sys, giantstep.cli.main, giantstep.explore.server, giantstep.explore.session"
    check = f"{imported}; print({{'matplotlib', 'pandas', 'xarray'}} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", check], text=True) == "set()\n"


def test_a_page_that_goes_away_takes_its_networks_along(page, own_explorer):
    page.address = own_explorer.address
    page.open("stop=2")
    page.run("document.getElementById('networks-dimension').value = '900'")
    page.run("document.getElementById('networks-count').value = '60'")
    page.find("networks-start").click()
    page.wait_until("return document.documentElement.dataset.networks === 'running'")
    busy = len(own_explorer.processes())
    page.driver.get("about:blank")
    assert within(60, lambda: len(own_explorer.processes()) < busy)


def test_ctrl_c_ends_every_process_and_the_page_says_so(page, own_explorer):
    page.address = own_explorer.address
    page.open("tab=spectrum")
    below = own_explorer.processes()
    assert below
    assert own_explorer.stop() == 0
    page.wait_until(
        "return document.getElementById('status').textContent === 'The server has ended.'", 10
    )
    assert within(60, lambda: not any(p.is_running() and p.status() != "zombie" for p in below))


def test_a_flood_of_changes_ends_at_the_last_and_keeps_the_memory(page, explorer):
    page.open("target=sin")
    flood = """
      const slider = document.getElementById('learning_rate-slider');
      for (let k = 0; k < arguments[0]; k++) {
        slider.value = (k * 37) % 1000; slider.dispatchEvent(new Event('input')); }
      slider.value = 500; slider.dispatchEvent(new Event('input'));"""
    server = psutil.Process(explorer.process.pid)
    for round_ in range(3):
        page.run(flood, 2000)
        page.settled()
        if round_ == 0:
            before = server.memory_info().rss
    assert "η̃ = 5," in page.text("title")
    assert server.memory_info().rss - before < 30e6
