"""The server answers to its own addresses."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from bokeh.client import pull_session

from giantstep.explore import server as served


def answered(ask):
    """Ask a server, by its address, in another thread than its own."""
    asyncio.set_event_loop(asyncio.new_event_loop())
    server = served.make_server(0, Path())
    server.start()
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(ask, f"http://{served.HOST}:{server.port}/")
        answer.add_done_callback(lambda _: server.io_loop.add_callback(server.io_loop.stop))
        server.io_loop.start()
    server.stop()
    return answer.result()


def test_a_page_opens_over_its_connection():
    def ask(address):
        with pull_session(url=address) as session:
            return {root.name for root in session.document.roots}

    assert answered(ask) == {"plot", "ask", "answer"}


def test_foreign_pages_are_refused():
    def ask(address):
        with urlopen(address) as own:
            assert "frame-ancestors 'none'" in own.headers["Content-Security-Policy"]
        for foreign in ({"Host": "elsewhere.example"}, {"Sec-Fetch-Site": "cross-site"}):
            with pytest.raises(HTTPError, match="403"):
                urlopen(Request(address, headers=foreign))

    answered(ask)
