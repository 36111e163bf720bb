"""The server answers to its own addresses, and opens so many pages at once."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from giantstep.explore import server as served


@pytest.mark.slow
def test_foreign_pages_are_refused_and_one_page_too_many_waits(monkeypatch):
    monkeypatch.setattr(served, "_MOST_PAGES", 1)

    def ask(server):
        address = f"http://{served.HOST}:{server.port}/"
        answers = [urlopen(address) for _ in range(2)]
        assert "frame-ancestors 'none'" in answers[0].headers["Content-Security-Policy"]
        pages = [answer.read().decode() for answer in answers]
        for foreign in (
            {"Host": f"elsewhere.example:{server.port}"},
            {"Sec-Fetch-Site": "cross-site"},
        ):
            with pytest.raises(HTTPError, match="403"):
                urlopen(Request(address, headers=foreign))
        server.io_loop.add_callback(server.io_loop.stop)
        return pages

    asyncio.set_event_loop(asyncio.new_event_loop())
    server = served.make_server(0, Path())
    server.start()
    with ThreadPoolExecutor(1) as pool:
        pages = pool.submit(ask, server)
        server.io_loop.start()
    server.stop()
    first, second = pages.result()
    assert "pages are open" not in first
    assert "pages are open" in second
