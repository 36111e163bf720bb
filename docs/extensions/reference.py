"""The reference: what the package offers, from its docstrings."""

import inspect
from pathlib import Path

from sphinx.application import Sphinx

import giantstep

GROUPS = {
    "Problems": ("Protocol", "SpikedFeatures", "one_spike", "several_spikes", "own_function"),
    "Questions": (),
    "What answers say": ("Status", "InvalidParametersError"),
}


def write(app: Sphinx) -> None:
    """Write the page; what no other group names is a question."""
    named = {name for names in GROUPS.values() for name in names}
    pages = ["# Reference\n", "```{eval-rst}\n.. automodule:: giantstep\n   :no-members:\n```\n"]
    for title, names in GROUPS.items():
        offered = names or [name for name in giantstep.__all__ if name not in named]
        pages.append(f"## {title}\n")
        for name in offered:
            kind = "class" if inspect.isclass(getattr(giantstep, name)) else "function"
            entry = f".. auto{kind}:: giantstep.{name}"
            pages.append(f"```{{eval-rst}}\n{entry}\n```\n")
    folder = Path(app.srcdir, "generated")
    folder.mkdir(exist_ok=True)
    (folder / "reference.md").write_text("\n".join(pages), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the page before pages are read."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
