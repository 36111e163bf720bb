"""The server of the page: Bokeh's own, reachable from this machine alone."""

from __future__ import annotations

import os
import signal
import sys
import webbrowser
from importlib.resources import files
from logging import getLogger
from pathlib import Path
from socket import create_server
from typing import Any
from urllib.parse import urlencode

from giantstep.explore.controls import page_variables

HOST = "127.0.0.1"


def serve(port: int = 0, browser: bool = True, project: Path = Path()) -> None:
    """Serve the page until Ctrl-C.

    Parameters
    ----------
    port : int
        0 for any that is free.
    browser : bool
        Whether to open the page.
    project : Path
        The folder in which figures are made of what is shown.

    Raises
    ------
    OSError
        If the port is taken.
    """
    for library in ("OPENBLAS", "OMP", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")  # of the processes that compute
    from giantstep.explore.children import warm_up

    warm_up()  # meanwhile, this process imports Bokeh
    server = make_server(port, project)
    address = f"http://{HOST}:{server.port}/"
    # Not by KeyboardInterrupt, which is lost if it is raised in a weak reference's callback.
    wake = server.io_loop.asyncio_loop.call_soon_threadsafe
    signal.signal(signal.SIGINT, lambda *_: wake(server.io_loop.stop))
    server.start()
    print(f"{address}  (Ctrl-C ends it)", flush=True)
    if browser:
        server.io_loop.add_callback(webbrowser.open, address)
    server.io_loop.start()
    print(file=sys.stderr)
    server.stop()  # processes of pages are daemons, which end with this one


def make_server(port: int, project: Path) -> Any:
    """Make the server, but do not start it yet."""
    from bokeh.application import Application
    from bokeh.application.handlers import FunctionHandler
    from bokeh.server.server import Server
    from bokeh.settings import settings

    from giantstep.explore.sockets import OwnPages

    # Whatever the environment says: scripts come from this server, to pages of this server.
    settings.resources.set_value("server")
    settings.allowed_ws_origin.unset_value()
    os.environ.pop("BOKEH_ALLOW_WS_ORIGIN", None)
    # It warns of each answer that comes after its page was left or reloaded.
    getLogger("bokeh.server.views.ws").setLevel("ERROR")
    with create_server((HOST, port)) as socket:  # for 0, any that is free
        port = socket.getsockname()[1]
    hosts = [f"{HOST}:{port}", f"localhost:{port}"]
    page = FunctionHandler(lambda document: _open_page(document, port, project))
    return Server(
        {"/": Application(page)},
        address=HOST,
        port=port,
        allow_websocket_origin=hosts,
        auth_provider=OwnPages(hosts),
        check_unused_sessions_milliseconds=1000,
        # How long a page may be gone, as on a busy machine, before its processes are ended. Those
        # of a page that is left end at once, since it says so.
        unused_session_lifetime_milliseconds=20_000,
        websocket_max_message_size=2**20,
        keep_alive_milliseconds=10_000,
    )


def _open_page(document: Any, port: int, project: Path) -> None:
    """Fill the document of a page that was opened."""
    from jinja2 import Environment

    from giantstep.explore.session import Session

    request = document.session_context.request
    # Encoded again: the questions of pins are addresses themselves.
    query = urlencode(request.arguments, doseq=True)
    folder = files("giantstep.explore") / "page"
    html, css, script = ((folder / f"page.{of}").read_text("utf-8") for of in ("html", "css", "js"))
    document.title = "giantstep explore"
    document.template = Environment(autoescape=True).from_string(html)
    own = {"style": css, "script": script, "port": port, "project": project.resolve()}
    own |= {"model_picture": (folder / "model.svg").read_text("utf-8")}
    document.template_variables.update(page_variables() | own)
    Session(document, query, project)
