"""Who may ask the server for a page, and how its connection sends: by Bokeh's hook for users."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from bokeh.server.auth_provider import AuthProvider
from tornado.web import HTTPError
from tornado.websocket import WebSocketHandler


class OwnPages(AuthProvider):  # type: ignore[misc]
    """Admits requests to the server's own addresses alone, and none that a page elsewhere makes.

    A page elsewhere whose name was made to lead to this machine is refused, too.

    Parameters
    ----------
    hosts : collection of str
        The addresses, with the port.
    """

    def __init__(self, hosts: Collection[str]) -> None:
        self._hosts = hosts
        super().__init__()

    # Bokeh wants one; nobody is sent there, since all are admitted or refused.
    login_url = "/"

    def get_user(self, request: Any) -> str:
        """Admit a request, or a connection before and once it is open, as Bokeh calls it."""
        asked = request.request
        if asked.host not in self._hosts or asked.headers.get("Sec-Fetch-Site") == "cross-site":
            raise HTTPError(403, reason="Please open the address in the browser itself")
        if not isinstance(request, WebSocketHandler):
            request.set_header("Content-Security-Policy", "frame-ancestors 'none'")
        elif request.ws_connection is not None:
            # Short messages do not wait for the acknowledgement of the one before, 40 ms.
            request.set_nodelay(True)
        return "reader"
