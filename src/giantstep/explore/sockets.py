"""The connection of a page to the server: short messages are sent at once."""

from __future__ import annotations

from bokeh.server.urls import per_app_patterns
from bokeh.server.views.ws import WSHandler


class PromptSocket(WSHandler):  # type: ignore[misc]
    """A connection whose messages do not wait for the acknowledgement of the one before."""

    def open(self) -> None:
        """Accept the connection."""
        # Each wait takes 40 ms. Tornado turns them on with every connection that it accepts.
        self.set_nodelay(True)
        super().open()


def use_prompt_sockets() -> None:
    """Let servers that are made from now on connect in this way."""
    per_app_patterns[:] = [
        (path, PromptSocket if handler is WSHandler else handler)
        for path, handler in per_app_patterns
    ]
