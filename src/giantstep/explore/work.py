"""What the processes of a page do.

Each imports what it needs itself, which takes a second that the server does not have.
"""

from __future__ import annotations

from giantstep.explore.children import Say
from giantstep.explore.tasks import ExportTask, NetworksTask
from giantstep.explore.view import View


def answer_view(view: View, say: Say) -> None:
    """Answer a view by the theory."""
    from giantstep.explore.answers import answer

    answer(view, say)


def run_networks(task: NetworksTask, say: Say) -> None:
    """Simulate networks."""
    from giantstep.explore.networks import simulate_networks

    simulate_networks(task, say)


def make_file(task: ExportTask, say: Say) -> None:
    """Make a file, or write a figure into a project."""
    from giantstep.explore.export import export

    export(task, say)
