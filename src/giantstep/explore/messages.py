"""The texts that a page and its session send to each other."""

from __future__ import annotations

from bokeh.core.properties import String
from bokeh.model import DataModel


class Message(DataModel):  # type: ignore[misc]
    """One way of the conversation: its text is a message in JSON."""

    text = String(default="")
