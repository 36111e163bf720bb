"""Draw the pictures of tutorials and of some pages: `make pictures`.

Tutorials are run as they stand, and the programs in examples/ that pages name. Each picture is
written to docs/static/ under the name that its page shows.
"""

import doctest
import os
import re
import shlex
import shutil
import tempfile
from pathlib import Path
from runpy import run_path

import matplotlib
import matplotlib.pyplot

from giantstep.cli.main import main

DOCS = Path(__file__).parent
FENCED = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WRITTEN = {
    "tutorials/first-answers": "first-answers.png",
    "tutorials/command-line": "command-line-tutorial.png",
    "tutorials/theory-beside-networks": "theory-beside-networks.png",
}
PROGRAMS = {
    "cross_validation": "cross-validation.png",
    "digits": "digits.png",
}


# Commands of README and of pages that draw their answer.
PLOTTED = re.compile(r"^    giantstep ((?:[^`\n]|\\\n)*?) --plot (\S+\.png)$", re.MULTILINE)
PAGES = {"../README": "command-line.png"} | {
    name: f"{name}.png" for name in ("budgets", "mixtures", "sensitivities", "structured-inputs")
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
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, picture in WRITTEN.items():
            matplotlib.pyplot.close("all")
            run((DOCS / f"{name}.md").read_text(encoding="utf-8"))
            shutil.copy(f"{Path(name).name}.png", DOCS / "static" / picture)
        for name, picture in PROGRAMS.items():
            matplotlib.pyplot.close("all")
            run_path(str(DOCS.parent / f"examples/{name}.py"))
            shutil.copy(picture, DOCS / "static")
        for name, picture in PAGES.items():
            text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
            command, _ = PLOTTED.findall(text)[-1]
            main([*shlex.split(command.replace("\\\n", "")), "--plot", picture])
            shutil.copy(picture, DOCS / "static")
