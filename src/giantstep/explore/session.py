"""One open page: what it asks, the processes that answer, and the plot that they fill."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
from bokeh.core.properties import String
from bokeh.document import Document
from bokeh.layouts import column
from bokeh.model import DataModel

from giantstep.explore.children import Child, Deliver, Failure
from giantstep.explore.controls import fault_text, reasons
from giantstep.explore.copying import as_command, as_python, as_yaml, title
from giantstep.explore.palette import LIGHT
from giantstep.explore.plots.base import Plot, theme_of
from giantstep.explore.plots.of_view import make_plot, plot_key
from giantstep.explore.question import written
from giantstep.explore.reading import read_texts
from giantstep.explore.tasks import NETWORKS, ExportTask, NetworksTask
from giantstep.explore.view import CURVE, NAMES, View, from_address, read_pins, to_address
from giantstep.problems.sizes import DIMENSION
from giantstep.theory.optima import TEST_ERROR
from giantstep.validation import Fault, InvalidParametersError, read_number

# Where networks are: those of another view are ended.
_OF_NETWORKS = ("question", "x", "axis", "by")
# From such a relative correction on, what the theory leaves out is mentioned.
_MENTIONED = 0.005


class Message(DataModel):  # type: ignore[misc]
    """One way of the conversation of a page and its session: its text is a message in JSON."""

    text = String(default="")


class Session:
    """One open page.

    Parameters
    ----------
    document : Document
        Of Bokeh: it holds the plot, and two texts that carry messages from and to the page.
    address : str
        The query of the page's address.
    project : Path
        The folder in which figures are made of what is shown.
    """

    def __init__(self, document: Document, address: str, project: Path) -> None:
        self.document, self.project = document, project
        self.view, self._faults = from_address(address)
        self.number, self._count = 0, 0
        self._theory = self._child("answers:answer", self._show_answer)
        self._networks = self._child("networks:simulate_networks", self._show_networks)
        self._exports = self._child("export:export", self._show_export)
        self._simulated: dict[str, Any] = {}
        self._networks_task: NetworksTask | None = None
        self._key: tuple[Any, ...] = ()
        self._plot: Plot
        self._box = column(name="plot", sizing_mode="stretch_both")
        self._from_page, self._to_page = Message(name="ask"), Message(name="answer")
        self._from_page.on_change("text", lambda _, __, text: self._receive(text))
        for root in (self._box, self._from_page, self._to_page):
            document.add_root(root)
        document.on_session_destroyed(lambda _: self.close())
        self._renew_plot({})
        # Bokeh may fill documents in a thread without an event loop.
        document.add_next_tick_callback(lambda: self._theory.ask(self.number, self.view))

    def close(self) -> None:
        """End the processes of this page."""
        for child in (self._theory, self._networks, self._exports):
            child.cancel()

    def _child(self, work: str, show: Deliver) -> Child:
        """Make a child, whose words are shown once the document may be changed."""
        tick = self.document.add_next_tick_callback
        return Child(f"giantstep.explore.{work}", lambda *found: tick(lambda: show(*found)))

    def _receive(self, text: str) -> None:
        """Do what the page says: each kind of message has a method."""
        message = json.loads(text)
        getattr(self, f"_on_{message['kind']}")(message)

    def _on_leave(self, message: Mapping[str, Any]) -> None:
        self.close()

    def _on_hello(self, message: Mapping[str, Any]) -> None:
        """Tell a page that is ready all that it missed; what is solved needs no time again."""
        self._renew_plot(message)
        self._tell(faults=self._faults, whole=True)
        self._theory.ask(self.number, self.view)

    def _on_view(self, message: Mapping[str, Any]) -> None:
        """Show another view, if it has no faults."""
        self.number = message["number"]
        try:
            view = View.read(message["texts"], read_pins(message["pins"]))
        except InvalidParametersError as error:
            self._tell(faults=error.faults)
            return
        if any(getattr(view, name) != getattr(self.view, name) for name in _OF_NETWORKS):
            self._drop_networks()
        self.view = view
        self._renew_plot(message)
        self._theory.ask(self.number, self.view)
        self._tell()

    def _renew_plot(self, message: Mapping[str, Any]) -> None:
        """Make another plot if this view, or the colours of the page, need one."""
        theme = message.get("theme", LIGHT)
        key = plot_key(self.view, theme)
        if key == self._key:
            return
        self._key, self._plot = key, make_plot(self.view, theme)
        self.document.theme = theme_of(theme)
        self._box.children = [self._plot.figure]
        self._plot.show_networks(self._simulated)

    def _show_answer(self, number: int, result: Any) -> None:
        """Show what the theory says, unless the page asks something else by now."""
        if number != self.number:
            return
        if isinstance(result, Failure):
            self._send({"failed": result, "done": True})
        elif result["tab"] == self.view.tab:
            self.document.hold("collect")
            self._plot.update(self.view, result)
            self._send({"certificate": certificate(result), "done": result["done"]})
            self.document.unhold()

    def _on_networks(self, message: Mapping[str, Any]) -> None:
        """Simulate networks at the question of the view."""
        intervals = {"dimension": DIMENSION, "networks": NETWORKS}
        readers = {name: partial(read_number, allowed=of) for name, of in intervals.items()}
        sizes, faults = read_texts(message, readers)
        if faults or self.view.tab != CURVE or self.view.by != TEST_ERROR:
            self._send({"networks": {"fault": "; ".join(map(str, faults))}})
            return
        self._drop_networks()
        self._networks_task = NetworksTask(self.view, **sizes, project=self.project)
        self._networks.ask(self.number, self._networks_task)
        self._send({"networks": {"fraction": 0.0}})

    def _on_stop(self, message: Mapping[str, Any]) -> None:
        self._networks.cancel()
        self._send({"networks": {"stopped": True}})

    def _drop_networks(self) -> None:
        """Kill the networks of another question, and take them from the plot."""
        if self._networks_task is None:
            return
        self._networks.cancel()
        self._networks_task = None
        self._simulated = {}
        self._plot.show_networks({})
        self._send({"networks": {}, "legend": self._plot.legend})

    def _show_networks(self, number: int, result: Any) -> None:
        if isinstance(result, Failure):
            self._send({"networks": {"fault": result}})
            return
        self._simulated = result
        self._plot.show_networks(result)
        message = {name: result[name] for name in ("fraction", "done", "note") if name in result}
        self._send({"networks": message, "legend": self._plot.legend})

    def _on_export(self, message: Mapping[str, Any]) -> None:
        """Make a file of what is shown; without a format, a figure in the project."""
        where = message["name"], self.project, message.get("format", "")
        done = self._simulated.get("done", False)
        networks = (self._networks_task, self._simulated) if done else ()
        self._exports.ask(self.number, ExportTask(self.view, *where, *networks))

    def _show_export(self, number: int, result: Any) -> None:
        """Send a file to the page, or say what came of it."""
        self._send({"exported": result, "fault": True} if isinstance(result, Failure) else result)

    def _tell(self, faults: tuple[Fault, ...] = (), whole: bool = False) -> None:
        """Tell the page about its view: faults, or what it may show of the question."""
        message: dict[str, Any] = {
            "faults": [[fault.name, fault_text(fault)] for fault in faults],
            "done": bool(faults),
        }
        if not faults or whole:
            copies = {"command": as_command, "python": as_python, "yaml": as_yaml}
            message |= {
                "address": to_address(self.view),
                "reasons": reasons(self.view),
                "title": title(self.view),
                "legend": self._plot.legend,
                "copies": {name: write(self.view) for name, write in copies.items()},
            }
        if whole:
            message["texts"] = _all_texts(self.view)
            message["pins"] = [x for name, x in parse_qsl(message["address"]) if name == "pin"]
        self._send(message)

    def _send(self, message: dict[str, Any]) -> None:
        """Send a message to the page; its count makes it differ from the last."""
        self._count += 1
        self._to_page.text = json.dumps(message | {"number": self.number, "count": self._count})


def _all_texts(view: View) -> dict[str, str]:
    """Return the text of every field of the page, with numbers as readers write them: 1e-6."""
    axis, question = view.axis, view.question
    values = question.values | {name: getattr(view, name) for name in NAMES}
    values |= {"start": axis.start, "stop": axis.stop, "x_scale": axis.scale}
    values["model"] = question.model
    return {name: re.sub(r"e([+-])0", r"e\1", written(value)) for name, value in values.items()}


def certificate(result: Mapping[str, Any]) -> str:
    """Write how accurate an answer is, and how long it took."""
    solved = [curve for curve in result.get("curves", ()) if "residual" in curve]
    parts = list(_accuracy(solved)) if solved else []
    if "values" in result:
        rows, columns = result["values"].shape
        parts.append(f"{columns} × {rows} points, {result['bulk']} bulk")
    for curve in result.get("curves", ()):
        if "mass_at_zero" in curve:
            outliers = ", ".join(f"{value:.3g} d" for value in curve["outliers"]) or "none"
            zeros = f"share at zero {curve['mass_at_zero']:.3g}"
            name = ", ".join(filter(None, (curve["name"], curve["bulk"])))
            parts.append(f"{name}: {zeros}, outside the bulk: {outliers}")
    seconds = result["seconds"]
    parts.append(f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s")
    return " · ".join([*parts, *result.get("remarks", ())])


def _accuracy(solved: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Describe how accurate points are, and what the theory leaves out there."""
    advice, *errors, reliability = (
        np.concatenate([curve[name] for curve in solved])
        for name in ("advice", "residual", "quadrature_error", "reliability")
    )
    failed = advice[advice != ""]
    yield f"{advice.size} point{'s' * (advice.size > 1)}"
    if failed.size:
        yield f"{failed.size} without a solution: {failed[0]}"
    if failed.size < advice.size:
        yield f"largest residual {np.nanmax(errors[0]):.0e}"
        yield f"quadrature error {np.nanmax(errors[1]):.0e}"
    left_out = np.nan_to_num(reliability).max()
    if left_out > _MENTIONED:
        yield f"left out by the theory: up to {left_out:.1%}"
