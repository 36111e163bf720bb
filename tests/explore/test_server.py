"""The server answers to its own addresses."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from giantstep.explore import server as served


@pytest.mark.slow
def test_another_host_is_refused():
    def ask(server):
        address = f"http://{served.HOST}:{server.port}/"
        page = urlopen(address).read().decode()
        with pytest.raises(HTTPError, match="403"):
            urlopen(Request(address, headers={"Host": f"elsewhere.example:{server.port}"}))
        server.io_loop.add_callback(server.io_loop.stop)
        return page

    asyncio.set_event_loop(asyncio.new_event_loop())
    server = served.make_server(0, Path())
    server.start()
    with ThreadPoolExecutor(1) as pool:
        page = pool.submit(ask, server)
        server.io_loop.start()
    server.stop()
    assert "giantstep explore" in page.result()
