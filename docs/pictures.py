"""Draw the pictures in which the tutorials end, by running the tutorials: `make pictures`.

Each is written to docs/static/ under the name that its page shows.
"""

import doctest
import os
import re
import shlex
import shutil
import tempfile
from pathlib import Path

import matplotlib
import matplotlib.pyplot

from giantstep.cli.main import main

DOCS = Path(__file__).parent
FENCED = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WRITTEN = {
    "first-answers": "first-answers.png",
    "command-line": "command-line-tutorial.png",
    "theory-beside-networks": "theory-beside-networks.png",
}


def run(page: str) -> None:
    """Run the examples of a page."""
    names: dict[str, object] = {}
    for kind, code in FENCED.findall(page):
        if kind == "console":
            main(shlex.split(code.replace("\\\n", "").partition("\n")[0])[2:])
            continue
        for example in doctest.DocTestParser().get_examples(code):
            if not example.want.startswith("Traceback"):
                exec(example.source, names)


if __name__ == "__main__":
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"figure.figsize": (5, 3.4), "figure.constrained_layout.use": True})
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, picture in WRITTEN.items():
            matplotlib.pyplot.close("all")
            run((DOCS / f"tutorials/{name}.md").read_text(encoding="utf-8"))
            shutil.copy(f"{name}.png", DOCS / "static" / picture)
